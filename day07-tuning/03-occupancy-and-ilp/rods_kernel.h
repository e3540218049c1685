/// rods_kernel.h: the kernel of rods.h. occupancy_and_ilp.cu includes it, so that it is
/// compiled with your file.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include "rods.h"

/// Blocks of kRodThreads that a multiprocessor has places for. To promise more is an
/// error of ptxas, or a promise that it ignores.
#if !defined(__CUDA_ARCH__)
inline constexpr int kMostRodBlocks = 8;
#elif __CUDA_ARCH__ == 750
inline constexpr int kMostRodBlocks = 4;
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || \
    __CUDA_ARCH__ >= 1200
inline constexpr int kMostRodBlocks = 6;
#else
inline constexpr int kMostRodBlocks = 8;
#endif

// #region rods
/// One thread, one rod. All indices of `cell` are known once the loops are unrolled:
/// each cell is a register.
///
/// Launch   grid n / kRodThreads, block kRodThreads, no shared memory
///
/// @tparam kBlocks  that are to fit a multiprocessor at once, at least
template <int kBlocks>
__global__ void __launch_bounds__(kRodThreads,
                                  kBlocks < kMostRodBlocks ? kBlocks : kMostRodBlocks)
    rods_kernel(float* rods, int steps, float c) {
    float* mine = rods + int64_t{blockIdx.x} * kRodCells * kRodThreads + threadIdx.x;
    float cell[kRodCells];
#pragma unroll
    for (int j = 0; j < kRodCells; ++j)
        cell[j] = mine[j * kRodThreads];
    for (int step = 0; step < steps; ++step) {
        float left = 0.0f;
#pragma unroll
        for (int j = 0; j < kRodCells; ++j) {
            const float right = j + 1 < kRodCells ? cell[j + 1] : 0.0f;
            const float old = cell[j];
            cell[j] = fmaf(c, fmaf(-2.0f, old, left + right), old);
            left = old;
        }
    }
#pragma unroll
    for (int j = 0; j < kRodCells; ++j)
        mine[j * kRodThreads] = cell[j];
}
// #endregion rods

// #region rolled
/// The same, but for the loops over the cells: registers have no index that could be
/// computed, so that `cell` must live in memory.
///
/// Launch   as rods_kernel
__global__ void __launch_bounds__(kRodThreads)
    rolled_rods_kernel(float* rods, int steps, float c) {
    float* mine = rods + int64_t{blockIdx.x} * kRodCells * kRodThreads + threadIdx.x;
    float cell[kRodCells];
#pragma unroll 1
    for (int j = 0; j < kRodCells; ++j)
        cell[j] = mine[j * kRodThreads];
    for (int step = 0; step < steps; ++step) {
        float left = 0.0f;
#pragma unroll 1
        for (int j = 0; j < kRodCells; ++j) {
            const float right = j + 1 < kRodCells ? cell[j + 1] : 0.0f;
            const float old = cell[j];
            cell[j] = fmaf(c, fmaf(-2.0f, old, left + right), old);
            left = old;
        }
    }
#pragma unroll 1
    for (int j = 0; j < kRodCells; ++j)
        mine[j * kRodThreads] = cell[j];
}
// #endregion rolled

using RodsKernel = void (*)(float* rods, int steps, float c);

/// A variant of the kernel, with its name and its promise.
struct RodInstance {
    RodsKernel kernel;
    const char* name;
    int blocks;
};

static RodInstance instance_of(RodVariant variant) {
    static const RodInstance kInstances[] = {{rods_kernel<1>, "bounds (256, 1)", 1},
                                             {rods_kernel<2>, "bounds (256, 2)", 2},
                                             {rods_kernel<3>, "bounds (256, 3)", 3},
                                             {rods_kernel<4>, "bounds (256, 4)", 4},
                                             {rods_kernel<8>, "bounds (256, 8)", 8},
                                             {rolled_rods_kernel, "not unrolled", 1}};
    return kInstances[static_cast<int>(variant)];
}

const char* name_of(RodVariant variant) {
    return instance_of(variant).name;
}

int promised_blocks(RodVariant variant) {
    return instance_of(variant).blocks;
}

Facts rods_facts(RodVariant variant, int threads, int64_t dynamic_shared) {
    return ask_driver(instance_of(variant).kernel, threads, dynamic_shared);
}

void launch_rods(RodVariant variant,
                 float* rods,
                 int64_t n,
                 int steps,
                 float c,
                 cudaStream_t stream) {
    const wb::Arguments check("launch_rods");
    check.size("n", n)
        .require(n % kRodThreads == 0, "n", n, "a multiple of 256")
        .size("steps", steps)
        .finite("c", c)
        .device("rods", rods, check.product("n * kRodCells", {n, kRodCells}));
    if (n == 0) return;
    const RodsKernel kernel = instance_of(variant).kernel;
    kernel<<<wb::grid_size(n, kRodThreads), kRodThreads, 0, stream>>>(rods, steps, c);
    CUDA_CHECK_LAUNCH();
}
