/// checker/trace/steps.h: a recorded trace as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/access.h"

namespace simt::check {

/// What a step is. The page knows them by their numbers (book/figures/kernel-trace).
enum class Doing : uint8_t {
    at,  // the warp has entered a basic block
    load,
    store,
    atomic,
    copy,         // a cp.async has been issued: one step reads, one will write
    landed,       // a cp.async has landed
    release,      // arrives at an mbarrier or a named barrier
    acquire,      // has waited for one
    tile,         // TMA begins to write a tile
    tile_landed,  // nobody's: the tile is there
    barrier,      // of the block: all have arrived, and go on
    warp_op,      // a shuffle, a vote, __syncwarp()
    product,      // of tensor cores
    folded,       // stands for repetitions that are left out
};

constexpr int kNobody = -1;  // the warp of steps that are the block's

/// One step of a warp, or of the block.
struct Step {
    uint32_t time = 0;
    int warp = kNobody;
    Doing doing = Doing::at;
    Space space = Space::global;
    uint32_t place = 0;    // number of a source line
    uint32_t bytes = 0;    // that a lane accesses, or that a tile has
    uint32_t pattern = 0;  // lanes and their addresses, see PatternTable
    uint32_t cost = 0;     // sectors; wavefronts; atomics: operations in a row
    uint32_t ideal = 0;
    // Global memory: the allocation's number, 0: none. Shared memory: 0 its own,
    // else 1 + the rank of another block of its cluster.
    int object = 0;
    int64_t base = 0;  // offset of the first lane's address; folded: number of a Fold
    int finding = -1;  // number of a finding
};

/// Which lanes take part in a step and how far their addresses are from the first
/// lane's. As numbers: {mask, stride} if lane l is (l - first lane) * stride away, else
/// {mask, distances of the lanes in the mask}.
using Pattern = std::vector<int64_t>;

/// @param address  of the lanes in the mask; may be null: no addresses
Pattern pattern_of(uint32_t mask, const uintptr_t* address);
inline uint32_t lanes_of(const Pattern& pattern) {
    return static_cast<uint32_t>(pattern.front());
}

/// What a folded step stands for.
struct Fold {
    uint32_t times = 0;            // that the loop has gone round unseen
    uint32_t steps = 0;            // that are left out
    std::vector<uint32_t> places;  // of these, each once
    /// What was written to shared memory: {warp, pattern, base, bytes}; of several
    /// writes to the same place the last. Of copies that are on their way the warp is
    /// kNobody.
    std::vector<std::vector<int64_t>> writes;
};

struct Trace {
    std::vector<Step> steps;
    std::vector<Pattern> patterns;
    std::vector<Fold> folds;
};

/// Sorts the steps by time, drops what says nothing new, folds the repetitions of long
/// loops, and keeps the first `most` steps. Returns how many steps it has cut off.
size_t tidy(Trace& trace, size_t most);

/// Repetitions in a sequence of numbers: from `first` on, `period` elements come
/// `times` times.
struct Run {
    size_t first, period, times;
};
/// @param least  the fewest repetitions that count
std::vector<Run> runs_of(const std::vector<uint64_t>& tokens, size_t least);

}  // namespace simt::check
