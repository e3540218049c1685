/// checker/large_launch.h: says in time when a launch is too large for the checker.
#pragma once

#include "core/scheduler.h"

namespace simt::check {

void note_launch_begins(const detail::Launch& launch);
/// A block has passed a barrier.
void note_block_synchronised(const detail::Worker& worker);
/// A block has ended.
void note_block_ends(const detail::Worker& worker);

}  // namespace simt::check
