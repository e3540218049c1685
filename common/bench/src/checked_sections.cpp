// Linked into programs whose kernels are compiled with simt-c++ --check: the launches
// of a rung are counted under its name.
#include <simt/check.h>
#include <wb/bench/sections.h>

namespace wb::bench {
namespace {

void begin(const std::string& name) {
    simt::check::begin_section(name.c_str());
}

void end() {
    simt::check::end_section();
}

[[maybe_unused]] const bool installed = [] {
    section_hooks = {begin, end};
    return true;
}();

}  // namespace
}  // namespace wb::bench
