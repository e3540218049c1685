/// src/check/limits.h: says in time when a launch is too large for the checker.
#pragma once

#include "../scheduler.h"

namespace simt::check {

void limits_launch_begins(const detail::Launch& launch);
/// A block has passed a barrier.
void limits_block_synchronised(const detail::Worker& worker);
/// A block has ended.
void limits_block_ends(const detail::Worker& worker);

}  // namespace simt::check
