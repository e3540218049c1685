// forward.h: given with this exercise: the kernel. Six warps of a block do three
// things: warp 4 loads tiles, warp 5 issues products, warps 0 to 3 make weights of
// scores.
#pragma once

#include <cmath>

#include "softmax.h"
#include "tiles.h"

/// One thread asks the TMA unit for the tiles of K and V, two of each ahead.
template <int D>
__device__ void load_tiles(const TensorMaps& maps, const Work& work, Shared<D>& s) {
    const auto load = [&](char* tile,
                          const wb::ptx::TensorMap& map,
                          wb::ptx::Mbarrier* full,
                          int row,
                          int head) {
        wb::ptx::mbarrier_expect(full, Shared<D>::kTileBytes);
        for (int panel = 0; panel < D / kPanel; ++panel)
            wb::ptx::tma_load(tile + panel * kRows * 128,
                              &map,
                              full,
                              panel * kPanel,
                              row,
                              head,
                              work.sequence);
    };
    load(s.q, maps.q, &s.q_full, work.row, work.head);
    for (int j = 0; j < work.tiles; ++j) {
        const int stage = j % kStages;
        const unsigned parity = j / kStages % 2;
        wb::ptx::mbarrier_wait(&s.k_empty[stage], parity ^ 1);
        load(s.k[stage], maps.k, &s.k_full[stage], j * kKeys, work.kv_head);
        wb::ptx::mbarrier_wait(&s.v_empty[stage], parity ^ 1);
        load(s.v[stage], maps.v, &s.v_full[stage], j * kKeys, work.kv_head);
    }
}

// #region products
/// One thread issues all products: S = Q K^T of the next tile before O += P V of this
/// one, so that the tensor cores have work while the weights are made.
///
/// @tparam Packing  the learner's functions
template <int D, class Packing>
__device__ void issue_products(const Work& work, Shared<D>& s) {
    const uint32_t scores_type =
        Packing::instruction_descriptor(kRows, kKeys, Element::bfloat16, false, false);
    const uint32_t output_type =
        Packing::instruction_descriptor(kRows, D, Element::bfloat16, false, true);
    const auto multiply_qk = [&](int j) {
        const int stage = j % kStages;
        wb::ptx::mbarrier_wait(&s.k_full[stage], j / kStages % 2);
        wb::ptx::tcgen05_fence_after_sync();
        const uint32_t scores =
            Packing::tensor_address(s.columns, 0, kScoreColumns + j % 2 * kKeys);
        for (int step = 0; step < D / 16; ++step) {
            const auto descriptor = [&](const char* tile) {
                return Packing::shared_descriptor(
                    wb::ptx::shared_address(tile) +
                        Packing::key_step_bytes(kRows, step),
                    16,  // not used by swizzled K-major matrices
                    8 * 128,
                    Swizzle::bytes_128);
            };
            wb::ptx::tcgen05_mma_ss(
                scores, descriptor(s.q), descriptor(s.k[stage]), scores_type, step > 0);
        }
        wb::ptx::tcgen05_commit(&s.k_empty[stage]);
        wb::ptx::tcgen05_commit(&s.scores_full[j % 2]);
    };
    wb::ptx::mbarrier_wait(&s.q_full, 0);
    multiply_qk(0);
    const uint32_t output = Packing::tensor_address(s.columns, 0, kOutputColumns);
    for (int j = 0; j < work.tiles; ++j) {
        // The scores two tiles ahead overwrite those that weights_full said were read.
        if (j + 1 < work.tiles) multiply_qk(j + 1);
        const int stage = j % kStages;
        wb::ptx::mbarrier_wait(&s.weights_full, j % 2);
        wb::ptx::mbarrier_wait(&s.v_full[stage], j / kStages % 2);
        wb::ptx::tcgen05_fence_after_sync();
        for (int step = 0; step < kKeys / 16; ++step) {
            const int column = Packing::weight_place(0, 16 * step).column;
            wb::ptx::tcgen05_mma_ts(
                output,
                Packing::tensor_address(s.columns, 0, kWeightColumns + column),
                // N-major: 16 rows of 128 bytes further on, the next panel of 64
                // columns after all rows of this one.
                Packing::shared_descriptor(
                    wb::ptx::shared_address(s.v[stage]) + step * 16 * 128,
                    kKeys * 128,
                    8 * 128,
                    Swizzle::bytes_128),
                output_type,
                j > 0 || step > 0);
        }
        wb::ptx::tcgen05_commit(&s.v_empty[stage]);
        wb::ptx::tcgen05_commit(&s.output_full);
    }
}
// #endregion products

template <int D>
__device__ void make_barriers(Shared<D>& s) {
    using wb::ptx::mbarrier_init;
    mbarrier_init(&s.q_full, 1);
    for (int i = 0; i < kStages; ++i) {
        mbarrier_init(&s.k_full[i], 1);
        mbarrier_init(&s.k_empty[i], 1);
        mbarrier_init(&s.v_full[i], 1);
        mbarrier_init(&s.v_empty[i], 1);
        mbarrier_init(&s.scores_full[i], 1);
    }
    mbarrier_init(&s.weights_full, kSoftmaxThreads);
    mbarrier_init(&s.output_full, 1);
    wb::ptx::mbarrier_init_fence();
}

// #region kernel
/// The forward pass: a block for 128 rows of one head.
///
/// Launch   grid row tiles * heads, block kThreads, dynamic shared memory
///          Shared<D>::kBytes
template <int D, class Packing>
__global__ void __launch_bounds__(kThreads, 1)
    forward_kernel(const __grid_constant__ TensorMaps maps, const Problem problem) {
    extern __shared__ char raw[];
    // Swizzling goes by the address: tiles begin at multiples of 1024.
    const auto address = reinterpret_cast<uintptr_t>(raw);
    auto& s = *reinterpret_cast<Shared<D>*>(raw + (1024 - address % 1024) % 1024);
    const Work work = work_of(problem, static_cast<int>(blockIdx.x));
    if (work.tiles == 0) {
        if (threadIdx.x < kRows) write_no_keys<D>(problem, work, threadIdx.x);
        return;
    }
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0) make_barriers(s);
    if (warp == 5) wb::ptx::tcgen05_alloc<kColumns>(&s.columns);
    wb::ptx::tcgen05_fence_before_sync();
    __syncthreads();
    wb::ptx::tcgen05_fence_after_sync();
    if (warp == 4) {
        if (threadIdx.x % 32 == 0) load_tiles<D>(maps, work, s);
    } else if (warp == 5) {
        if (threadIdx.x % 32 == 0) issue_products<D, Packing>(work, s);
    } else {
        make_weights<D, Packing>(problem, work, s);
    }
    wb::ptx::tcgen05_fence_before_sync();
    __syncthreads();
    wb::ptx::tcgen05_fence_after_sync();
    if (warp == 5) wb::ptx::tcgen05_dealloc<kColumns>(s.columns);
}
// #endregion kernel
