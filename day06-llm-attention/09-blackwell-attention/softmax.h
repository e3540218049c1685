// softmax.h: given with this exercise: what the four warps do whose threads have a row
// each. Tensor memory makes that simple: lane i is row i, and a thread can read all of
// it.
#pragma once

#include <wb/ptx/exp2.h>

#include <cmath>

#include "blackwell_attention.h"
#include "tiles.h"

/// The row of o at which a thread's results go.
__device__ __forceinline__ int64_t output_row(const Problem& problem,
                                              const Work& work,
                                              int row) {
    return (int64_t{work.sequence} * problem.query_heads + work.head) *
               problem.queries +
           work.row + row;
}

/// A row that sees no key.
template <int D>
__device__ void write_no_keys(const Problem& problem, const Work& work, int row) {
    if (work.row + row >= problem.queries) return;
    const int64_t at = output_row(problem, work, row);
    auto* const o = reinterpret_cast<uint4*>(problem.o + at * D);
    for (int i = 0; i < D / 8; ++i)
        o[i] = make_uint4(0, 0, 0, 0);
    if (problem.lse != nullptr) problem.lse[at] = -INFINITY;
}

/// Two floats as bfloat16, `low` in the lower half.
__device__ __forceinline__ uint32_t pack(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return static_cast<uint32_t>(__bfloat16_as_ushort(pair.x)) |
           static_cast<uint32_t>(__bfloat16_as_ushort(pair.y)) << 16;
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
                                             const Work& work,
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
                return pack(__uint_as_float(r[8 * k + e]) * factor,
                            __uint_as_float(r[8 * k + e + 1]) * factor);
            };
            const uint4 eight = make_uint4(two(0), two(2), two(4), two(6));
            if (inside) reinterpret_cast<uint4*>(problem.o + at * D + i)[k] = eight;
        }
    }
    if (inside && problem.lse != nullptr)
        problem.lse[at] = sum > 0.0f ? (max + log2f(sum)) * 0.69314718f : -INFINITY;
}

// #region softmax
/// Reads scores from tensor memory, writes weights to it, and keeps o at one scale.
///
/// @tparam Packing  the learner's functions
template <int D, class Packing>
__device__ void make_weights(const Problem& problem, const Work& work, Shared<D>& s) {
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
            wb::ptx::tcgen05_ld(score[i],
                                columns(kScoreColumns + j % 2 * kKeys + 32 * i));
        wb::ptx::tcgen05_wait_ld();
        const int visible = limit - j * kKeys;
        float new_max = max;
#pragma unroll
        for (int i = 0; i < kKeys; ++i) {
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
            if (__any_sync(0xffffffffu, factor != 1.0f))
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
                weights[i] = pack(low, high);
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
