/// wb/bench/sections.h: tells the simulator's checker which rung is running.
#pragma once

#include <string>

namespace wb::bench {

/// Null in every program but those that ./learn xray builds: there
/// src/checked_sections.cpp is linked in and sets them.
struct SectionHooks {
    void (*begin)(const std::string& name) = nullptr;
    void (*end)() = nullptr;
};
extern SectionHooks section_hooks;

}  // namespace wb::bench
