// bf16_kernels.cuh: given with this exercise: what a step in bf16 does with weights,
// tokens and losses. Threads have eight numbers each, the 16 bytes of one load. Sizes
// are below 2^31, and indices 32 bits wide. There is nothing to write here.
#pragma once

#include <cuda_bf16.h>
#include <wb/elements.h>
#include <wb/launch.h>

#include <cstdint>

#include "angle.cuh"
#include "bf16_step.h"

using Bf16 = __nv_bfloat16;
using Eight = wb::Elements<Bf16, 8>;
using FourFloats = wb::Elements<float, 4>;

/// Threads of a block, of kernels that do the same for each element.
inline constexpr int kBf16Threads = 256;

__device__ __forceinline__ uint32_t thread_of_grid() {
    return blockIdx.x * kBf16Threads + threadIdx.x;
}

// #region weights
/// What the products are given: to[i] = from[i], rounded.
///
/// Launch   a thread for eight elements, block kBf16Threads
/// Traffic  reads 4 B, writes 2 B an element
static __global__ void __launch_bounds__(kBf16Threads)
    narrow_kernel(const float* from,  // [8 count]
                  Bf16* to,           // [8 count]
                  uint32_t count) {
    const uint32_t i = thread_of_grid();
    if (i >= count) return;
    float low[4];
    float high[4];
    FourFloats::load(from + i * 8).unpack(low);
    FourFloats::load(from + i * 8 + 4).unpack(high);
    const float all[8] = {
        low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
    Eight::pack(all).store(to + i * 8);
}
// #endregion weights

// #region tokens
/// A token, or 0 for what is no byte.
__device__ __forceinline__ int32_t byte_of(int32_t token) {
    return token < 0 || token >= wb::model::kVocabulary ? 0 : token;
}

/// x[t] = table[inputs[t]] and targets[t], for t = b * length + i, of tokens[b, i] and
/// tokens[b, i + 1]. A token that is no byte is taken for 0, and adds 1 to *bad, once.
///
/// Launch   a thread for eight numbers of x, block kBf16Threads
static __global__ void __launch_bounds__(kBf16Threads)
    embed_kernel(const int32_t* tokens,  // [batch, length + 1]
                 const Bf16* table,      // [256, width]
                 Bf16* x,                // [rows, width]
                 int32_t* targets,       // [rows]
                 uint32_t rows,
                 uint32_t length,
                 uint32_t width,
                 unsigned long long* bad) {
    const uint32_t i = thread_of_grid();
    const uint32_t each = width / 8;
    const uint32_t t = i / each;
    if (t >= rows) return;
    const uint32_t vector = i % each;
    const int32_t* const mine = tokens + t / length * (length + 1) + t % length;
    const int32_t input = mine[0];
    Eight::load(table + byte_of(input) * width + vector * 8)
        .store(x + t * width + vector * 8);
    if (vector != 0) return;
    const int32_t target = mine[1];
    targets[t] = byte_of(target);
    if (byte_of(input) != input) atomicAdd(bad, 1ull);
    // The last token of a sequence is no input.
    if (t % length == length - 1 && byte_of(target) != target) atomicAdd(bad, 1ull);
}

/// one_hot[r, t] = 1 if the input of t is r, else 0: with it, the gradient of the table
/// is a product, whose sums have one order always.
///
/// Launch   a thread for eight numbers, block kBf16Threads
/// Traffic  writes 512 B a token
static __global__ void __launch_bounds__(kBf16Threads)
    one_hot_kernel(const int32_t* tokens,  // [batch, length + 1]
                   Bf16* one_hot,          // [256, rows]
                   uint32_t rows,
                   uint32_t length) {
    const uint32_t i = thread_of_grid();
    const uint32_t each = rows / 8;
    const uint32_t row = i / each;
    if (row >= wb::model::kVocabulary) return;
    const uint32_t first = i % each * 8;
    float is_row[8];
#pragma unroll
    for (uint32_t k = 0; k < 8; ++k) {
        const uint32_t t = first + k;
        const int32_t token = tokens[t / length * (length + 1) + t % length];
        is_row[k] = byte_of(token) == static_cast<int32_t>(row) ? 1.0f : 0.0f;
    }
    Eight::pack(is_row).store(one_hot + row * rows + first);
}

/// angles[p, j] = angle_of(p, j, rotary).
///
/// Launch   a thread for each pair, block kBf16Threads
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_angles_kernel(float2* angles,  // [length, half]
                       uint32_t length,
                       uint32_t half) {
    const uint32_t i = thread_of_grid();
    if (i >= length * half) return;
    angles[i] = angle_of(i / half, i % half, 2 * half);
}
// #endregion tokens

// #region cross-entropy
/// losses[t] = log(sum over c of exp(logits[t, c])) - logits[t, target], and logits
/// becomes the gradient of the mean of all losses. A warp a row, eight logits a lane.
///
/// Launch   a warp for each row, block kBf16Threads
/// Traffic  reads and writes 512 B a row
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_cross_entropy_kernel(Bf16* logits,            // [rows, 256]
                              const int32_t* targets,  // [rows]
                              float* losses,           // [rows]
                              uint32_t rows) {
    static_assert(wb::model::kVocabulary == 8 * wb::kWarpSize, "eight logits a lane");
    const uint32_t row = thread_of_grid() / wb::kWarpSize;
    const uint32_t lane = threadIdx.x % wb::kWarpSize;
    if (row >= rows) return;  // the whole warp
    Bf16* const mine = logits + row * 256 + lane * 8;
    float r_logit[8];
    Eight::load(mine).unpack(r_logit);
    float most = r_logit[0];
#pragma unroll
    for (int k = 1; k < 8; ++k)
        most = fmaxf(most, r_logit[k]);
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(wb::kAllLanes, most, step));
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        sum += expf(r_logit[k] - most);
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(wb::kAllLanes, sum, step);
    const int target = targets[row] - static_cast<int>(lane) * 8;  // among the eight
    const float share = 1.0f / static_cast<float>(rows);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const float above = r_logit[k] - most;
        if (k == target) losses[row] = logf(sum) - above;
        r_logit[k] = (expf(above) / sum - (k == target ? 1.0f : 0.0f)) * share;
    }
    Eight::pack(r_logit).store(mine);
}

/// *mean = sum of values / count, in the same order each time.
///
/// Launch   one block of kBf16Threads
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_mean_kernel(const float* values,  // [count]
                     uint32_t count,
                     float* mean) {
    __shared__ double s_sums[kBf16Threads];
    const uint32_t tid = threadIdx.x;
    double sum = 0.0;
    for (uint32_t i = tid; i < count; i += kBf16Threads)
        sum += double{values[i]};
    s_sums[tid] = sum;
    for (uint32_t half = kBf16Threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (tid < half) s_sums[tid] += s_sums[tid + half];
    }
    if (tid == 0) *mean = static_cast<float>(s_sums[0] / static_cast<double>(count));
}
// #endregion cross-entropy
