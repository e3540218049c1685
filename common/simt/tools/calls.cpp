// Host functions in kernels and device functions on the host.
#include "calls.h"

#include <unordered_map>

namespace rewriter {
namespace {

/// For which sides the functions of one name are declared.
struct Sides {
    bool host = false, device = false;
    bool unclear = false;  // also a member, a system function, or usable on both sides
};
using SidesByName = std::unordered_map<std::string_view, Sides>;

SidesByName collect(const Source& source, const Structure& structure) {
    SidesByName result;
    for (const Function& f : structure.functions()) {
        if (source.in_system_header(f.name_token) || f.is_global) continue;
        Sides& sides = result[f.name];
        const bool member = structure.scopes()[f.scope].kind == ScopeKind::type;
        sides.unclear |= member || f.is_constexpr || (f.is_host && f.is_device);
        sides.device |= f.is_device;
        sides.host |= !f.is_device;
    }
    // Of the library's functions that may not run on a GPU, those that beginners try.
    for (std::string_view name : {"rand",
                                  "srand",
                                  "random",
                                  "drand48",
                                  "fopen",
                                  "fclose",
                                  "fprintf",
                                  "fputs",
                                  "scanf",
                                  "getchar",
                                  "putchar",
                                  "puts",
                                  "cout",
                                  "cerr",
                                  "exit",
                                  "getenv",
                                  "system"}) {
        if (!result.contains(name)) result[name].host = true;
    }
    return result;
}

/// Names that a system header declares too may mean that function.
void mark_system_names(const Source& source,
                       const Structure& structure,
                       SidesByName& sides) {
    std::unordered_map<std::string_view, bool> declared;
    for (const Function& f : structure.functions()) {
        if (!source.in_system_header(f.name_token)) declared[f.name] = true;
    }
    for (size_t i = 0; i + 1 < source.size(); ++i) {
        if (!source.is_identifier(i) || !source.is(i + 1, "(")) continue;
        const auto found = sides.find(source.text(i));
        if (found == sides.end() || !declared.contains(found->first)) continue;
        if (!found->second.unclear && source.in_system_header(i))
            found->second.unclear = true;
    }
}

/// Is token i inside a lambda marked __device__?
bool in_device_lambda(const Source& source, const Structure& structure, size_t i) {
    for (int s = structure.scope_index(i); s > 0; s = structure.scopes()[s].parent) {
        const Scope& scope = structure.scopes()[s];
        if (scope.kind == ScopeKind::function) return false;
        for (size_t k = scope.open; k > 0 && k + 64 > scope.open; --k) {
            if (source.is_any(k - 1, {";", "{", "}", "]"})) break;
            if (source.is(k - 1, "__device__")) return true;
        }
    }
    return false;
}

/// Is the name at token i called, as a plain function?
bool is_call(const Source& source, const Structure& structure, size_t i) {
    const QualifiedName name = qualified_name(source, i);
    if (!source.is(name.last, "(") || i == 0) return false;
    if (source.is(i - 1, "::") && (i < 2 || source.is_identifier(i - 2))) return false;
    const size_t before = name.first - 1;
    if (source.is_any(before, {".", "->", "*", "&", ">", "~", "]"})) return false;
    if (source.is_identifier(before) &&
        !source.is_any(before, {"return", "else", "do", "throw", "case"})) {
        return false;
    }
    const Function& function = *structure.function_of(i);
    if (is_declared_before(source, function.params_open, i)) return false;
    const Scope& scope = structure.scopes()[function.scope];
    return scope.kind != ScopeKind::type || !is_declared_before(source, scope.open, i);
}

}  // namespace

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

void check_calls(Source& source, const Structure& structure) {
    SidesByName sides = collect(source, structure);
    mark_system_names(source, structure, sides);
    for (size_t i = 1; i < source.size(); ++i) {
        const auto found = sides.find(source.text(i));
        if (found == sides.end() || found->second.unclear) continue;
        const Function* caller = structure.function_of(i);
        if (!caller || source.in_system_header(i)) continue;
        const bool device_code =
            (caller->is_device || caller->is_global) && !caller->is_host;
        const std::string where =
            "(\"" + std::string(caller->name) + "\") is not allowed";
        const char* side = caller->is_global ? "__global__" : "__device__";
        const Sides& callee = found->second;
        if (callee.host == callee.device) continue;  // overloads for either side
        const bool wrong = device_code ? callee.host
                                       : callee.device && !caller->for_device() &&
                                             !in_device_lambda(source, structure, i);
        if (!wrong) continue;
        if (source.is_any(i, {"cout", "cerr"}) && source.is(i + 1, "<")) {
            source.error(i,
                         "using std::" + std::string(source.text(i)) + " in a " + side +
                             " function" + where + ": use printf");
        }
        if (!is_call(source, structure, i)) continue;
        const std::string name =
            "function(\"" + std::string(source.text(i)) + "\") from a ";
        source.error(i,
                     device_code
                         ? "calling a __host__ " + name + side + " function" + where
                         : "calling a __device__ " + name + "__host__ function" +
                               where + ": launch a kernel that calls it");
    }
}

}  // namespace rewriter
