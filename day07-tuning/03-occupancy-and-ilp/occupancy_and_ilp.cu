// occupancy_and_ilp.cu: how much is under way at once, and two kernels that have as
// much of it as they are told.
#include "occupancy_and_ilp.h"

#include <wb/arguments.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include <algorithm>
#include <cmath>

#include "rods_kernel.h"
#include "variants.h"

// #region block-limits
Limits block_limits(const Multiprocessor& sm, const Needs& needs) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("block_limits")
        .require(needs.threads >= 1 && needs.threads <= kThreadsOfABlock,
                 "needs.threads",
                 needs.threads,
                 "1 to 1024")
        .require(needs.registers >= 1 && needs.registers <= kRegistersOfAThread,
                 "needs.registers",
                 needs.registers,
                 "1 to 255")
        .size("needs.shared_bytes", needs.shared_bytes);
    // TODO(learner): how many warps has a block? Each gets its registers in one piece,
    // rounded up to kRegisterUnit, from the share of a single quarter. Shared memory is
    // reserved first, and rounded up then (about 11 lines)
    return {};  // and this one
}
// #endregion block-limits

// #region occupancy
Occupancy occupancy(const Multiprocessor& sm, const Needs& needs) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    // TODO(learner): the smallest of block_limits(), its name, and how many warps that
    // makes (about 8 lines)
    return {};  // and this one
}
// #endregion occupancy

// #region budget
Budget budget(const Multiprocessor& sm, int threads, int blocks) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    const Limits limits = block_limits(sm, {threads, 1, 0});
    wb::Arguments("budget")
        .positive("blocks", blocks)
        .require(blocks <= std::min(limits.warps, limits.slots),
                 "blocks",
                 blocks,
                 "as many as fit by warps and slots");
    // TODO(learner): the same divisions backwards. How many warps are in the fullest
    // quarter, and what may each of them have? Now round down (about 7 lines)
    return {};  // and this one
}
// #endregion budget

// #region little
double predicted_rate(const Pipe& pipe, double under_way) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    // TODO(learner): Little's law, and a roof (1 line)
    return {};  // and this one
}

int independent_needed(const Pipe& pipe, int64_t threads, int size) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("independent_needed")
        .positive("threads", threads)
        .positive("size", size);
    // TODO(learner): what must be under way for the peak, and each thread's share of
    // it: a whole number of operations (about 3 lines)
    return {};  // and this one
}
// #endregion little

// #region copy-v3
/// copy_floats_v3: all loads of a thread come before its first store.
///
/// Launch   grid ceil_div(n, 4 * kLoads * kCopyThreads), block kCopyThreads
template <int kLoads>
__global__ void copy_floats_v3_kernel(const float* x,  // [n]
                                      float* y,        // [n]
                                      int64_t n) {
    // TODO(learner): x and y as arrays of n / 4 float4s, of which a block copies
    // kLoads * kCopyThreads: neighbouring threads, neighbouring float4s. A loop that
    // loads the kLoads of this thread into an array, one that stores them, and the
    // n % 4 floats at the end (about 15 lines)
}
// #endregion copy-v3

static const CopyKernel kCopyKernels[] = {copy_floats_v3_kernel<1>,
                                          copy_floats_v3_kernel<2>,
                                          copy_floats_v3_kernel<4>,
                                          copy_floats_v3_kernel<8>};

static void copy_floats_v3(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    launch_copy(kCopyKernels, x, y, n, variant, stream);
}

void copy_floats(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the copy is written
    copy_floats_v3(x, y, n, variant, stream);
}

Facts copy_floats_facts(int each, int threads, int64_t ballast) {
    const CopyKernel kernel = instance_of("copy_floats_facts", kCopyKernels, each);
    return ask_driver(kernel, threads, ballast);
}

// #region iterate-v3
/// iterate_v3: eight steps a round of the loop, which counts, compares and jumps once.
///
/// Launch   grid ceil_div(n, kChains * kIterateThreads), block kIterateThreads
template <int kChains>
__global__ void iterate_v3_kernel(const float* x,  // [n]
                                  float* y,        // [n]
                                  int64_t n,
                                  Map map) {
    // TODO(learner): kChains elements of this thread in an array of registers:
    // neighbouring threads, neighbouring elements. Each step of a loop, unrolled eight
    // times, moves every chain on by one fmaf (about 16 lines)
}
// #endregion iterate-v3

static void iterate_v3(const float* x,
                       float* y,
                       int64_t n,
                       const Map& map,
                       Variant variant,
                       cudaStream_t stream) {
    static const IterateKernel kKernels[] = {iterate_v3_kernel<1>,
                                             iterate_v3_kernel<2>,
                                             iterate_v3_kernel<4>,
                                             iterate_v3_kernel<8>};
    launch_iterate(kKernels, x, y, n, map, variant, stream);
}

void iterate(const float* x,
             float* y,
             int64_t n,
             const Map& map,
             Variant variant,
             cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the chains are written
    iterate_v3(x, y, n, map, variant, stream);
}
