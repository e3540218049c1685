// Mutant: a block of 33 threads is one warp
// Rejected by: blocks of all sizes, put in one by one
#define block_limits right_block_limits
#include "solution.h"
#undef block_limits

Limits block_limits(const Multiprocessor& sm, const Needs& needs) {
    Needs fewer = right_block_limits(sm, needs).slots > 0 ? needs : Needs{};
    fewer.threads = std::max(needs.threads / wb::kWarpSize, 1) * wb::kWarpSize;
    return right_block_limits(sm, fewer);
}
