// Which functions have device code, and which of their tokens are evaluated.
#include "device_code.h"

namespace rewriter {

DeviceCode::DeviceCode(const Source& source, const Structure& structure)
    : source_(source), structure_(structure) {
    find_enclosing();
    find_live_functions();
}

void DeviceCode::find_enclosing() {
    enclosing_.assign(source_.size(), kNone);
    size_t open = kNone;
    for (const TokenRange& range : source_.user_tokens()) {
        for (size_t i = range.first; i < range.last; ++i) {
            // A range may begin inside of a bracket that it does not open.
            while (open != kNone && source_.match(open) < i)
                open = enclosing_[open];
            enclosing_[i] = open;
            if (source_.match(i) == kNone) continue;
            if (source_.match(i) > i) {
                open = i;
            } else if (open != kNone && source_.match(i) == open) {
                enclosing_[i] = enclosing_[open];
                open = enclosing_[open];
            }
        }
    }
}

bool DeviceCode::is_template(const Function& f) const {
    if (f.template_open != kNone && !source_.is(f.template_open + 1, ">")) return true;
    for (size_t i = f.params_open; i < f.params_close; ++i) {
        if (source_.is(i, "auto")) return true;
    }
    for (int s = f.scope; s > 0; s = structure_.scopes()[s].parent) {
        const Scope& scope = structure_.scopes()[s];
        if (scope.kind == ScopeKind::type && source_.is(scope.header, "template"))
            return true;
    }
    return false;
}

bool DeviceCode::is_local(const Function& f) const {
    return structure_.scopes()[f.scope].function >= 0;
}

bool DeviceCode::in_local_class(size_t i) const {
    for (int s = structure_.scope_index(i); s > 0; s = structure_.scopes()[s].parent) {
        const ScopeKind kind = structure_.scopes()[s].kind;
        if (kind == ScopeKind::type) return true;
        if (kind == ScopeKind::function) return false;
    }
    return false;
}

/// May nobody but the functions of this file call f?
bool DeviceCode::is_alone(const Function& f) const {
    for (size_t i = f.header; i < f.name_token; ++i) {
        if (source_.is_any(i,
                           {"inline",
                            "__inline__",
                            "__inline",
                            "__forceinline__",
                            "static",
                            "constexpr",
                            "consteval"})) {
            return true;
        }
    }
    for (int s = f.scope; s > 0; s = structure_.scopes()[s].parent) {
        const Scope& scope = structure_.scopes()[s];
        if (scope.kind == ScopeKind::type) return true;
        if (source_.is(scope.open - 1, "namespace")) return true;
    }
    return false;
}

/// Does nvcc generate device code for f even if nothing mentions it?
bool DeviceCode::is_root(const Function& f) const {
    if (is_template(f) || is_local(f)) return false;
    return f.is_global || (f.is_device && !is_alone(f));
}

void DeviceCode::find_live_functions() {
    const std::vector<Function>& functions = structure_.functions();
    live_.assign(functions.size(), false);
    std::unordered_multimap<std::string_view, size_t> dependent;
    std::vector<size_t> work;
    for (size_t f = 0; f < functions.size(); ++f) {
        if (functions[f].body_open == kNone) continue;
        if (source_.in_system_header(functions[f].name_token)) continue;
        if (is_root(functions[f])) {
            work.push_back(f);
        } else if (functions[f].is_device || functions[f].is_global) {
            dependent.emplace(functions[f].name, f);
        }
    }
    // Who mentions whom. Host code brings kernels to life, nothing else.
    std::unordered_multimap<size_t, size_t> mentions;
    for (const TokenRange& range : source_.user_tokens()) {
        for (size_t i = range.first; i < range.last && !dependent.empty(); ++i) {
            if (!source_.is_identifier(i)) continue;
            const auto [first, last] = dependent.equal_range(source_.text(i));
            if (first == last || !is_evaluated(i)) continue;
            const Function* in = structure_.function_of(i);
            const bool lambda = in && lambdas_around(i).device;
            for (auto at = first; at != last; ++at) {
                const Function& f = functions[at->second];
                if (i >= f.header && i < f.body_close) continue;
                if (f.name_token == i) continue;
                if (in && (in->is_device || in->is_global)) {
                    mentions.emplace(in - functions.data(), at->second);
                } else if (lambda || f.is_global) {
                    work.push_back(at->second);
                }
            }
        }
    }
    while (!work.empty()) {
        const size_t f = work.back();
        work.pop_back();
        if (live_[f]) continue;
        live_[f] = true;
        const auto [first, last] = mentions.equal_range(f);
        for (auto at = first; at != last; ++at)
            work.push_back(at->second);
    }
}

DeviceCode::Lambdas DeviceCode::lambdas_around(size_t i) const {
    Lambdas result;
    for (int s = structure_.scope_index(i); s > 0; s = structure_.scopes()[s].parent) {
        const Scope& scope = structure_.scopes()[s];
        if (scope.kind != ScopeKind::block) {
            if (scope.kind == ScopeKind::function) break;
            continue;
        }
        // Back over `-> T`, `mutable`, `__device__` and parameters to the captures.
        size_t k = scope.open;
        bool device = false, generic = false;
        while (k > 0 && !source_.is_any(k - 1, {";", "{", "}", "]"})) {
            --k;
            device |= source_.is(k, "__device__");
            generic |= source_.is(k, "auto");
        }
        if (k == 0 || !source_.is(k - 1, "]")) continue;
        const size_t captures = source_.match(k - 1);
        if (captures == kNone || captures == 0) continue;
        const bool subscript = (source_.is_identifier(captures - 1) &&
                                !source_.is(captures - 1, "return")) ||
                               source_.is_any(captures - 1, {")", "]"});
        if (subscript) continue;
        result.device |= device;
        result.unclear |= generic;
        if (source_.is(captures - 1, "=") && source_.is_identifier(captures - 2)) {
            const Function* f = structure_.function_of(i);
            const size_t end = f ? f->body_close : scope.close;
            bool mentioned = false;
            for (size_t m = scope.close; m < end && !mentioned; ++m)
                mentioned = source_.text(m) == source_.text(captures - 2);
            result.unclear |= !mentioned;
        }
    }
    return result;
}

Side DeviceCode::side(size_t i) const {
    const Function* f = structure_.function_of(i);
    if (!f || is_local(*f) || in_local_class(i)) return Side::unknown;
    const Lambdas lambdas = lambdas_around(i);
    const bool for_device = f->is_device || f->is_global;
    if (lambdas.device && !for_device && !f->is_host) {
        return is_template(*f) || lambdas.unclear ? Side::unknown : Side::device;
    }
    if (!for_device) {
        return f->is_constexpr || is_template(*f) ? Side::unknown : Side::host;
    }
    if (f->is_host || lambdas.unclear || !live_[f - structure_.functions().data()])
        return Side::unknown;
    return Side::device;
}

bool DeviceCode::is_device_or_both(size_t i) const {
    const Function* f = structure_.function_of(i);
    if (!f) return false;
    if (f->is_device && f->is_host) {
        return !lambdas_around(i).unclear && live_[f - structure_.functions().data()];
    }
    return side(i) == Side::device;
}

size_t DeviceCode::statement(size_t i) const {
    const size_t open = enclosing_[i];
    size_t first = i;
    while (first > 0 && first - 1 != open) {
        const size_t before = first - 1;
        if (source_.is_any(before, {";", "{"})) break;
        if (source_.is(before, "}")) {
            const size_t brace = source_.match(before);
            if (brace == kNone ||
                structure_.scope_of(brace).kind != ScopeKind::initializer) {
                break;
            }
            first = brace;
        } else if (source_.is_any(before, {")", "]"}) &&
                   source_.match(before) != kNone) {
            first = source_.match(before);
        } else {
            first = before;
        }
    }
    return first;
}

/// Does `if constexpr` stand in tokens [first, i), or the else of one before them?
bool DeviceCode::follows_if_constexpr(size_t i, size_t first) const {
    for (size_t k = first; k < i; ++k) {
        if (source_.is(k, "if") &&
            source_.is_any(k + 1, {"constexpr", "consteval", "!"}))
            return true;
        if (!source_.is(k, "else")) continue;
        // `if constexpr (x) { … } else …`; an else without braces is left alone.
        if (k == 0 || !source_.is(k - 1, "}")) return true;
        const size_t brace = source_.match(k - 1);
        if (brace == kNone || opens_discarded(brace)) return true;
    }
    return false;
}

/// May the block that token `brace` opens belong to an `if constexpr`?
bool DeviceCode::opens_discarded(size_t brace) const {
    if (brace == 0 || !source_.is_any(brace - 1, {")", "else", "consteval"}))
        return false;
    return follows_if_constexpr(brace, statement(brace));
}

bool DeviceCode::is_evaluated(size_t i) const {
    if (source_.is_any(i - 1, {"sizeof", "alignof"})) return false;
    if (follows_if_constexpr(i, statement(i))) return false;
    for (size_t open = enclosing_[i]; open != kNone && open > 0;
         open = enclosing_[open]) {
        if (source_.is(open, "(")) {
            if (source_.is_any(open - 1,
                               {"sizeof",
                                "alignof",
                                "decltype",
                                "__decltype",
                                "noexcept",
                                "typeof",
                                "__typeof__",
                                "__typeof",
                                "__attribute__",
                                "__launch_bounds__",
                                "__cluster_dims__",
                                "requires"})) {
                return false;
            }
        } else if (source_.is(open, "{") && opens_discarded(open)) {
            return false;
        }
        if (follows_if_constexpr(open, statement(open))) return false;
        if (source_.is(open, "{") &&
            structure_.scope_of(open).kind == ScopeKind::function) {
            break;
        }
    }
    return true;
}

std::string DeviceCode::describe(size_t i) const {
    const Function* f = structure_.function_of(i);
    const char* words = f && f->is_global                 ? "__global__"
                        : side(i) == Side::host           ? "__host__"
                        : f && f->is_host && f->is_device ? "__host__ __device__"
                                                          : "__device__";
    return std::string(words) + " function(\"" + std::string(f ? f->name : "") + "\")";
}

}  // namespace rewriter
