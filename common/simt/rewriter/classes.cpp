// Finds the user's classes, and the variables that are objects of them.
#include "classes.h"

namespace rewriter {

Classes::Classes(const Source& source,
                 const Structure& structure,
                 const DeviceCode& code)
    : source_(source), structure_(structure), code_(code) {
    std::unordered_map<std::string_view, int> count;
    for (const TokenRange& range : source.user_tokens()) {
        for (size_t i = range.first + 1; i < range.last; ++i) {
            // Other meanings: template parameters, typedefs, aliases.
            const bool parameter = source.is_any(i - 1, {"typename", "class"}) &&
                                   source.is_any(i + 1, {",", ">", "="});
            if (parameter || source.is(i - 1, "using")) count[source.text(i)] += 2;
        }
    }
    const std::vector<Scope>& scopes = structure.scopes();
    for (size_t s = 1; s < scopes.size(); ++s) {
        const Scope& scope = scopes[s];
        if (scope.kind != ScopeKind::type || source.in_system_header(scope.open))
            continue;
        size_t name = kNone;
        bool has_base = false;
        for (size_t i = scope.header; i < scope.open; ++i) {
            if (source.is(i, "template") && source.is(i + 1, "<")) {
                i = source.match_angle(i + 1);
            } else if (source.is_any(i, {"(", "["})) {
                i = source.match(i);
            } else if (source.is(i, "<")) {
                name = kNone;  // a specialisation
                break;
            } else if (source.is(i, ":")) {
                has_base = true;
                break;
            } else if (source.is_identifier(i) && !source.is(i, "final")) {
                name = i;
            }
        }
        if (name == kNone) continue;
        if (source.is_any(name, {"struct", "class", "union"})) continue;
        ++count[source.text(name)];
        Class& c = classes_[source.text(name)];
        c.scope = static_cast<int>(s);
        c.has_base = has_base || scope.function >= 0;
    }
    for (auto at = classes_.begin(); at != classes_.end();)
        at = count[at->first] == 1 ? std::next(at) : classes_.erase(at);
    if (classes_.empty()) return;
    std::unordered_map<int, Class*> by_scope;
    for (auto& [name, c] : classes_)
        by_scope[c.scope] = &c;
    for (const Function& f : structure.functions()) {
        const auto found = by_scope.find(f.scope);
        if (found != by_scope.end()) found->second->functions.push_back(&f);
        // A definition outside may say more than the declaration: leave those alone.
        if (!f.is_device || !source.is(f.name_token - 1, "::")) continue;
        const auto outside = classes_.find(source.text(f.name_token - 2));
        if (outside != classes_.end()) outside->second.functions.push_back(&f);
    }
}

bool Classes::is_implicit(const Function& f) const {
    for (size_t i = f.params_close + 1; i < f.params_close + 4; ++i) {
        if (source_.is(i, "=")) return source_.is_any(i + 1, {"default", "delete"});
        if (source_.is_any(i, {"{", ";"})) return false;
    }
    return false;
}

const Class* Classes::find(std::string_view name) const {
    const auto found = classes_.find(name);
    return found == classes_.end() ? nullptr : &found->second;
}

const Class* Classes::of_scope(int scope) const {
    for (const auto& [name, c] : classes_) {
        if (c.scope == scope) return &c;
    }
    return nullptr;
}

/// Is the name at this token declared there, as an object of a class?
bool Classes::is_declaration(size_t name, Variable& variable) const {
    size_t i = name - 1;
    variable = {nullptr, {}, 0, name};
    while (source_.is_any(i, {"*", "&", "const", "__restrict__", "&&"})) {
        variable.indirections += source_.is(i, "*");
        --i;
    }
    if (source_.is(i, ">")) {
        const size_t open = source_.match_angle_back(i);
        if (open == kNone || open == 0) return false;
        i = open - 1;
    }
    if (!source_.is_identifier(i)) return false;
    if (source_.is_any(i, {"return", "else", "do", "case", "goto", "throw", "delete"}))
        return false;
    // `a * b` is a product unless a is a type.
    if (!find(source_.text(i)) && i + 1 != name) return false;
    variable.name = source_.text(i);
    variable.type = find(variable.name);
    if (source_.is(i - 1, "::") && !source_.is(i - 2, "std")) variable.type = nullptr;
    if (source_.is(name + 1, "[")) ++variable.indirections;
    return true;
}

Variable Classes::variable(size_t use) const {
    Variable result;
    const Function* f = structure_.function_of(use);
    if (!f || !source_.is_identifier(use)) return result;
    for (size_t i = f->params_open + 1; i <= use; ++i) {
        if (source_.text(i) != source_.text(use)) continue;
        // `A a, use;` and `auto [a, use]`: not read.
        const size_t open = code_.enclosing(i);
        const bool list =
            source_.is(i - 1, ",") && open != kNone && !source_.is(open, "(");
        if (list || source_.is(i - 1, "[")) {
            if (source_.is(open, "[") && i == use) continue;
            if (list && source_.is(open, "{") &&
                structure_.scope_of(open).kind == ScopeKind::initializer) {
                continue;
            }
            if (i != use && source_.is(open, "[")) {
                const bool subscript = source_.is_identifier(open - 1) ||
                                       source_.is_any(open - 1, {"]", ")"});
                if (subscript) continue;
            }
            if (list) return {};
        }
        Variable here;
        if (i == use || !is_declaration(i, here)) continue;
        if (result.declared != kNone) return {};  // twice: which one is meant?
        result = here;
    }
    return result;
}

const Class* Classes::object(size_t last, int indirections) const {
    size_t i = last;
    while (source_.is(i, "]") && source_.match(i) != kNone) {
        i = source_.match(i) - 1;
        ++indirections;
    }
    if (source_.is(i, ")") && source_.match(i) == i - 3 && source_.is(i - 2, "*")) {
        --i;
        ++indirections;
        if (!source_.is(i - 2, "(")) return nullptr;
    }
    if (!source_.is_identifier(i) || source_.is_any(i - 1, {".", "->", "::"}))
        return nullptr;
    const Variable v = variable(i);
    return v.type && v.indirections == indirections ? v.type : nullptr;
}

}  // namespace rewriter
