// bf16_kernels.cuh: given with this exercise: what a step in bf16 does beside products,
// norms and attention. Threads have eight numbers each, the 16 bytes of one load. Sizes
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

/// The gradients of matrices and norms join those of biases: to[i] += from[i]. Where
/// one of the two has something, the other is 0.
///
/// Launch   a thread for eight elements, block kBf16Threads
/// Traffic  reads 6 B, writes 4 B an element
static __global__ void __launch_bounds__(kBf16Threads)
    widen_kernel(const Bf16* from,  // [8 count]
                 float* to,         // [8 count]
                 uint32_t count) {
    const uint32_t i = thread_of_grid();
    if (i >= count) return;
    float added[8];
    Eight::load(from + i * 8).unpack(added);
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        float sum[4];
        FourFloats::load(to + i * 8 + part * 4).unpack(sum);
#pragma unroll
        for (int k = 0; k < 4; ++k)
            sum[k] += added[part * 4 + k];
        FourFloats::pack(sum).store(to + i * 8 + part * 4);
    }
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

// #region heads
/// Sizes of arrays by heads, [batch, heads, length, D], and by tokens. Numbers of a
/// head come in vectors of eight.
struct Bf16Heads {
    uint32_t batch, heads, length;
    uint32_t head_dim;  ///< numbers of a head
    uint32_t D;         ///< 64 or 128; zeros behind the head's numbers
    uint32_t rotary;  ///< the first numbers of a head that turn: i with i + rotary / 2

    __host__ __device__ uint32_t tokens() const { return batch * length; }
    __host__ __device__ uint32_t width() const { return heads * head_dim; }
};

/// A vector of a head of a token.
struct HeadVector {
    uint32_t token, head, d;  ///< d: its first number, of D

    /// @param i  counts them by tokens, then heads, then d
    __device__ HeadVector(const Bf16Heads& h, uint32_t i)
        : token(i / (h.D / 8) / h.heads),
          head(i / (h.D / 8) % h.heads),
          d(i % (h.D / 8) * 8) {}

    __device__ uint32_t by_heads(const Bf16Heads& h) const {
        const uint32_t b = token / h.length;
        return ((b * h.heads + head) * h.length + token % h.length) * h.D + d;
    }
    __device__ uint32_t by_tokens(const Bf16Heads& h) const {
        return token * h.width() + head * h.head_dim + d;
    }
};

/// Eight numbers that turn with the eight that are rotary / 2 away.
///
/// @param row      the head's numbers
/// @param angles   [rotary / 2] of the token's position
/// @param forward  1, or -1 to turn back
__device__ __forceinline__ Eight turned(
    const Bf16* row, uint32_t d, uint32_t rotary, const float2* angles, float forward) {
    const Eight mine = Eight::load(row + d);
    if (d >= rotary) return mine;
    const uint32_t half = rotary / 2;
    const bool is_first = d < half;
    float a[8];
    float b[8];
    mine.unpack(a);
    Eight::load(row + (is_first ? d + half : d - half)).unpack(b);
    const float2* const angle = angles + (is_first ? d : d - half);
    const float side = is_first ? -forward : forward;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        a[k] = a[k] * angle[k].x + side * b[k] * angle[k].y;
    return Eight::pack(a);
}

/// q, k and v by heads, from qkv by tokens; q and k turn by the angles of the position.
///
/// Launch   grid (a thread for each vector, 3), block kBf16Threads
/// Traffic  reads qkv, and writes q, k, v: 6 B a number and token each
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_split_heads_kernel(const Bf16Heads h,
                            const Bf16* qkv,       // [tokens, 3 width]
                            const float2* angles,  // [length, rotary / 2]
                            Bf16* q,               // [batch, heads, length, D]
                            Bf16* k,
                            Bf16* v) {
    const HeadVector at(h, thread_of_grid());
    if (at.token >= h.tokens()) return;
    const uint32_t part = blockIdx.y;
    Bf16* const out = (part == 0 ? q : part == 1 ? k : v) + at.by_heads(h);
    if (at.d >= h.head_dim) {
        Eight{make_uint4(0, 0, 0, 0)}.store(out);
        return;
    }
    const Bf16* const row =
        qkv + (at.token * 3 + part) * h.width() + at.head * h.head_dim;
    const uint32_t rotary = part == 2 ? 0 : h.rotary;
    const float2* const angle = angles + at.token % h.length * (h.rotary / 2);
    turned(row, at.d, rotary, angle, 1.0f).store(out);
}

/// The gradient of qkv: what was turned is turned back.
///
/// Launch   grid (a thread for each vector, 3), block kBf16Threads
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_split_heads_backward_kernel(const Bf16Heads h,
                                     const Bf16* d_q,  // [batch, heads, length, D]
                                     const Bf16* d_k,
                                     const Bf16* d_v,
                                     const float2* angles,  // [length, rotary / 2]
                                     Bf16* d_qkv) {         // [tokens, 3 width]
    const HeadVector at(h, thread_of_grid());
    if (at.token >= h.tokens() || at.d >= h.head_dim) return;
    const uint32_t part = blockIdx.y;
    const Bf16* const row = (part == 0   ? d_q
                             : part == 1 ? d_k
                                         : d_v) +
                            at.by_heads(h) - at.d;
    const uint32_t rotary = part == 2 ? 0 : h.rotary;
    const float2* const angle = angles + at.token % h.length * (h.rotary / 2);
    turned(row, at.d, rotary, angle, -1.0f)
        .store(d_qkv + (at.token * 3 + part) * h.width() + at.head * h.head_dim + at.d);
}

/// From heads to tokens, to = from, or back.
///
/// @tparam kBack  from is by tokens, to by heads; zeros behind a head's numbers
///
/// Launch   a thread for each vector, block kBf16Threads
template <bool kBack>
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_merge_heads_kernel(const Bf16Heads h,
                            const Bf16* from,  // [batch, heads, length, D]
                            Bf16* to) {        // [tokens, width]
    const HeadVector at(h, thread_of_grid());
    if (at.token >= h.tokens()) return;
    const bool is_number = at.d < h.head_dim;
    if constexpr (kBack) {
        Eight numbers = {make_uint4(0, 0, 0, 0)};
        if (is_number) numbers = Eight::load(from + at.by_tokens(h));
        numbers.store(to + at.by_heads(h));
    } else if (is_number) {
        Eight::load(from + at.by_heads(h)).store(to + at.by_tokens(h));
    }
}
// #endregion heads

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

// #region transpose
/// Rows and columns of a tile.
inline constexpr int kTurn = 64;

/// to[c, t] = from[t, c], and the sums of the tile's columns: what the gradient of a
/// matrix needs of dy, and what the gradient of its bias needs, in one pass.
///
/// Shared memory has rows of 66 numbers, 33 words: the eight rows that eight lanes read
/// at once lie in different banks, but for two and two of them.
///
/// Launch   grid (ceil_div(columns, kTurn), ceil_div(rows, kTurn)), block kBf16Threads
/// Traffic  reads and writes 2 B an element
static __global__ void __launch_bounds__(kBf16Threads)
    turn_kernel(const Bf16* from,  // [rows, columns], both multiples of 8
                uint32_t rows,
                uint32_t columns,
                Bf16* to,        // [columns, rows]
                float* parts) {  // [ceil_div(rows, kTurn), columns], or null: no sums
    constexpr uint32_t kWords = kTurn / 2 + 1;  // of a row
    constexpr uint32_t kVectors = kTurn / 8;
    __shared__ uint32_t s_tile[kTurn * kWords];
    __shared__ float s_sums[kBf16Threads];
    const uint32_t tid = threadIdx.x;
    const uint32_t first_row = blockIdx.y * kTurn;
    const uint32_t first_col = blockIdx.x * kTurn;
#pragma unroll
    for (uint32_t i = tid; i < kTurn * kVectors; i += kBf16Threads) {
        const uint32_t row = i / kVectors;
        const uint32_t col = i % kVectors * 8;
        uint4 words = make_uint4(0, 0, 0, 0);
        if (first_row + row < rows && first_col + col < columns)
            words =
                Eight::load(from + (first_row + row) * columns + first_col + col).words;
        uint32_t* const s_words = s_tile + row * kWords + col / 2;
        s_words[0] = words.x;
        s_words[1] = words.y;
        s_words[2] = words.z;
        s_words[3] = words.w;
    }
    __syncthreads();
    const auto bits = [&](uint32_t row, uint32_t col) {
        return s_tile[row * kWords + col / 2] >> (col % 2 * 16) & 0xFFFFu;
    };
#pragma unroll
    for (uint32_t i = tid; i < kTurn * kVectors; i += kBf16Threads) {
        const uint32_t col = i / kVectors;
        const uint32_t row = i % kVectors * 8;
        if (first_row + row >= rows || first_col + col >= columns) continue;
        uint32_t word[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k)
            word[k] = bits(row + 2 * k, col) | bits(row + 2 * k + 1, col) << 16;
        const Eight turned_vector = {make_uint4(word[0], word[1], word[2], word[3])};
        turned_vector.store(to + (first_col + col) * rows + first_row + row);
    }
    if (parts == nullptr) return;  // the whole block
    // Four threads share a column.
    const uint32_t col = tid % kTurn;
    constexpr uint32_t kEach = kTurn * kTurn / kBf16Threads;
    float sum = 0.0f;
#pragma unroll
    for (uint32_t k = 0; k < kEach; ++k)
        sum += __uint_as_float(bits(tid / kTurn * kEach + k, col) << 16);
    s_sums[tid] = sum;
    __syncthreads();
    if (tid >= kTurn || first_col + col >= columns) return;
    for (uint32_t other = tid + kTurn; other < kBf16Threads; other += kTurn)
        sum += s_sums[other];
    parts[blockIdx.y * columns + first_col + col] = sum;
}
// #endregion transpose

// #region add
/// d += a, or a + b.
///
/// Launch   a thread for eight elements, block kBf16Threads
/// Traffic  reads 4 B or 6 B an element, writes 2 B
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_add_kernel(Bf16* d,        // [8 count]
                    const Bf16* a,  // [8 count]
                    const Bf16* b,  // [8 count], or null: 0
                    uint32_t count) {
    const uint32_t i = thread_of_grid();
    if (i >= count) return;
    float sum[8];
    float other[8];
    Eight::load(d + i * 8).unpack(sum);
    Eight::load(a + i * 8).unpack(other);
#pragma unroll
    for (int k = 0; k < 8; ++k)
        sum[k] += other[k];
    if (b != nullptr) {
        Eight::load(b + i * 8).unpack(other);
#pragma unroll
        for (int k = 0; k < 8; ++k)
            sum[k] += other[k];
    }
    Eight::pack(sum).store(d + i * 8);
}
// #endregion add
