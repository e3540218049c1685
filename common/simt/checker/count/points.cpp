#include "points.h"

#include <cstdio>
#include <unordered_map>

#include "lockstep.h"

namespace simt::check {
namespace {

struct PointHash {
    size_t operator()(const Point& p) const {
        const uint64_t a = p.pc ^ static_cast<uint64_t>(p.depth) << 40;
        const uint64_t b = uint64_t{p.site} << 32 | uint64_t{p.bytes} << 8 |
                           uint64_t(p.what) << 4 | uint64_t(p.space);
        return (a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 20;
    }
};

// Never destroyed: reports are written while the program exits.
auto& g_points = *new std::vector<Point>;
auto& g_orders = *new std::vector<uint64_t>;
auto& g_point_numbers = *new std::unordered_map<Point, uint32_t, PointHash>;

}  // namespace

detail_points::Cached detail_points::cache[4096];

uint32_t number_of_new(const Point& point) {
    const auto found = g_point_numbers.find(point);
    if (found != g_point_numbers.end()) return found->second;
    const auto number = static_cast<uint32_t>(g_points.size());
    if (number == kMostPoints) {
        static bool said = false;
        if (!said)
            std::fprintf(stderr,
                         "==SIMT== the program accesses memory at more than %u places: "
                         "some are not counted. Check fewer kernels at once.\n",
                         kMostPoints);
        said = true;
        return kMostPoints;
    }
    g_points.push_back(point);
    g_orders.push_back(order_of(point.depth, point.pc));
    g_point_numbers.emplace(point, number);
    return number;
}

const Point& point(uint32_t number) {
    return g_points[number];
}

const std::vector<uint64_t>& orders() {
    return g_orders;
}

}  // namespace simt::check
