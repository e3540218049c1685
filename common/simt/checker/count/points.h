/// checker/count/points.h: the instructions that traces name, by number.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/access.h"

namespace simt::check {

enum class What : uint8_t {
    block,
    load,
    store,
    atomic,
    async,
    // Only in traces that are recorded (checker/trace); they cost nothing.
    landed,   // a cp.async
    release,  // through an mbarrier or a named barrier
    acquire,
};

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
uint32_t number_of_new(const Point& point);

namespace detail_points {
struct Cached {
    Point point{};
    uint32_t number = 0;
};
extern Cached cache[4096];
}  // namespace detail_points

/// The same, quickly if it was asked for before.
inline uint32_t number_of(const Point& point) {
    const uintptr_t slot = (point.pc ^ point.pc >> 12 ^ point.depth >> 4) & 4095;
    auto& cached = detail_points::cache[slot];
    if (!(cached.point == point)) cached = {point, number_of_new(point)};
    return cached.number;
}

const Point& point(uint32_t number);

/// The order of all points so far, as replay() wants it.
const std::vector<uint64_t>& orders();

}  // namespace simt::check
