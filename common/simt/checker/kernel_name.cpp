#include "kernel_name.h"

#include <map>
#include <string_view>

#include "addr2line.h"

namespace simt::check {
namespace {

/// "void (anonymous namespace)::scale<4, ns::Sum>(float*, int)" without what stands
/// before and behind the kernel's name and template arguments: "scale<4, ns::Sum>".
std::string_view bare(std::string_view function) {
    size_t begin = 0, end = function.size();
    int depth = 0;
    for (size_t i = 0; i < function.size(); ++i) {
        const char c = function[i];
        if (c == '(' && depth == 0 && i > begin) {
            end = i;
            break;
        }
        if (c == '<' || c == '(') ++depth;
        if (c == '>' || c == ')') --depth;
        if (depth == 0 && (c == ' ' || c == ':')) begin = i + 1;
    }
    return function.substr(begin, end - begin);
}

/// Without template arguments.
std::string_view base(std::string_view name) {
    return name.substr(0, name.find('<'));
}

}  // namespace

const std::string& kernel_name(const detail::Launch& launch) {
    return kernel_name(launch.body->name, launch.body->address);
}

const std::string& kernel_name(const char* name, const void* address) {
    // Never destroyed: reports are written while the program exits.
    using Launched = std::pair<std::string, const void*>;
    static auto& names = *new std::map<Launched, std::string>;
    const std::string said = name;
    const auto [entry, fresh] = names.try_emplace({said, address}, said);
    if (!fresh || !address) return entry->second;
    const std::string function = function_at(reinterpret_cast<uintptr_t>(address));
    const std::string_view defined = bare(function);
    if (!defined.empty() && base(defined) != base(bare(said)))
        entry->second = std::string(defined);
    return entry->second;
}

}  // namespace simt::check
