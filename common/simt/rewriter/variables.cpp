// Variables of the host that device code reads or writes.
#include <map>

#include "calls.h"
#include "declaration.h"

namespace rewriter {
namespace {

/// A name that the user's files declare at namespace scope.
struct Global {
    bool host = false;     // nvcc has no device version of it
    bool lambda = false;   // it is a lambda of the host
    bool unclear = false;  // also something else, or not certain
};
using Globals = std::map<std::string_view, Global>;

class VariableTable {
 public:
    VariableTable(const Source& source, const Structure& structure)
        : source_(source), structure_(structure) {}

    Globals read() {
        for (const TokenRange& range : source_.user_tokens()) {
            size_t start = range.first;
            for (size_t i = range.first; i < range.last; ++i) {
                if (source_.is(i, ";")) {
                    statement(start, i);
                    start = i + 1;
                } else if (source_.is(i, "}")) {
                    start = i + 1;
                } else if (source_.match(i) != kNone && source_.match(i) > i) {
                    const bool brace = source_.is(i, "{");
                    const ScopeKind kind = structure_.scope_of(i).kind;
                    if (brace && kind == ScopeKind::name_space) {
                        start = i + 1;
                        continue;
                    }
                    i = source_.match(i);
                    // Behind a body a new statement begins; behind `= {…}` it goes on.
                    if (brace && kind != ScopeKind::initializer &&
                        kind != ScopeKind::block) {
                        start = i + 1;
                    }
                }
            }
        }
        for (const Function& f : structure_.functions()) {
            const auto found = globals_.find(f.name);
            if (source_.in_system_header(f.name_token)) continue;
            if (found != globals_.end()) found->second.unclear = true;
        }
        return std::move(globals_);
    }

 private:
    void statement(size_t first, size_t last) {
        if (first >= last || !source_.is_identifier(first)) return;
        if (structure_.scope_of(first).kind != ScopeKind::name_space) return;
        if (source_.is_any(first,
                           {"using",
                            "typedef",
                            "template",
                            "friend",
                            "static_assert",
                            "struct",
                            "class",
                            "union",
                            "enum",
                            "namespace",
                            "texture",  // refused by itself
                            "asm"})) {
            return;
        }
        size_t equal = kNone;
        bool device = false, constant = false;
        for (size_t i = first; i < last; ++i) {
            if (source_.is(i, "=") && equal == kNone) equal = i;
            if (equal != kNone) break;
            // A function, or a constructor's arguments: who knows.
            if (source_.is_any(i, {"(", "operator"})) return;
            device |= source_.is_any(
                i, {"__device__", "__constant__", "__managed__", "__shared__"});
            constant |= source_.is_any(i, {"const", "constexpr", "constinit"});
            if (source_.is_any(i, {"[", "{"}) && source_.match(i) != kNone)
                i = source_.match(i);
        }
        const Declaration d = read_declaration(source_, first);
        if (d.semicolon != last || d.declarators.empty()) return;
        for (const Declarator& declarator : d.declarators) {
            if (declarator.name == kNone || source_.is(declarator.name - 1, "::"))
                continue;
            add(d, declarator, device, constant);
        }
    }

    void add(const Declaration& d, const Declarator& v, bool device, bool constant) {
        Global& global = globals_[source_.text(v.name)];
        const bool pointer = v.first != v.name;
        const bool array = source_.is(v.name + 1, "[");
        const bool lambda = v.initializer != kNone && source_.is(v.initializer, "=") &&
                            source_.is(v.initializer + 1, "[");
        if (device) {
            global.unclear = true;
        } else if (lambda) {
            global.lambda = true;
        } else if (!constant && is_plain_type(d)) {
            global.host = true;
        } else {
            global.unclear |= !(constant && array && is_plain_type(d) && !pointer);
            global.host |= array;
        }
    }

    /// Only types of which nvcc certainly has no device version.
    bool is_plain_type(const Declaration& d) const {
        for (size_t i = d.first; i < d.type_last; ++i) {
            if (source_.is_any(i, {"auto", "decltype", "&", "thread_local"}))
                return false;
        }
        return true;
    }

    const Source& source_;
    const Structure& structure_;
    Globals globals_;
};

/// Everything that a function or class may call its own: names that it declares.
class Shadows {
 public:
    Shadows(const Source& source, const Structure& structure, const DeviceCode& code)
        : source_(source), structure_(structure), code_(code) {}

    /// May the name at token `use` mean something else than the global variable?
    bool hides(size_t use) const {
        const Function& f = *structure_.function_of(use);
        const bool word = source_.is_any(use - 1, {"return", "else", "do", "case"});
        if (source_.is_identifier(use - 1) && !word) return true;
        if (source_.is(use - 1, ",") && declares(use)) return true;
        if (follows_template(use)) return true;
        for (size_t i = f.header; i < use; ++i) {
            if (source_.text(i) == source_.text(use) && declares(i)) return true;
        }
        // A member function: the members of its class, and of classes that it is based
        // on.
        if (source_.is(f.name_token - 1, "::")) return true;
        for (int s = f.scope; s > 0; s = structure_.scopes()[s].parent) {
            const Scope& scope = structure_.scopes()[s];
            if (scope.kind != ScopeKind::type) continue;
            for (size_t i = scope.header; i < scope.close; ++i) {
                if (i < scope.open && source_.is(i, ":")) return true;
                if (source_.text(i) == source_.text(use) && i != use && declares(i))
                    return true;
            }
        }
        return false;
    }

 private:
    /// `std::pair<int, int> name(…)`, while `a < b && c > name` compares.
    bool follows_template(size_t use) const {
        if (!source_.is(use - 1, ">") ||
            !source_.is_any(use + 1, {"(", "{", "=", ";", "[", ","}))
            return false;
        const size_t open = source_.match_angle_back(use - 1);
        if (open == kNone) return false;
        for (size_t i = open; i < use; ++i) {
            if (source_.is_any(i, {"&&", "||", "?"})) return false;
        }
        return true;
    }

    bool declares(size_t i) const {
        if (source_.is_any(i - 1, {"*", "&", ">", "&&", "]", "."})) return true;
        if (source_.is_identifier(i - 1)) {
            return !source_.is_any(
                i - 1, {"return", "else", "do", "case", "goto", "throw", "sizeof"});
        }
        // `int a, name;` and `auto [a, name]`.
        const size_t open = code_.enclosing(i);
        if (source_.is(i - 1, ",")) return open == kNone || !source_.is(open, "(");
        return source_.is(i - 1, "[") && source_.is_any(i - 2, {"auto", "&"});
    }

    const Source& source_;
    const Structure& structure_;
    const DeviceCode& code_;
};

}  // namespace

void check_variables(Source& source,
                     const Structure& structure,
                     const DeviceCode& code) {
    const Globals globals = VariableTable(source, structure).read();
    if (globals.empty()) return;
    const Shadows shadows(source, structure, code);
    for (const TokenRange& range : source.user_tokens()) {
        for (size_t i = range.first + 1; i < range.last; ++i) {
            if (!source.is_identifier(i) || !structure.in_function(i)) continue;
            const auto found = globals.find(source.text(i));
            if (found == globals.end()) continue;
            const Global& global = found->second;
            if (global.unclear || global.host == global.lambda) continue;
            if (source.is_any(i - 1, {".", "->", "goto", "&&"})) continue;
            if (source.is(i - 1, "::") && structure.function_of(i) &&
                !source.is_identifier(i - 2) &&
                !source.is_any(i - 2, {"=", "(", "*"})) {
                continue;
            }
            if (code.side(i) != Side::device || !code.is_evaluated(i)) continue;
            if (shadows.hides(i)) continue;
            const std::string name(source.text(i));
            if (global.lambda) {
                if (!source.is(i + 1, "(")) continue;
                report_call(source,
                            code,
                            i,
                            name,
                            Side::device,
                            false,
                            "define the lambda in the kernel");
            } else {
                source.error(i,
                             "identifier \"" + name +
                                 "\" is undefined in device code: it is a variable of "
                                 "the host; pass it to the kernel, or declare it "
                                 "__device__");
            }
        }
    }
}

}  // namespace rewriter
