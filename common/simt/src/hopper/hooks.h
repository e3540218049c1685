/// src/hopper/hooks.h: what the scheduler tells the emulation of Hopper's instructions.
#pragma once

#include <string>

#include "../scheduler.h"

namespace simt::detail {

/// The running thread has returned from a block that has used these instructions.
void hopper_thread_ends(Worker& w);
/// All threads have returned.
void hopper_block_ends(Worker& w, Block& b);
/// A fault has ended the block.
void discard_hopper(Block& b);
/// For the report of a deadlock: what the barriers lack for which threads wait.
std::string describe_mbarriers(const Block& b);

}  // namespace simt::detail
