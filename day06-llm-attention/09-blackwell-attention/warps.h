// warps.h: given with this exercise: the kernel. Six warps of a block do three things:
// warp 4 loads tiles, warp 5 issues products, warps 0 to 3 make weights of scores. Of
// these each thread has a row. Tensor memory makes that simple: lane i is row i, and a
// thread can read all of it.
#pragma once

#include <wb/online_softmax.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/pack.h>
#include <wb/ptx/tcgen05.h>
#include <wb/ptx/tma.h>

#include <cmath>
#include <cstdint>

#include "blackwell_attention.h"
#include "tiles.h"

/// The row of o at which a thread's results go.
__device__ __forceinline__ int64_t output_row(const Problem& problem,
                                              const TileWork& work,
                                              int row) {
    return (int64_t{work.sequence} * problem.query_heads + work.head) *
               problem.queries +
           work.row + row;
}

/// A row that sees no key.
template <int D>
__device__ void write_no_keys(const Problem& problem, const TileWork& work, int row) {
    if (work.row + row >= problem.queries) return;
    const int64_t at = output_row(problem, work, row);
    auto* const o = reinterpret_cast<uint4*>(problem.o + at * D);
    for (int i = 0; i < D / 8; ++i)
        o[i] = make_uint4(0, 0, 0, 0);
    if (problem.lse != nullptr) problem.lse[at] = -INFINITY;
}

/// Waits for a phase, and then for the lanes of the warp, which may have left the loop
/// of the wait one by one: loads and stores of tensor memory are made by whole warps.
__device__ __forceinline__ void wait_together(wb::ptx::Mbarrier* barrier,
                                              unsigned parity) {
    wb::ptx::mbarrier_wait(barrier, parity);
    __syncwarp();
    wb::ptx::tcgen05_fence_after_sync();
}

/// Multiplies the thread's row of o in tensor memory by `factor`.
template <int D>
__device__ __forceinline__ void rescale(uint32_t output, float factor) {
#pragma unroll
    for (int i = 0; i < D; i += 32) {
        uint32_t r[32];
        wb::ptx::tcgen05_ld(r, output + i);
        wb::ptx::tcgen05_wait_ld();
        wb::ptx::tcgen05_keep(r);
#pragma unroll
        for (uint32_t& bits : r)
            bits = __float_as_uint(__uint_as_float(bits) * factor);
        wb::ptx::tcgen05_st(output + i, r);
    }
    wb::ptx::tcgen05_wait_st();
}

/// Writes o, divided by the sum of the weights.
template <int D>
__device__ __forceinline__ void write_output(const Problem& problem,
                                             const TileWork& work,
                                             int row,
                                             uint32_t output,
                                             float sum,
                                             float max) {
    const bool inside = work.row + row < problem.queries;
    const int64_t at = output_row(problem, work, row);
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
#pragma unroll
    for (int i = 0; i < D; i += 32) {
        uint32_t r[32];
        __syncwarp();  // by whole warps, also for rows past the end
        wb::ptx::tcgen05_ld(r, output + i);
        wb::ptx::tcgen05_wait_ld();
        wb::ptx::tcgen05_keep(r);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const auto two = [&](int e) {
                return wb::ptx::pack<__nv_bfloat16>(
                    __uint_as_float(r[8 * k + e]) * factor,
                    __uint_as_float(r[8 * k + e + 1]) * factor);
            };
            const uint4 eight = make_uint4(two(0), two(2), two(4), two(6));
            if (inside) reinterpret_cast<uint4*>(problem.o + at * D + i)[k] = eight;
        }
    }
    if (inside && problem.lse != nullptr)
        problem.lse[at] =
            sum == 0.0f ? -INFINITY : (max + log2f(sum)) * static_cast<float>(wb::kLn2);
}

// #region softmax
/// Reads scores from tensor memory, writes weights to it, and keeps o at one scale.
///
/// @tparam Packing  the learner's functions
template <int D, class Packing>
__device__ void make_weights(const Problem& problem,
                             const TileWork& work,
                             Shared<D>& s) {
    const int row = threadIdx.x;
    const int lane = row / 32 * 32;  // the first lane that this warp may access
    const auto columns = [&](int first) {
        return Packing::tensor_address(s.columns, lane, first);
    };
    const int limit = key_limit(problem, work.row + row);
    float max = -INFINITY;  // of scores, times scale * log2(e)
    float sum = 0.0f;
    for (int j = 0; j < work.tiles; ++j) {
        wait_together(&s.scores_full[j % 2], j / 2 % 2);
        uint32_t score[4][32];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            wb::ptx::tcgen05_ld(score[i], columns(kScoreColumns + j % 2 * BN + 32 * i));
        wb::ptx::tcgen05_wait_ld();
        const int visible = limit - j * BN;
        float new_max = max;
#pragma unroll
        for (int i = 0; i < BN; ++i) {
            if (i % 32 == 0) wb::ptx::tcgen05_keep(score[i / 32]);
            if (i < visible)
                new_max =
                    fmaxf(new_max,
                          __uint_as_float(score[i / 32][i % 32]) * problem.scale_log2);
        }
        // A row that has not seen any key yet: any number will do but infinity.
        const float shift = new_max == -INFINITY ? 0.0f : new_max;
        const float factor = wb::ptx::exp2_approx(max - shift);
        sum *= factor;
        max = new_max;
        if (j > 0) {
            // Products of the tile before: o has its sum, the weights are read.
            wait_together(&s.output_full, (j - 1) % 2);
            if (__any_sync(wb::kAllLanes, factor != 1.0f))
                rescale<D>(columns(kOutputColumns), factor);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            uint32_t weights[32];
#pragma unroll
            for (int i = 0; i < 32; ++i) {
                const auto weight = [&](int key) {
                    if (key >= visible) return 0.0f;
                    return wb::ptx::exp2_approx(
                        fmaf(__uint_as_float(score[key / 32][key % 32]),
                             problem.scale_log2,
                             -shift));
                };
                const float low = weight(64 * half + 2 * i);
                const float high = weight(64 * half + 2 * i + 1);
                sum += low + high;
                weights[i] = wb::ptx::pack<__nv_bfloat16>(low, high);
            }
            wb::ptx::tcgen05_st(columns(kWeightColumns + 32 * half), weights);
        }
        wb::ptx::tcgen05_wait_st();
        wb::ptx::tcgen05_fence_before_sync();
        wb::ptx::mbarrier_arrive(&s.weights_full);
    }
    wait_together(&s.output_full, (work.tiles - 1) % 2);
    write_output<D>(problem, work, row, columns(kOutputColumns), sum, max);
}
// #endregion softmax

/// One thread asks the TMA unit for the tiles of K and V, two of each ahead.
template <int D>
__device__ void load_tiles(const TensorMaps& maps, const TileWork& work, Shared<D>& s) {
    const auto load = [&](char* tile,
                          const wb::ptx::TensorMap& map,
                          wb::ptx::Mbarrier* full,
                          int row,
                          int head) {
        wb::ptx::mbarrier_expect(full, Shared<D>::kTileBytes);
        for (int panel = 0; panel < D / kPanel; ++panel)
            wb::ptx::tma_load(tile + panel * BM * 128,
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
        load(s.k[stage], maps.k, &s.k_full[stage], j * BN, work.kv_head);
        wb::ptx::mbarrier_wait(&s.v_empty[stage], parity ^ 1);
        load(s.v[stage], maps.v, &s.v_full[stage], j * BN, work.kv_head);
    }
}

// #region products
/// One thread issues all products: S = Q K^T of the next tile before O += P V of this
/// one, so that the tensor cores have work while the weights are made.
///
/// @tparam Packing  the learner's functions
template <int D, class Packing>
__device__ void issue_products(const TileWork& work, Shared<D>& s) {
    const uint32_t scores_type =
        Packing::instruction_descriptor(BM, BN, Element::bfloat16, false, false);
    const uint32_t output_type =
        Packing::instruction_descriptor(BM, D, Element::bfloat16, false, true);
    const auto multiply_qk = [&](int j) {
        const int stage = j % kStages;
        wb::ptx::mbarrier_wait(&s.k_full[stage], j / kStages % 2);
        wb::ptx::tcgen05_fence_after_sync();
        const uint32_t scores =
            Packing::tensor_address(s.columns, 0, kScoreColumns + j % 2 * BN);
        for (int step = 0; step < D / 16; ++step) {
            const auto descriptor = [&](const char* tile) {
                return Packing::shared_descriptor(
                    wb::ptx::shared_address(tile) + Packing::key_step_bytes(BM, step),
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
        for (int step = 0; step < BN / 16; ++step) {
            const int column = Packing::weight_place(0, 16 * step).column;
            wb::ptx::tcgen05_mma_ts(
                output,
                Packing::tensor_address(s.columns, 0, kWeightColumns + column),
                // N-major: 16 rows of 128 bytes further on, the next panel of 64
                // columns after all rows of this one.
                Packing::shared_descriptor(
                    wb::ptx::shared_address(s.v[stage]) + step * 16 * 128,
                    BN * 128,
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
    const TileWork work = work_of(problem, static_cast<int>(blockIdx.x));
    if (work.tiles == 0) {
        if (threadIdx.x < BM) write_no_keys<D>(problem, work, threadIdx.x);
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
