/// async/hopper/product.h: one wgmma of a warpgroup, from its issue to its end.
#pragma once

#include "operands.h"
#include "state.h"

namespace simt::detail {

/// A thread that executes an instruction of its warpgroup.
struct Here {
    Worker& w;
    Warpgroup& group;
    unsigned thread;  // in the warpgroup
    const char* file;
    int line;
};

/// The thread's accumulator joins the product's tile, and is poisoned.
void join_tile(const Here& h, WgmmaEntry& entry, float* d);
/// Puts the thread's four registers of a into its rows of the operand.
void join_rows(const Here& h, WgmmaEntry& entry, const uint32_t* a);
/// The first thread has issued it: from now on the operands must stay as they are.
void start_product(const Here& h, WgmmaEntry& entry);
/// Computes the product, and gives the threads their numbers if no later one adds to
/// them.
void finish_product(const Here& h, WgmmaEntry& entry);

}  // namespace simt::detail
