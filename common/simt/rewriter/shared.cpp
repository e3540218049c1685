// __shared__ variables.
//
//     __shared__ T a[N], b;      struct simt_s0 { T a[N]; };
//                                auto& a = ::simt::shared<simt_s0>("a").a; …
//     extern __shared__ T s[];   T* s = ::simt::dynamic_shared<T>();
//
// A local struct holds each variable, so that its type need not be understood and each
// instantiation of a template has its own. Variables of namespace scope are declared
// anew in each device function that mentions them.
#include "shared.h"

#include <map>
#include <set>

#include "declaration.h"

namespace rewriter {
namespace {

class SharedRewriter {
 public:
    SharedRewriter(Source& source, const Structure& structure)
        : source_(source), structure_(structure) {}

    void run() {
        for (size_t i = 0; i < source_.size(); ++i) {
            if (source_.is(i, "__shared__")) declaration(i);
        }
        if (!global_.empty()) declare_in_functions();
        if (!local_.empty() || !global_.empty()) capture_in_lambdas();
    }

 private:
    void declaration(size_t word) {
        if (means_nothing(word)) {
            source_.warning(word, "__shared__ means nothing here: it is for variables");
            return source_.blank(word);
        }
        const Declaration d = read_declaration(source_, word);
        if (d.semicolon == kNone || d.declarators.empty()) {
            return source_.error(word,
                                 "__shared__: expected the declaration of a variable");
        }
        for (const Declarator& declarator : d.declarators) {
            if (declarator.name == kNone) {
                return source_.error(word,
                                     "__shared__: expected the name of a variable");
            }
            if (declarator.initializer != kNone) {
                return source_.error(
                    declarator.name,
                    "an initializer is not allowed for the __shared__ variable \"" +
                        std::string(source_.text(declarator.name)) +
                        "\": assign in the kernel, then __syncthreads()");
            }
        }
        const ScopeKind kind = structure_.scope_of(word).kind;
        if (kind == ScopeKind::type) {
            return source_.error(word, "a member cannot be __shared__");
        }
        const bool global = kind == ScopeKind::name_space;
        if (!global) {
            for (const Declarator& declarator : d.declarators) {
                local_.push_back({source_.text(declarator.name),
                                  declarator.name,
                                  structure_.scope_of(word).close});
            }
        }
        if (kind == ScopeKind::switch_block && !d.is_extern) {
            before_switch(d, structure_.scope_of(word));
        } else if (d.is_extern) {
            dynamic(d, global);
        } else {
            fixed(d, global);
        }
    }

    /// nvcc ignores the word at parameters, and at members that are not static.
    bool means_nothing(size_t word) const {
        const ScopeKind kind = structure_.scope_of(word).kind;
        if (kind == ScopeKind::type) {
            for (size_t i = word; i > 0 && !source_.is_any(i, {";", "{", "}"}); --i) {
                if (source_.is(i, "static")) return false;
            }
            for (size_t i = word; !source_.is_any(i, {";", "{", "}"}); ++i) {
                if (source_.is(i, "static")) return false;
            }
            return true;
        }
        for (const Function& f : structure_.functions()) {
            if (f.params_open < word && word < f.params_close) return true;
        }
        return false;
    }

    /// `extern __shared__`: the declaration as a pointer.
    void dynamic(const Declaration& d, bool global) {
        std::string text;
        for (const Declarator& declarator : d.declarators) {
            const std::string name(source_.text(declarator.name));
            std::string type = type_text(source_, d) +
                               source_.squeeze(declarator.first, declarator.name);
            const size_t bound = declarator.name + 1;
            std::string one;
            if (source_.is(bound, "[") && source_.is(bound + 1, "]")) {
                std::string rest = source_.squeeze(bound + 2, declarator.last);
                one = rest.empty() ? type + "* " + name
                                   : type + " (*" + name + ")" + rest;
                type += rest;
                one += " = ::simt::dynamic_shared<" + type + ">();";
            } else {
                std::string rest = source_.squeeze(bound, declarator.last);
                one = type + " (&" + name + ")" + rest + " = *::simt::dynamic_shared<" +
                      type + rest + ">();";
            }
            if (global) {
                global_.try_emplace(name, "[[maybe_unused]] " + one);
            } else {
                text += one + ' ';
            }
        }
        source_.blank(d.first, d.semicolon + (global ? 0 : 1));
        if (!global) source_.insert_before(d.first, text);
    }

    std::string reference(size_t name, int id) const {
        const std::string n(source_.text(name));
        return "auto& " + n + " = ::simt::shared<simt_s" + std::to_string(id) + ">(\"" +
               n + "\")." + n + ";";
    }

    /// A variable in the block of a switch: a case label must not jump over a
    /// reference, so it is declared before the switch.
    void before_switch(const Declaration& d, const Scope& block) {
        const size_t condition = source_.match(block.open - 1);
        const size_t statement = condition - 1;
        std::string text = "{ struct simt_s" + std::to_string(count_) + " { ";
        for (size_t i = d.first; i < d.semicolon; ++i) {
            if (!is_storage_word(source_, i))
                text += std::string(source_.text(i)) + ' ';
        }
        text += "; };";
        for (const Declarator& declarator : d.declarators) {
            text += ' ' + reference(declarator.name, count_);
        }
        ++count_;
        source_.insert_before(statement, text + ' ');
        source_.insert_after(block.close, " }");
        source_.blank(d.first, d.semicolon + 1);
    }

    /// A variable of fixed size: wrapped into a struct, with a reference behind.
    void fixed(const Declaration& d, bool global) {
        for (size_t i = d.first; i < d.type_last; ++i) {
            if (is_storage_word(source_, i)) source_.blank(i);
        }
        // The struct of a header's variable must not be shared between source files.
        const std::string open = global ? "namespace { struct simt_s" : "struct simt_s";
        const std::string close = global ? " }; }" : " };";
        source_.insert_before(d.first, open + std::to_string(count_) + " { ");
        std::string references;
        const std::string type = d.defines_type ? "" : type_text(source_, d);
        for (size_t i = 0; i < d.declarators.size(); ++i) {
            const Declarator& declarator = d.declarators[i];
            const std::string own = reference(declarator.name, count_);
            if (global) {
                global_.try_emplace(std::string(source_.text(declarator.name)),
                                    "[[maybe_unused]] " + own);
            } else {
                references += ' ' + own;
            }
            if (d.defines_type || i + 1 == d.declarators.size()) continue;
            ++count_;
            source_.replace(declarator.last,
                            ";" + close + references + " " + open +
                                std::to_string(count_) + " { " + type + " ");
            references.clear();
        }
        source_.insert_after(d.semicolon, close + references);
        ++count_;
    }

    bool mentions(size_t first, size_t last, std::string_view name) const {
        for (size_t i = first; i < last; ++i) {
            if (source_.is(i, name) && !source_.is_any(i - 1, {".", "->", "::"}))
                return true;
        }
        return false;
    }

    /// Declares the variables of namespace scope in the functions that use them.
    void declare_in_functions() {
        for (const Function& f : structure_.functions()) {
            if (f.body_open == kNone || !f.for_device()) continue;
            for (const auto& [name, text] : global_) {
                if (!mentions(f.body_open, f.body_close, name)) continue;
                if (mentions(f.params_open, f.params_close, name)) continue;
                if (is_declared_in(f, name)) continue;
                local_.push_back({name, f.body_open, f.body_close});
                source_.insert_after(f.body_open, ' ' + text);
            }
        }
    }

    bool is_declared_in(const Function& f, std::string_view name) const {
        for (const Variable& v : local_) {
            const bool inside = v.declared > f.body_open && v.declared < f.body_close;
            if (inside && v.name == name) return true;
        }
        return false;
    }

    /// A lambda uses a __shared__ variable without capturing it, as it has static
    /// storage. Our references must be captured, and by reference.
    void capture_in_lambdas() {
        for (const Function& f : structure_.functions()) {
            if (f.body_open == kNone) continue;
            std::set<std::string_view> names;
            for (size_t i = f.body_open; i < f.body_close; ++i) {
                if (!source_.is(i, "[")) continue;
                names.clear();
                for (const Variable& v : local_) {
                    if (v.declared < i && i < v.scope_end &&
                        v.declared >= f.body_open) {
                        names.insert(v.name);
                    }
                }
                if (!names.empty()) lambda(i, names);
            }
        }
    }

    void lambda(size_t open, const std::set<std::string_view>& names) {
        const size_t close = source_.match(open);
        if (close == kNone || source_.is(open + 1, "[") || source_.is(open - 1, "["))
            return;
        const bool expression_before =
            (source_.is_identifier(open - 1) && !source_.is(open - 1, "return")) ||
            source_.is_any(open - 1, {")", "]", ">"});
        if (expression_before) return;
        size_t body = close + 1;
        while (body < source_.size() && !source_.is_any(body, {"{", ";", ",", ")"})) {
            body = source_.is(body, "(") ? source_.match(body) + 1 : body + 1;
        }
        if (!source_.is(body, "{")) return;
        const bool all_by_reference =
            source_.is(open + 1, "&") && source_.is_any(open + 2, {",", "]"});
        if (all_by_reference) return;
        std::string captures;
        for (std::string_view name : names) {
            if (!mentions(body, source_.match(body), name)) continue;
            if (mentions(open, close, name)) continue;
            const bool first = captures.empty() && close == open + 1;
            captures += (first ? "&" : ", &") + std::string(name);
        }
        if (!captures.empty()) source_.insert_before(close, captures);
    }

    /// A name that stands for a shared variable inside a function.
    struct Variable {
        std::string_view name;
        size_t declared, scope_end;  // visible in tokens [declared, scope_end)
    };

    Source& source_;
    const Structure& structure_;
    int count_ = 0;
    std::vector<Variable> local_;
    std::map<std::string, std::string, std::less<>> global_;  // name, declaration
};

}  // namespace

void rewrite_shared_variables(Source& source, const Structure& structure) {
    SharedRewriter(source, structure).run();
}

}  // namespace rewriter
