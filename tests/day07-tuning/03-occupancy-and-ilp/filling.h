/// filling.h: a multiprocessor on the CPU, into which blocks are put one by one until
/// the next one does not fit: what the learner computes is counted here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "multiprocessor.h"
#include "occupancy_and_ilp.h"

/// Rules of a multiprocessor, each of which can be left out: what comes out then is
/// what somebody computes who has forgotten it.
struct Rules {
    bool whole_warps = true;      ///< a block of 33 threads is two warps
    bool register_units = true;   ///< registers are given in units of 256
    bool quarters = true;         ///< a warp lives in one quarter
    bool reserved_shared = true;  ///< each block loses a kilobyte, from sm_80 on
    bool shared_units = true;     ///< shared memory is given in units of 128
};

/// The multiprocessor, empty at first.
class Filling {
 public:
    Filling(const Multiprocessor& sm, const Needs& needs, Rules rules = {})
        : sm_(sm), needs_(needs), rules_(rules) {
        if (rules_.quarters) {
            for (int64_t& quarter : registers_)
                quarter = kRegisters / kQuarters;
        } else {
            registers_[0] = kRegisters;
        }
    }

    /// How many blocks fit if only this is scarce.
    int by_warps() {
        int left = sm_.warps * 32;
        int blocks = 0;
        for (; left >= threads(); ++blocks)
            left -= threads();
        return blocks;
    }

    int by_registers() {
        int blocks = 0;
        while (place_warps())
            ++blocks;
        return blocks;
    }

    int by_shared() const {
        const int64_t bytes = shared();
        if (bytes == 0) return sm_.blocks;
        int blocks = 0;
        for (int64_t left = sm_.shared_bytes; left >= bytes; left -= bytes)
            ++blocks;
        return blocks;
    }

    /// All four.
    Limits limits() { return {by_warps(), sm_.blocks, by_registers(), by_shared()}; }

 private:
    static int64_t in_units(int64_t value, int64_t unit) {
        int64_t result = 0;
        while (result < value)
            result += unit;
        return result;
    }

    int threads() const {
        return rules_.whole_warps ? static_cast<int>(in_units(needs_.threads, 32))
                                  : needs_.threads;
    }

    int64_t shared() const {
        const int64_t reserved = rules_.reserved_shared ? sm_.shared_reserved : 0;
        const int64_t unit = rules_.shared_units ? sm_.shared_unit : 1;
        return in_units(needs_.shared_bytes + reserved, unit);
    }

    /// Puts all warps of a block into the quarters that have most left.
    bool place_warps() {
        const int64_t wanted =
            in_units(32 * needs_.registers, rules_.register_units ? kRegisterUnit : 1);
        for (int thread = 0; thread < threads(); thread += 32) {
            int64_t* emptiest = std::max_element(registers_, registers_ + kQuarters);
            if (*emptiest < wanted) return false;
            *emptiest -= wanted;
        }
        return true;
    }

    Multiprocessor sm_;
    Needs needs_;
    Rules rules_;
    int64_t registers_[kQuarters] = {};
};

/// What fits at once, by counting.
inline Occupancy count_occupancy(const Multiprocessor& sm, const Needs& needs) {
    const Limits limits = Filling(sm, needs).limits();
    const int in_order[] = {
        limits.warps, limits.slots, limits.registers, limits.shared};
    const int* least = std::min_element(in_order, in_order + 4);  // the first of them
    const int warps = (needs.threads + 31) / 32;
    return {*least, *least * warps, static_cast<Limiter>(least - in_order)};
}
