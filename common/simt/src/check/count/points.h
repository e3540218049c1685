/// src/check/count/points.h: the instructions that traces name, by number.
#pragma once

#include <cstdint>
#include <vector>

#include "../access.h"

namespace simt::check {

enum class What : uint8_t { block, load, store, atomic, async };

/// An instruction in a function at one depth of the stack, or a basic block's start.
struct Point {
    uintptr_t pc;
    uint32_t depth;
    uint32_t site;  // of an access
    uint16_t bytes;
    What what;
    Space space;
    bool operator==(const Point&) const = default;
};

/// More do not fit into a trace; instructions beyond are not counted, and a line on
/// stderr says so once.
constexpr uint32_t kMostPoints = 1u << 16;

/// The number of a point; kMostPoints if there are too many.
uint32_t number_of(const Point& point);
const Point& point(uint32_t number);

/// The order of all points so far, as replay() wants it.
const std::vector<uint64_t>& orders();

}  // namespace simt::check
