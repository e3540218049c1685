/// checker/count/summary.h: what has been counted, per source line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels.h"

namespace simt::check {

/// All accesses of one kind on a line.
struct LineSummary {
    std::string file;
    int line;
    What what;
    Space space;
    unsigned bytes;  // that a lane asks for at once
    Cost cost;
};

/// The basic blocks of a line: how often they were entered, and by how many lanes.
/// Apart from them all, those that some lanes did not enter: what lies behind a
/// condition, but not the condition.
struct BranchSummary {
    std::string file;
    int line;
    unsigned blocks;
    uint64_t executions, lanes;
    uint64_t part_executions, part_lanes;
};

/// Sums over a kernel. Accesses of cp.async are in async and bytes_moved only.
struct Totals {
    Cost global_load, global_store, global_atomic, async;
    Cost shared_load, shared_store, shared_atomic, async_shared;
    uint64_t barriers = 0;         // of whole blocks
    uint64_t bytes_requested = 0;  // of global memory, lane by lane
    uint64_t bytes_moved = 0;      // 32 for each sector of each request
};

struct BarrierSummary {
    std::string op, file;
    int line;
    uint64_t count;
};

struct KernelSummary {
    const Kernel* kernel;
    std::string file;  // "" if it is not known
    std::string launch_file;
    std::vector<LineSummary> lines;
    std::vector<BranchSummary> branches;
    std::vector<BarrierSummary> barriers;
    Totals totals;
};

/// In the order of the lines. Runs addr2line for the basic blocks.
KernelSummary summary_of(const Kernel& kernel);

/// "load", "store", "atomic" or "async".
const char* name_of(What what);
/// "global", "shared" or "constant".
const char* name_of(Space space);

}  // namespace simt::check
