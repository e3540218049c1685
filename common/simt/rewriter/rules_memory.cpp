// Device variables that nvcc refuses.
#include <map>
#include <set>

#include "declaration.h"
#include "rules.h"

namespace rewriter {
namespace {

class MemoryWords {
 public:
    MemoryWords(Source& source, const Structure& structure, const DeviceCode& code)
        : source_(source), structure_(structure), code_(code) {
        in_head_.resize(source.size() + 1);
        for (const Function& f : structure.functions()) {
            if (source.in_system_header(f.name_token)) continue;
            for (size_t i = f.header; i <= f.params_close; ++i)
                in_head_[i] = true;
        }
    }

    void run() {
        for (const TokenRange& range : source_.user_tokens()) {
            for (size_t i = range.first; i < range.last; ++i) {
                if (in_head_[i] ||
                    !source_.is_any(
                        i,
                        {"__shared__", "__constant__", "__device__", "__managed__"})) {
                    continue;
                }
                const ScopeKind kind = structure_.scope_of(i).kind;
                if (kind == ScopeKind::type || kind == ScopeKind::initializer) continue;
                const Declaration d = read_declaration(source_, i);
                if (d.semicolon == kNone || d.declarators.empty()) continue;
                if (d.declarators[0].name == kNone || is_lambda(d, i)) continue;
                check(i, d);
            }
        }
    }

 private:
    /// `auto f = [] __device__ (…) {…};` declares no device variable.
    bool is_lambda(const Declaration& d, size_t i) const {
        return d.type_last == kNone || i >= d.type_last;
    }

    bool says(const Declaration& d, std::string_view word) const {
        for (size_t i = d.first; i < d.type_last; ++i) {
            if (source_.is(i, word)) return true;
        }
        return false;
    }

    void check(size_t i, const Declaration& d) {
        const std::string word(source_.text(i));
        const bool shared = word == "__shared__" || says(d, "__shared__");
        if (says(d, "thread_local")) {
            return source_.error(
                i, "cannot use thread_local specifier for a " + word + " variable");
        }
        if ((shared || word == "__managed__") && says(d, "__constant__")) {
            return source_.error(i,
                                 "illegal combination of memory qualifiers: " + word +
                                     " and __constant__");
        }
        const Function* f = structure_.function_of(i);
        if (!f) {
            if (!shared) check_initializer(d);
            return;
        }
        if (code_.is_template(*f) || code_.is_local(*f)) return;
        const bool host = code_.side(i) == Side::host;
        if (host && !d.is_extern) {
            const bool is_static = shared || says(d, "static");
            return source_.error(
                i,
                std::string(is_static ? "a static \"" : "an automatic \"") + word +
                    "\" variable declaration is not allowed inside a "
                    "host function body");
        }
        if (!shared && !d.is_extern && !says(d, "static") &&
            (f->is_device || f->is_global)) {
            return source_.error(
                i,
                "an automatic \"" + word +
                    "\" variable declaration is not allowed inside a "
                    "device function body: declare it outside, or static");
        }
        if (shared && d.is_extern) check_extern(i, d);
    }

    /// All `extern __shared__` arrays of one name and namespace are one variable.
    void check_extern(size_t i, const Declaration& d) {
        const std::string type = type_text(source_, d);
        static constexpr std::string_view kKnown[] = {"int",
                                                      "float",
                                                      "double",
                                                      "char",
                                                      "unsigned char",
                                                      "unsigned",
                                                      "unsigned int",
                                                      "short",
                                                      "long",
                                                      "float2",
                                                      "float4",
                                                      "int2",
                                                      "int4",
                                                      "bool"};
        bool known = false;
        for (std::string_view name : kKnown)
            known |= type == name;
        int scope = structure_.scope_index(i);
        while (structure_.scopes()[scope].kind != ScopeKind::name_space)
            scope = structure_.scopes()[scope].parent;
        if (!known) return;
        for (const Declarator& declarator : d.declarators) {
            if (!source_.is(declarator.name + 1, "[") ||
                declarator.first != declarator.name)
                continue;
            const std::string name(source_.text(declarator.name));
            const auto [at, is_new] =
                extern_.try_emplace({scope, name}, std::pair(type, declarator.name));
            if (is_new || at->second.first == type) continue;
            source_.error(
                declarator.name,
                "declaration is incompatible with previous \"" + name +
                    "\" (declared at line " +
                    std::to_string(source_.locate(at->second.second).line) +
                    "): extern __shared__ arrays of one name are one variable");
        }
    }

    /// `= …` of a number must be a constant; the compiler knows. Classes are left
    /// alone: nvcc accepts a constructor that does nothing.
    void check_initializer(const Declaration& d) {
        const Declarator& declarator = d.declarators[0];
        if (d.is_extern || d.defines_type || declarator.initializer == kNone) return;
        if (!source_.is(declarator.initializer, "=") || !is_number(d)) return;
        if (!done_.insert(d.first).second) return;
        source_.insert_before(d.first, "constinit ");
    }

    bool is_number(const Declaration& d) const {
        for (size_t i = d.first; i < d.declarators[0].initializer; ++i) {
            if (i == d.declarators[0].name || is_storage_word(source_, i)) continue;
            if (!source_.is_any(i,
                                {"const",
                                 "volatile",
                                 "int",
                                 "unsigned",
                                 "signed",
                                 "long",
                                 "short",
                                 "char",
                                 "bool",
                                 "float",
                                 "double",
                                 "size_t"})) {
                return false;
            }
        }
        return true;
    }

    Source& source_;
    const Structure& structure_;
    const DeviceCode& code_;
    std::vector<bool> in_head_;
    std::map<std::pair<int, std::string>, std::pair<std::string, size_t>> extern_;
    std::set<size_t> done_;
};

}  // namespace

void check_memory_words(Source& source,
                        const Structure& structure,
                        const DeviceCode& code) {
    MemoryWords(source, structure, code).run();
}

}  // namespace rewriter
