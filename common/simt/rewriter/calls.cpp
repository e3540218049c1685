// Host functions in kernels and device functions on the host.
#include "calls.h"

#include <set>
#include <unordered_map>

#include "kernels.h"

namespace rewriter {
namespace {

/// For which sides the functions of one name are declared.
struct Sides {
    bool host = false, device = false;
    bool is_constexpr = false;  // one of them
    bool member = false;        // there are members of that name, too
    bool unclear = false;       // usable on both sides, or not certain
    bool in_system = false;     // a system header declares that name, too
    std::set<std::string_view> namespaces;
};
using SidesByName = std::unordered_map<std::string_view, Sides>;

bool is_consteval(const Source& source, const Function& f) {
    for (size_t i = f.header; i < f.name_token; ++i) {
        if (source.is(i, "consteval")) return true;
    }
    return false;
}

SidesByName collect(const Source& source, const Structure& structure, bool relaxed) {
    SidesByName result;
    for (const Function& f : structure.functions()) {
        if (f.name == "operator" || f.is_global) continue;
        if (source.in_system_header(f.name_token)) continue;
        Sides& sides = result[f.name];
        const Scope& scope = structure.scopes()[f.scope];
        if (scope.kind == ScopeKind::type || source.is(f.name_token - 1, "::") ||
            source.is(f.name_token - 1, "~")) {
            sides.member = true;
            continue;
        }
        sides.unclear |= (f.is_host && f.is_device) || is_consteval(source, f);
        sides.unclear |= f.is_constexpr && relaxed;
        sides.unclear |= source.is(f.params_close + 1, "=");  // deleted
        sides.is_constexpr |= f.is_constexpr;
        sides.device |= f.is_device;
        sides.host |= !f.is_device;
        sides.namespaces.insert(source.is_identifier(scope.open - 1)
                                    ? source.text(scope.open - 1)
                                    : std::string_view());
    }
    return result;
}

/// Is the name before the parenthesis that follows token i declared, `int name(`?
bool looks_declared(const Source& source, size_t i) {
    if (source.is_any(i - 1, {"*", "&", ">"})) return true;
    return source.is_identifier(i - 1) &&
           !source.is_any(i - 1, {"return", "else", "do", "case", "throw", "new"});
}

/// Names that a system header declares too may mean that function.
void mark_system_names(const Source& source, SidesByName& sides) {
    size_t first = 0;
    std::vector<TokenRange> ranges = source.user_tokens();
    ranges.push_back({source.size(), source.size()});
    for (const TokenRange& range : ranges) {
        for (size_t i = first; i < range.first; ++i) {
            if (!source.is(i + 1, "(") || !source.is_identifier(i)) continue;
            const auto found = sides.find(source.text(i));
            if (found == sides.end() || !looks_declared(source, i)) continue;
            found->second.in_system = true;
        }
        first = range.last;
    }
}

/// Namespaces that only the user's files open.
std::set<std::string_view> user_namespaces(const Source& source,
                                           const Structure& structure) {
    std::set<std::string_view> user, system;
    for (const Scope& scope : structure.scopes()) {
        if (scope.kind != ScopeKind::name_space || scope.open == 0) continue;
        if (!source.is_identifier(scope.open - 1)) continue;
        const bool in_system = source.in_system_header(scope.open);
        (in_system ? system : user).insert(source.text(scope.open - 1));
    }
    for (std::string_view name : system)
        user.erase(name);
    return user;
}

/// Is the name at token i one that is called as a function of namespace scope?
bool is_free_call(const Source& source,
                  const Structure& structure,
                  const DeviceCode& code,
                  const std::set<std::string_view>& namespaces,
                  const Sides& sides,
                  size_t i) {
    const QualifiedName name = qualified_name(source, i);
    if (!source.is(name.last, "(") || name.first == 0) return false;
    const bool qualified = source.is(i - 1, "::") && source.is_identifier(i - 2);
    if (qualified) {
        if (!namespaces.contains(source.text(i - 2))) return false;
        if (!sides.namespaces.contains(source.text(i - 2))) return false;
    } else if (sides.in_system) {
        return false;
    }
    if (!is_called(source, code, name.first)) return false;
    if (qualified) return true;
    const Function& function = *structure.function_of(i);
    if (is_declared_before(source, function.params_open, i)) return false;
    const bool in_member = structure.scopes()[function.scope].kind == ScopeKind::type ||
                           source.is(function.name_token - 1, "::");
    return !in_member || !sides.member;
}

/// Is the function's name at token i used as a value, `p = f;` or `return &f;`?
bool is_address(const Source& source, size_t i) {
    const size_t before = source.is(i - 1, "&") ? i - 2 : i - 1;
    return source.is_any(before, {"=", "return"}) && source.is(i + 1, ";");
}

}  // namespace

bool is_called(const Source& source, const DeviceCode& code, size_t first) {
    const size_t before = first - 1;
    if (source.is_any(before, {".", "->", "~"})) return false;
    if (source.is_any(before, {"return", "else", "do", "throw", "case", "co_return"}))
        return true;
    if (source.is_identifier(before)) return false;
    if (source.is(before, ",")) {  // `int a = 1, name(2);` declares
        const size_t open = code.enclosing(first);
        if (open != kNone && source.is(open, "{") && code.statement(first) != first) {
            return code.statement(first) == open + 1 && source.is(open - 1, "=");
        }
    }
    if (!source.is_any(before, {"*", "&", ">", "&&", "]"})) return true;
    // `T* f(int)` declares; where anything but a type stands before, it is a call.
    for (size_t i = code.statement(first); i < before; ++i) {
        if (source.is_identifier(i)
                ? source.is_any(i, {"return", "if", "while", "for", "case"})
                : !source.is_any(i, {"::", "<", ">", "*", "&", ","})) {
            return true;
        }
    }
    return false;
}

bool is_declared_before(const Source& source, size_t first, size_t name) {
    for (size_t i = first + 1; i < name; ++i) {
        if (source.text(i) != source.text(name)) continue;
        if (source.is_any(i - 1, {"*", "&", ">"}) ||
            (source.is_identifier(i - 1) &&
             !source.is_any(i - 1,
                            {"return", "else", "do", "case", "goto", "throw"}))) {
            return true;
        }
    }
    return false;
}

void report_call(Source& source,
                 const DeviceCode& code,
                 size_t token,
                 std::string_view name,
                 Side side,
                 bool is_constexpr,
                 std::string advice) {
    const std::string other = side == Side::device ? "__host__" : "__device__";
    std::string message = std::string("calling a ") +
                          (is_constexpr ? "constexpr " : "") + other + " function(\"" +
                          std::string(name) + "\") from a " + code.describe(token) +
                          " is not allowed: ";
    if (advice.empty()) {
        advice = side == Side::host ? "launch a kernel that calls it"
                                    : "mark it __host__ __device__";
    }
    if (side == Side::device && is_constexpr)
        advice += ", or compile with --expt-relaxed-constexpr";
    source.error(token, message + advice);
}

void check_calls(Source& source,
                 const Structure& structure,
                 const DeviceCode& code,
                 bool relaxed) {
    SidesByName sides = collect(source, structure, relaxed);
    mark_system_names(source, sides);
    const std::set<std::string_view> namespaces = user_namespaces(source, structure);
    for (const TokenRange& range : source.user_tokens()) {
        for (size_t i = range.first + 1; i < range.last; ++i) {
            if (!source.is_identifier(i)) continue;
            const auto found = sides.find(source.text(i));
            if (found == sides.end() || !structure.in_function(i)) continue;
            const Sides& callee = found->second;
            if (callee.unclear || callee.host == callee.device) continue;
            const Side side = code.side(i);
            if (side == Side::unknown) continue;
            if (side == Side::device ? !callee.host : !callee.device) continue;
            if (!code.is_evaluated(i)) continue;
            if (is_free_call(source, structure, code, namespaces, callee, i)) {
                report_call(source, code, i, source.text(i), side, callee.is_constexpr);
            } else if (side == Side::device && !callee.in_system && !callee.member &&
                       is_address(source, i) &&
                       !is_declared_before(
                           source, structure.function_of(i)->params_open, i)) {
                source.error(i,
                             "identifier \"" + std::string(source.text(i)) +
                                 "\" is undefined in device code: it is a __host__ "
                                 "function");
            }
        }
    }
}

}  // namespace rewriter
