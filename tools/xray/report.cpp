#include "options.h"

#include <algorithm>
#include <stdexcept>

namespace xray {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_section(const std::string& section, const std::string& wanted) {
    return section == wanted || ends_with(section, "_" + wanted);
}

void append_once(std::string& names, const std::string& name) {
    if (name.empty() ||
        (", " + names + ",").find(", " + name + ",") != std::string::npos)
        return;
    names += (names.empty() ? "" : ", ") + name;
}

}  // namespace

double Run::flop(const Kernel& kernel) const {
    const auto sharers =
        std::count_if(kernels.begin(), kernels.end(), [&](auto& other) {
            return other.section == kernel.section;
        });
    const Contract* stated = contract(kernel.section);
    return sharers == 1 && stated != nullptr ? stated->flop : 0.0;
}

const Resources* Report::resources_of(const Kernel& kernel) const {
    const Resources* found = nullptr;
    for (const Resources& candidate : resources) {
        if (base_name(candidate.kernel) != base_name(kernel.name)) continue;
        if (found == nullptr || candidate.registers > found->registers)
            found = &candidate;
    }
    return found;
}

void select(Run& run, const std::string& kernel, const std::string& section) {
    const bool sections = std::any_of(run.kernels.begin(),
                                      run.kernels.end(),
                                      [](auto& k) { return !k.section.empty(); });
    std::string names;
    for (const Kernel& k : run.kernels)
        append_once(names, section.empty() ? k.name : k.section);
    const auto unwanted = [&](const std::string& name, const std::string& in) {
        if (sections && in.empty()) return true;
        if (!section.empty() && !is_section(in, section)) return true;
        return name.find(kernel) == std::string::npos;
    };
    std::erase_if(run.kernels,
                  [&](const Kernel& k) { return unwanted(k.name, k.section); });
    std::erase_if(run.findings,
                  [&](const Finding& f) { return unwanted(f.kernel, f.section); });
    if (!run.kernels.empty() || !run.findings.empty()) return;
    if (names.empty())
        throw std::runtime_error("the program launched no kernel that was checked");
    throw std::runtime_error(
        section.empty() ? "no kernel is called '" + kernel + "'; there are: " + names
                        : "there is no rung '" + section + "'; there are: " + names);
}

}  // namespace xray
