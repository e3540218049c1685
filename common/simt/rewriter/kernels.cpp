// The table of kernels, and kernels that appear outside a launch.
#include "kernels.h"

#include <algorithm>
#include <set>

#include "calls.h"

namespace rewriter {
namespace {

/// Type of the parameter in tokens [first, last): without its name and default value,
/// so that declaration and definition look alike.
std::string parameter_type(const Source& source, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
        if (source.is(i, "=")) last = i;
        if (source.is(i, "(") && source.match(i) != kNone) i = source.match(i);
    }
    std::string type;
    const bool named =
        last > first + 1 && source.is_identifier(last - 1) &&
        !source.is_any(last - 2, {"::", "const", "unsigned", "signed"}) &&
        !source.is_any(last - 1, {"int", "char", "long", "short", "const"});
    for (size_t i = first; i < (named ? last - 1 : last); ++i) {
        if (source.is_any(i, {"__restrict__", "__restrict", "__grid_constant__"}))
            continue;
        // A const parameter and a plain one are the same in a function's type.
        if (source.is(i, "const") && i > first && source.is(i - 1, "*")) continue;
        type += std::string(source.text(i)) + ' ';
    }
    return type;
}

/// Is the parameter in tokens [first, last) an lvalue reference?
bool is_reference(const Source& source, size_t first, size_t last) {
    for (size_t i = first; i < last && !source.is(i, "="); ++i) {
        if (source.is(i, "&")) return true;
        if (source.is(i, "(") && source.match(i) != kNone) {  // int (&a)[4]
            if (source.is(i + 1, "&")) return true;
            i = source.match(i);
        } else if (source.is(i, "<")) {
            const size_t close = source.match_angle(i);
            if (close != kNone && close < last) i = close;
        }
    }
    return false;
}

/// Calls `argument(first, last)` for each part of [first, last) between commas.
template <class F>
void for_each_argument(const Source& source, size_t first, size_t last, F argument) {
    size_t begin = first;
    for (size_t i = first; i < last; ++i) {
        if (source.is_any(i, {"(", "[", "{"}) && source.match(i) != kNone) {
            i = source.match(i);
        } else if (source.is(i, "<") && i > first && source.is_identifier(i - 1)) {
            const size_t close = source.match_angle(i);
            if (close != kNone && close < last) i = close;
        } else if (source.is(i, ",")) {
            argument(begin, i);
            begin = i + 1;
        }
    }
    if (begin < last) argument(begin, last);
}

}  // namespace

size_t count_arguments(const Source& source, size_t first, size_t last) {
    size_t count = 0;
    for_each_argument(source, first, last, [&](size_t, size_t) { ++count; });
    return count;
}

KernelTable::KernelTable(const Source& source, const Structure& structure) {
    for (const Function& f : structure.functions()) {
        if (f.is_global) add(source, structure, f);
    }
    for (const Function& f : structure.functions()) {
        const auto kernel = kernels_.find(f.name);
        if (kernel == kernels_.end() || f.is_global || f.is_specialization) continue;
        const ScopeKind scope = structure.scopes()[f.scope].kind;
        if (scope == ScopeKind::name_space && !source.in_system_header(f.name_token)) {
            kernel->second.shares_name = true;
        }
        kernel->second.names_member |= scope == ScopeKind::type;
    }
}

void KernelTable::add(const Source& source,
                      const Structure& structure,
                      const Function& function) {
    if (function.is_specialization) return;
    std::string signature;
    std::string scope_name;
    for (int s = function.scope; s > 0; s = structure.scopes()[s].parent) {
        const Scope& scope = structure.scopes()[s];
        signature += source.squeeze(scope.header, scope.open) + '|';
        if (scope_name.empty() && source.is_identifier(scope.open - 1)) {
            scope_name = source.text(scope.open - 1);
        }
    }
    bool defaults = false;
    uint64_t references = 0, bit = 1;
    for_each_argument(source,
                      function.params_open + 1,
                      function.params_close,
                      [&](size_t first, size_t last) {
                          signature += parameter_type(source, first, last) + ',';
                          bool pack = false;
                          for (size_t i = first; i < last; ++i) {
                              defaults |= source.is(i, "=");
                              pack |= source.is_any(i, {".", "..."});
                          }
                          if (is_reference(source, first, last))
                              references |= pack ? ~(bit - 1) : bit;
                          bit <<= 1;
                      });
    size_t required = 0;
    size_t parameters = 0;
    bool pack = false;
    if (function.is_template()) {
        const size_t open = function.template_open;
        for_each_argument(
            source, open + 1, source.match_angle(open), [&](size_t first, size_t last) {
                bool has_default = false;
                for (size_t i = first; i < last; ++i) {
                    has_default |= source.is(i, "=");
                    pack |= source.is(i, ".");
                }
                required += !has_default;
                ++parameters;
            });
        signature += "<" + std::to_string(parameters);
    }
    const auto [at, is_new] = kernels_.try_emplace(function.name);
    Kernel& kernel = at->second;
    if (is_new) {
        kernel.signature = signature;
        kernel.references = references;
        kernel.scope_name = scope_name;
        kernel.template_parameters = parameters;
        kernel.required_template_arguments = required;
    }
    kernel.overloaded |= kernel.signature != signature;
    kernel.references &= references;
    kernel.has_default_arguments |= defaults;
    kernel.is_template |= function.is_template();
    kernel.has_pack |= pack;
    // A default may stand in either the declaration or the definition.
    kernel.required_template_arguments =
        std::min(kernel.required_template_arguments, required);
}

bool KernelTable::is_one_function(const Kernel& kernel,
                                  size_t template_arguments) const {
    if (kernel.overloaded || kernel.shares_name || kernel.has_pack) return false;
    return !kernel.is_template ||
           (template_arguments > 0 &&
            template_arguments >= kernel.required_template_arguments);
}

QualifiedName qualified_name(const Source& source, size_t name) {
    QualifiedName result{name, name + 1, 0};
    if (source.is(name + 1, "<") && !source.is_triple(name + 1, '<')) {
        const size_t close = source.match_angle(name + 1);
        if (close != kNone) {
            result.template_arguments = count_arguments(source, name + 2, close);
            result.last = close + 1;
        }
    }
    while (result.first > 0 && source.is(result.first - 1, "::")) {
        const bool named = result.first > 1 && source.is_identifier(result.first - 2) &&
                           !source.is_any(result.first - 2, {"return", "else", "do"});
        result.first -= named ? 2 : 1;
        if (!named) break;
    }
    return result;
}

namespace {

/// Is the kernel named at [name.first, name.last) used as a value there?
bool is_value(const Source& source,
              const Structure& structure,
              const QualifiedName& name) {
    if (!source.is_any(name.last, {",", ")", ";", "}", ":"})) return false;
    if (structure.scope_of(name.first).kind == ScopeKind::enumeration) return false;
    size_t before = name.first - 1;
    if (source.is(before, "&")) --before;
    if (source.is(before, "(")) {
        return !source.is_any(before - 1,
                              {"decltype", "sizeof", "typeid", "__decltype"});
    }
    if (source.is(before, ",")) {
        // Inside parentheses or braces; `int a, k;` declares a variable.
        for (size_t i = before; i > 0; --i) {
            if (source.is_any(i, {")", "]", "}"}) && source.match(i) != kNone) {
                i = source.match(i);
            } else if (source.is(i, "(")) {
                return true;
            } else if (source.is(i, "{")) {
                return structure.scope_of(i).kind == ScopeKind::initializer;
            } else if (source.is_any(i, {"[", ";"})) {
                return false;
            }
        }
        return false;
    }
    if (source.is(before, "{")) {
        return structure.scope_of(before).kind == ScopeKind::initializer;
    }
    return source.is_any(before, {"=", ")", "return", "?", ":"});
}

/// Is the kernel named there called like a function, `k(…)`?
bool is_plain_call(const Source& source,
                   const Structure& structure,
                   const Kernel& kernel,
                   const QualifiedName& name,
                   size_t token) {
    const Function* function = structure.function_of(token);
    if (!source.is(name.last, "(") || !function) return false;
    if (kernel.shares_name || kernel.names_member) return false;
    if (name.first < token && source.is_identifier(token - 2) &&
        source.text(token - 2) != kernel.scope_name) {
        return false;
    }
    return source.is_any(name.first - 1,
                         {";",
                          "{",
                          "}",
                          "(",
                          ")",
                          ",",
                          "=",
                          "?",
                          ":",
                          "return",
                          "else",
                          "do",
                          "&&",
                          "||"}) &&
           !is_declared_before(source, function->params_open, token);
}

}  // namespace

void rewrite_kernel_references(Source& source,
                               const Structure& structure,
                               const KernelTable& kernels) {
    std::set<size_t> declarations;
    for (const Function& f : structure.functions())
        declarations.insert(f.name_token);
    for (size_t i = 1; i < source.size(); ++i) {
        if (!source.is_identifier(i)) continue;
        const Kernel* kernel = kernels.find(source.text(i));
        if (!kernel || declarations.contains(i) || source.in_system_header(i)) continue;
        const QualifiedName name = qualified_name(source, i);
        if (source.is_triple(name.last, '<') || name.first == 0) continue;
        if (is_plain_call(source, structure, *kernel, name, i)) {
            source.error(i,
                         "a __global__ function call must be configured: write " +
                             std::string(source.text(i)) + "<<<grid, block>>>(...)");
        } else if (kernels.is_one_function(*kernel, name.template_arguments) &&
                   is_value(source, structure, name)) {
            source.insert_before(name.first,
                                 "::simt::kernel_ref(" +
                                     quoted(source.squeeze(name.first, name.last)) +
                                     ", ");
            source.insert_after(name.last - 1, ")");
        }
    }
}

}  // namespace rewriter
