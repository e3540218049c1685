// occupancy_and_ilp.cu: how much is under way at once, and two kernels that have as
// much of it as they are told.
// #solution
//
// copy_floats_v1 is in copy_01_floats.cuh, all others are here.
//
// <Ladder of="copy_floats" as="occupancy_copy" at="4 loads, 1 block">
//        GB/s  idea                what limits it
//   v1    604  a float at a time   each load waits for the store before it
//   v2  1,550  a float4 at a time  the same, with four times as much under way
//   v3  2,600  all loads first     the registers that hold what was loaded
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
//
// <Ladder of="iterate" as="occupancy_iterate" at="4 chains, 1 block">
//       TFLOP/s  idea                     what limits it
//   v1     2.30  one chain after another  an FMA waits for the one before it
//   v2     8.58  chains side by side      a step of the loop for each round of FMAs
//   v3     47.0  eight steps a round      arithmetic, given enough warps
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "occupancy_and_ilp.h"

#include <wb/arguments.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <algorithm>
#include <cmath>

#include "rods_kernel.h"
#include "variants.h"

// #solution

// #region helpers
/// The smallest multiple of `unit` that is not below `value`, and the largest that is
/// not above it.
static int64_t round_up(int64_t value, int64_t unit) {
    return wb::ceil_div(value, unit) * unit;
}
static int64_t round_down(int64_t value, int64_t unit) {
    return value / unit * unit;
}
// #endregion helpers
// #end

// #region block-limits
Limits block_limits(const Multiprocessor& sm, const Needs& needs) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
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
    // #solution
    const int warps = wb::ceil_div(needs.threads, wb::kWarpSize);
    const int64_t registers_of_a_warp =
        round_up(int64_t{needs.registers} * wb::kWarpSize, kRegisterUnit);
    // What is left over in one quarter is of no use to a warp in another.
    const int64_t warps_of_a_quarter = kRegisters / kQuarters / registers_of_a_warp;
    const int64_t shared =
        round_up(needs.shared_bytes + sm.shared_reserved, sm.shared_unit);
    Limits limits{};
    limits.warps = sm.warps / warps;
    limits.slots = sm.blocks;
    limits.registers = static_cast<int>(warps_of_a_quarter * kQuarters / warps);
    limits.shared =
        shared == 0 ? sm.blocks : static_cast<int>(sm.shared_bytes / shared);
    return limits;
    // #end
    // #starter return {};  // and this one
}
// #endregion block-limits

// #region occupancy
Occupancy occupancy(const Multiprocessor& sm, const Needs& needs) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    // TODO(learner): the smallest of block_limits(), its name, and how many warps that
    // makes (about 8 lines)
    // #solution
    const Limits limits = block_limits(sm, needs);
    const int blocks =
        std::min({limits.warps, limits.slots, limits.registers, limits.shared});
    Limiter limiter = Limiter::shared;
    if (limits.registers == blocks) limiter = Limiter::registers;
    if (limits.slots == blocks) limiter = Limiter::slots;
    if (limits.warps == blocks) limiter = Limiter::warps;
    return {blocks, blocks * wb::ceil_div(needs.threads, wb::kWarpSize), limiter};
    // #end
    // #starter return {};  // and this one
}
// #endregion occupancy

// #region budget
Budget budget(const Multiprocessor& sm, int threads, int blocks) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    const Limits limits = block_limits(sm, {threads, 1, 0});
    wb::Arguments("budget")
        .positive("blocks", blocks)
        .require(blocks <= std::min(limits.warps, limits.slots),
                 "blocks",
                 blocks,
                 "as many as fit by warps and slots");
    // TODO(learner): the same divisions backwards. How many warps are in the fullest
    // quarter, and what may each of them have? Now round down (about 7 lines)
    // #solution
    const int warps = blocks * wb::ceil_div(threads, wb::kWarpSize);
    const int fullest = wb::ceil_div(warps, kQuarters);
    const int64_t of_a_warp =
        round_down(kRegisters / kQuarters / fullest, kRegisterUnit);
    const auto registers = static_cast<int>(of_a_warp / wb::kWarpSize);
    const int64_t shared = round_down(sm.shared_bytes / blocks, sm.shared_unit);
    return {std::min(registers, kRegistersOfAThread), shared - sm.shared_reserved};
    // #end
    // #starter return {};  // and this one
}
// #endregion budget

// #region little
double predicted_rate(const Pipe& pipe, double under_way) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    // TODO(learner): Little's law, and a roof (1 line)
    // #solution
    return std::min(pipe.peak, under_way / pipe.latency);
    // #end
    // #starter return {};  // and this one
}

int independent_needed(const Pipe& pipe, int64_t threads, int size) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("independent_needed")
        .positive("threads", threads)
        .positive("size", size);
    // TODO(learner): what must be under way for the peak, and each thread's share of
    // it: a whole number of operations (about 3 lines)
    // #solution
    const double under_way = pipe.peak * pipe.latency;
    const double share = under_way / (static_cast<double>(threads) * size);
    return std::max(1, static_cast<int>(std::ceil(share)));
    // #end
    // #starter return {};  // and this one
}
// #endregion little

// #solution
#include "copy_01_floats.cuh"

// #region copy-v2
/// copy_floats_v2: 16 bytes at a time, and the n % 4 floats at the end.
///
/// Launch   as copy_floats_v1
template <int kLoads>
__global__ void copy_floats_v2_kernel(const float* x, float* y, int64_t n) {
    const auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    const int64_t first = int64_t{blockIdx.x} * (kLoads * kCopyThreads) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kCopyThreads;
        if (i < n / 4) y4[i] = x4[i];
    }
    const int64_t rest = n / 4 * 4 + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) y[rest] = x[rest];
}
// #endregion copy-v2

static void copy_floats_v2(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    static const CopyKernel kKernels[] = {copy_floats_v2_kernel<1>,
                                          copy_floats_v2_kernel<2>,
                                          copy_floats_v2_kernel<4>,
                                          copy_floats_v2_kernel<8>};
    launch_copy(kKernels, x, y, n, variant, stream);
}
WB_RUNG(copy_floats, copy_floats_v2, "a float4 at a time, one after another");
// #end

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
    // #solution
    const auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    const int64_t first = int64_t{blockIdx.x} * (kLoads * kCopyThreads) + threadIdx.x;
    float4 values[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kCopyThreads;
        if (i < n / 4) values[k] = x4[i];
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kCopyThreads;
        if (i < n / 4) y4[i] = values[k];
    }
    const int64_t rest = n / 4 * 4 + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) y[rest] = x[rest];
    // #end
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
// #solution
WB_RUNG(copy_floats, copy_floats_v3, "all loads first");
// #end

void copy_floats(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the copy is written
    copy_floats_v3(x, y, n, variant, stream);
}

Facts copy_floats_facts(int each, int threads, int64_t ballast) {
    const CopyKernel kernel = instance_of("copy_floats_facts", kCopyKernels, each);
    return ask_driver(kernel, threads, ballast);
}

// #solution
// #region iterate-v1
/// iterate_v1: more work for each thread, but one chain of it after another.
///
/// Launch   grid ceil_div(n, kChains * kIterateThreads), block kIterateThreads
template <int kChains>
__global__ void iterate_v1_kernel(const float* x, float* y, int64_t n, Map map) {
    const int64_t first =
        int64_t{blockIdx.x} * (kChains * kIterateThreads) + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < kChains; ++k) {
        const int64_t i = first + k * kIterateThreads;
        if (i >= n) return;
        float t = x[i];
#pragma unroll 1
        for (int step = 0; step < map.steps; ++step)
            t = fmaf(map.a, t, map.b);
        y[i] = t;
    }
}
// #endregion iterate-v1

static void iterate_v1(const float* x,
                       float* y,
                       int64_t n,
                       const Map& map,
                       Variant variant,
                       cudaStream_t stream) {
    static const IterateKernel kKernels[] = {iterate_v1_kernel<1>,
                                             iterate_v1_kernel<2>,
                                             iterate_v1_kernel<4>,
                                             iterate_v1_kernel<8>};
    launch_iterate(kKernels, x, y, n, map, variant, stream);
}
WB_RUNG(iterate, iterate_v1, "one chain after another");

// #region iterate-v2
/// iterate_v2: the chains of a thread side by side: none waits for another.
///
/// Launch   as iterate_v1
template <int kChains>
__global__ void iterate_v2_kernel(const float* x, float* y, int64_t n, Map map) {
    const int64_t first =
        int64_t{blockIdx.x} * (kChains * kIterateThreads) + threadIdx.x;
    float t[kChains] = {};
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
        const int64_t i = first + k * kIterateThreads;
        if (i < n) t[k] = x[i];
    }
#pragma unroll 1
    for (int step = 0; step < map.steps; ++step) {
#pragma unroll
        for (int k = 0; k < kChains; ++k)
            t[k] = fmaf(map.a, t[k], map.b);
    }
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
        const int64_t i = first + k * kIterateThreads;
        if (i < n) y[i] = t[k];
    }
}
// #endregion iterate-v2

static void iterate_v2(const float* x,
                       float* y,
                       int64_t n,
                       const Map& map,
                       Variant variant,
                       cudaStream_t stream) {
    static const IterateKernel kKernels[] = {iterate_v2_kernel<1>,
                                             iterate_v2_kernel<2>,
                                             iterate_v2_kernel<4>,
                                             iterate_v2_kernel<8>};
    launch_iterate(kKernels, x, y, n, map, variant, stream);
}
WB_RUNG(iterate, iterate_v2, "chains side by side");
// #end

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
    // #solution
    const int64_t first =
        int64_t{blockIdx.x} * (kChains * kIterateThreads) + threadIdx.x;
    float t[kChains] = {};
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
        const int64_t i = first + k * kIterateThreads;
        if (i < n) t[k] = x[i];
    }
#pragma unroll 8
    for (int step = 0; step < map.steps; ++step) {
#pragma unroll
        for (int k = 0; k < kChains; ++k)
            t[k] = fmaf(map.a, t[k], map.b);
    }
#pragma unroll
    for (int k = 0; k < kChains; ++k) {
        const int64_t i = first + k * kIterateThreads;
        if (i < n) y[i] = t[k];
    }
    // #end
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
// #solution
WB_RUNG(iterate, iterate_v3, "eight steps a round of the loop");
// #end

void iterate(const float* x,
             float* y,
             int64_t n,
             const Map& map,
             Variant variant,
             cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the chains are written
    iterate_v3(x, y, n, map, variant, stream);
}
