/// block_parts.h: the parts of the block that one GPU computes alone. They are given:
/// the chapter is about what happens between them. One source file of a program
/// includes this.
///
/// The kernels are plain ones in float, far from what days 4 and 6 reach.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cstdint>

#include "multi_gpu.h"

/// What a product does to its result.
enum class After { nothing, gelu };

constexpr int kTile = 64;             // rows and columns of a block's tile
constexpr int kInner = 16;            // of the inner dimension at a time
constexpr int kEach = 4;              // rows and columns of a thread
constexpr int kProductThreads = 256;  // 16 x 16

/// C = after(A B), or C = after(A B) + add: a tile of 64 x 64 a block (day 4, chapter
/// 1).
///
/// Launch   grid (ceil_div(columns, 64), ceil_div(rows, 64)), block 256
static __global__ void product_kernel(const float* A,    // [rows, inner]
                                      const float* B,    // [inner, columns]
                                      const float* add,  // [rows, columns] or null
                                      float* C,          // [rows, columns]
                                      int64_t rows,
                                      int64_t inner,
                                      int64_t columns,
                                      After after) {
    __shared__ float s_a[kInner][kTile + 1];
    __shared__ float s_b[kInner][kTile];
    const int64_t first_row = int64_t{blockIdx.y} * kTile;
    const int64_t first_column = int64_t{blockIdx.x} * kTile;
    const int ty = static_cast<int>(threadIdx.x) / 16;
    const int tx = static_cast<int>(threadIdx.x) % 16;
    float sum[kEach][kEach] = {};
    for (int64_t from = 0; from < inner; from += kInner) {
        for (int i = static_cast<int>(threadIdx.x); i < kTile * kInner;
             i += kProductThreads) {
            const int64_t row = first_row + i / kInner;
            const int64_t k = from + i % kInner;
            s_a[i % kInner][i / kInner] =
                row < rows && k < inner ? A[row * inner + k] : 0.0f;
            const int64_t k_b = from + i / kTile;
            const int64_t column = first_column + i % kTile;
            s_b[i / kTile][i % kTile] =
                k_b < inner && column < columns ? B[k_b * columns + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kInner; ++k) {
            float a[kEach];
            float b[kEach];
            for (int i = 0; i < kEach; ++i) {
                a[i] = s_a[k][ty + 16 * i];
                b[i] = s_b[k][tx + 16 * i];
            }
            for (int m = 0; m < kEach; ++m)
                for (int n = 0; n < kEach; ++n)
                    sum[m][n] = fmaf(a[m], b[n], sum[m][n]);
        }
        __syncthreads();
    }
    for (int m = 0; m < kEach; ++m)
        for (int n = 0; n < kEach; ++n) {
            const int64_t row = first_row + ty + 16 * m;
            const int64_t column = first_column + tx + 16 * n;
            if (row >= rows || column >= columns) continue;
            float value = sum[m][n];
            if (after == After::gelu)
                value = 0.5f * value * (1.0f + erff(value * 0.70710678f));
            const int64_t i = row * columns + column;
            C[i] = add ? value + add[i] : value;
        }
}

static void launch_product(const float* A,
                           const float* B,
                           const float* add,
                           float* C,
                           int64_t rows,
                           int64_t inner,
                           int64_t columns,
                           After after,
                           cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(wb::ceil_div(columns, int64_t{kTile})),
                    static_cast<unsigned>(wb::ceil_div(rows, int64_t{kTile})));
    product_kernel<<<grid, kProductThreads, 0, stream>>>(
        A, B, add, C, rows, inner, columns, after);
    CUDA_CHECK_LAUNCH();
}

constexpr int kQueries = 16;  // of a block
constexpr int kLanes = 8;     // threads of a query
constexpr int kKeys = 32;     // at a time

/// Causal attention of some heads, with the online softmax of day 6: eight threads for
/// a query of a head, each with every eighth element of its result.
///
/// Launch   grid (ceil_div(tokens, 16), heads), block 128; D <= kMaxHeadDim
static __global__ void attention_kernel(const float* qkv,  // [tokens, 3, heads, D]
                                        float* o,          // [tokens, heads, D]
                                        int64_t tokens,
                                        int64_t heads,
                                        int D,
                                        float scale) {
    __shared__ float s_q[kQueries][kMaxHeadDim];
    __shared__ float s_k[kKeys][kMaxHeadDim + 1];
    __shared__ float s_v[kKeys][kMaxHeadDim];
    __shared__ float s_p[kQueries][kKeys];
    const int tid = static_cast<int>(threadIdx.x);
    const int lane = tid % kLanes;
    const int row = tid / kLanes;
    const int64_t width = heads * D;
    const float* const g_head = qkv + blockIdx.y * D;
    const int64_t first = int64_t{blockIdx.x} * kQueries;
    const int64_t query = first + row;
    for (int i = tid; i < kQueries * D; i += kQueries * kLanes) {
        const int64_t token = first + i / D;
        s_q[i / D][i % D] = token < tokens ? g_head[token * 3 * width + i % D] : 0.0f;
    }
    float max = -INFINITY;
    float sum = 0.0f;
    float r_o[kMaxHeadDim / kLanes] = {};
    for (int64_t from = 0; from < first + kQueries && from < tokens; from += kKeys) {
        __syncthreads();  // the keys before have been read
        for (int i = tid; i < kKeys * D; i += kQueries * kLanes) {
            const int64_t token = from + i / D;
            const float* const g_k = g_head + (token * 3 + 1) * width + i % D;
            s_k[i / D][i % D] = token < tokens ? g_k[0] : 0.0f;
            s_v[i / D][i % D] = token < tokens ? g_k[width] : 0.0f;
        }
        __syncthreads();
        float score[kKeys / kLanes];
        float larger = max;
        for (int i = 0; i < kKeys / kLanes; ++i) {
            const int key = lane + kLanes * i;
            float dot = 0.0f;
            for (int d = 0; d < D; ++d)
                dot = fmaf(s_q[row][d], s_k[key][d], dot);
            score[i] = from + key <= query ? dot * scale : -INFINITY;
            larger = fmaxf(larger, score[i]);
        }
        for (int step = kLanes / 2; step > 0; step /= 2)
            larger = fmaxf(larger, __shfl_xor_sync(wb::kAllLanes, larger, step));
        float added = 0.0f;
        for (int i = 0; i < kKeys / kLanes; ++i) {
            const float weight = expf(score[i] - larger);
            s_p[row][lane + kLanes * i] = weight;
            added += weight;
        }
        for (int step = kLanes / 2; step > 0; step /= 2)
            added += __shfl_xor_sync(wb::kAllLanes, added, step);
        __syncwarp();  // a query's weights are its own warp's
        const float shrink = expf(max - larger);
        max = larger;
        sum = sum * shrink + added;
#pragma unroll
        for (int i = 0; i < kMaxHeadDim / kLanes; ++i) {
            const int d = lane + kLanes * i;
            if (d >= D) continue;
            float result = r_o[i] * shrink;
#pragma unroll 4
            for (int key = 0; key < kKeys; ++key)
                result = fmaf(s_p[row][key], s_v[key][d], result);
            r_o[i] = result;
        }
    }
    if (query >= tokens) return;
#pragma unroll
    for (int i = 0; i < kMaxHeadDim / kLanes; ++i) {
        const int d = lane + kLanes * i;
        if (d < D) o[query * width + blockIdx.y * D + d] = r_o[i] / sum;
    }
}

static void launch_attention(const float* qkv,
                             float* o,
                             int64_t tokens,
                             int64_t heads,
                             int64_t head_dim,
                             cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(wb::ceil_div(tokens, int64_t{kQueries})),
                    static_cast<unsigned>(heads));
    attention_kernel<<<grid, kQueries * kLanes, 0, stream>>>(
        qkv,
        o,
        tokens,
        heads,
        static_cast<int>(head_dim),
        1.0f / sqrtf(static_cast<float>(head_dim)));
    CUDA_CHECK_LAUNCH();
}

/// x += add.
///
/// Launch   grid ceil_div(n, 256), block 256
static __global__ void add_kernel(float* x, const float* add, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) x[i] += add[i];
}

/// x[i] += add[i] for i < n, n > 0.
[[maybe_unused]] static void launch_add(float* x,
                                        const float* add,
                                        int64_t n,
                                        cudaStream_t stream) {
    constexpr int kThreads = 256;
    add_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(x, add, n);
    CUDA_CHECK_LAUNCH();
}

/// A rank's share of the block: its sizes, memory for what lies between the parts, and
/// the parts. Its memory is taken and given back in the order of one stream.
class Share {
 public:
    Share(const BlockShape& shape, const Rank& rank, cudaStream_t stream)
        : rank_(rank),
          tokens_(shape.tokens),
          width_(shape.width()),
          heads_(shape.heads / rank.ranks),
          head_dim_(shape.head_dim),
          hidden_(shape.hidden / rank.ranks),
          qkv_(tokens_ * 3 * own(), stream),
          o_(tokens_ * own(), stream),
          h_(tokens_ * width_, stream),
          g_(tokens_ * hidden_, stream) {}

    /// [N, H D]: x + o w_out, once it has been summed over the ranks.
    float* h() const { return h_.data(); }

    /// The rank's heads: o of all tokens.
    void attend(const float* x, cudaStream_t stream) const {
        launch_product(x,
                       rank_.w_qkv,
                       nullptr,
                       qkv_.data(),
                       tokens_,
                       width_,
                       3 * own(),
                       After::nothing,
                       stream);
        launch_attention(qkv_.data(), o_.data(), tokens_, heads_, head_dim_, stream);
    }

    /// The rank's summand of h, tokens [first, first + count): o w_out, and `add`.
    ///
    /// @param add  [N, H D] or null
    void project(int64_t first,
                 int64_t count,
                 const float* add,
                 cudaStream_t stream) const {
        launch_product(o_.data() + first * own(),
                       rank_.w_out,
                       add ? add + first * width_ : nullptr,
                       h() + first * width_,
                       count,
                       own(),
                       width_,
                       After::nothing,
                       stream);
    }

    /// The rank's summand of y, tokens [first, first + count): gelu(h w_up) w_down, and
    /// `add`. h must have been summed.
    ///
    /// @param add  [N, H D] or null
    void feed_forward(int64_t first,
                      int64_t count,
                      const float* add,
                      float* y,  // [N, H D]
                      cudaStream_t stream) const {
        float* const g = g_.data() + first * hidden_;
        launch_product(h() + first * width_,
                       rank_.w_up,
                       nullptr,
                       g,
                       count,
                       width_,
                       hidden_,
                       After::gelu,
                       stream);
        launch_product(g,
                       rank_.w_down,
                       add ? add + first * width_ : nullptr,
                       y + first * width_,
                       count,
                       hidden_,
                       width_,
                       After::nothing,
                       stream);
    }

 private:
    /// Columns of the width that belong to the rank's heads.
    int64_t own() const { return heads_ * head_dim_; }

    Rank rank_;
    int64_t tokens_, width_, heads_, head_dim_, hidden_;
    wb::Scratch<float> qkv_;  // [N, 3, heads, D]
    wb::Scratch<float> o_;    // [N, heads, D]
    wb::Scratch<float> h_;    // [N, H D]
    wb::Scratch<float> g_;    // [N, hidden]
};
