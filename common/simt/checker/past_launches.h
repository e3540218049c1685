/// checker/past_launches.h: launches of queued work that others may run beside.
#pragma once

#include <cstdint>
#include <vector>

#include "core/scheduler.h"
#include "state.h"

namespace simt::check {

/// A launch that has run, in work that nothing orders with some other.
struct PastLaunch {
    uint64_t work;
    uint32_t first;               // its segments
    std::vector<uint64_t> owner;  // the block of each
    LaunchBefore what;
};

/// By Beside::number.
const PastLaunch& past_launch(size_t number);

/// Fills in the launches beside the one in progress.
/// @param forget  the segments' numbers have begun again
void past_launch_begins(bool forget);
void past_launch_ends(const detail::Launch& launch);

}  // namespace simt::check
