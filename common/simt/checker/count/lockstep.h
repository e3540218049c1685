/// checker/count/lockstep.h: what the lanes of a warp did one after another, put in
/// the order in which a GPU does it together.
///
/// The simulator runs the threads of a warp one by one. Each leaves a trace: the basic
/// blocks that it entered and the accesses that it made. replay() walks along the
/// traces of 32 lanes at once. In each step the lanes that stand at the same
/// instruction go on together: those in the innermost called function, and among these
/// those at the lowest address. Lanes that have left a loop or skipped a branch so wait
/// for the others, since the code after it has higher addresses; simt-c++ --check=count
/// tells the compiler to leave the code in the order of the source.
///
/// For converged code that is exactly what the hardware does. Where lanes diverge, it
/// is what they do if they meet again at the end of each branch and loop, where nvcc
/// makes them meet; hardware may let them run apart longer (it may not shorten it).
///
/// Source: S. Collange, "Stack-less SIMT reconvergence at low cost" (2011): the
/// heuristic by stack depth and program counter.
#pragma once

#include <cstdint>
#include <vector>

namespace simt::check {

/// One step of a lane: an instruction's number, and the address that it accessed.
using Event = uint64_t;
constexpr unsigned kAddressBits = 48;
constexpr Event make_event(uint32_t point, uintptr_t address) {
    return Event{point} << kAddressBits | (address & ((Event{1} << kAddressBits) - 1));
}
constexpr uint32_t point_in(Event event) {
    return static_cast<uint32_t>(event >> kAddressBits);
}
constexpr uintptr_t address_in(Event event) {
    return event & ((Event{1} << kAddressBits) - 1);
}

/// Where an instruction stands in the order of replay(): smaller goes first.
///
/// @param depth  bytes of stack above its function's frame
constexpr uint64_t order_of(size_t depth, uintptr_t pc) {
    const size_t level = depth / 16 < 0xffff ? depth / 16 : 0xffff;
    return uint64_t{0xffff - level} << kAddressBits |
           (pc & ((uint64_t{1} << kAddressBits) - 1));
}

/// The traces of a warp's lanes.
struct WarpTrace {
    std::vector<Event> lane[32];

    void clear() {
        for (auto& events : lane)
            events.clear();
    }
};

/// Consumes the traces.
///
/// @param unfinished  lanes that may add to their trace later: replay stops when one of
///     these has nothing left, and keeps the rest of the traces
/// @param order  order(point): as order_of(); an array or a vector
/// @param step   step(point, lanes, events): `lanes` go through `point` together;
///     events[l] is the event of lane l
template <class Order, class Step>
void replay(WarpTrace& trace, uint32_t unfinished, const Order& order, Step step) {
    const Event* next[32];
    const Event* end[32];
    uint32_t live = 0;
    for (unsigned l = 0; l < 32; ++l) {
        next[l] = trace.lane[l].data();
        end[l] = next[l] + trace.lane[l].size();
        if (next[l] != end[l]) live |= 1u << l;
    }
    Event events[32];
    while (live != 0 && (unfinished & ~live) == 0) {
        uint32_t point = 0, lanes = 0;
        uint64_t least = ~uint64_t{0};
        for (uint32_t rest = live; rest != 0; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            const uint32_t candidate = point_in(*next[l]);
            if (lanes != 0 && candidate == point) {
                lanes |= 1u << l;
                continue;
            }
            const uint64_t place = order[candidate];
            if (lanes != 0 && (place > least || (place == least && candidate > point)))
                continue;
            point = candidate;
            least = place;
            lanes = 1u << l;
        }
        for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            events[l] = *next[l]++;
            if (next[l] == end[l]) live &= ~(1u << l);
        }
        step(point, lanes, static_cast<const Event*>(events));
    }
    for (unsigned l = 0; l < 32; ++l) {
        auto& events_of_lane = trace.lane[l];
        events_of_lane.erase(
            events_of_lane.begin(),
            events_of_lane.begin() + (next[l] - events_of_lane.data()));
    }
}

}  // namespace simt::check
