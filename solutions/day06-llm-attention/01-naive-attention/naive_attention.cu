// naive_attention.cu: attention as in the textbook, a kernel for each of its steps.
// #solution
//
// <Ladder of="naive_attention" at="B4 H16 N1024 D64">
//       TFLOP/s  idea                    what limits it
//   v1    0.860  a thread a result       each number read is used once
//   v2     10.9  4 x 4 results a thread  scores go to memory and back
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "naive_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>
#include <wb/scratch.h>

#include <algorithm>
#include <cmath>

/// Threads in a block, of every kernel here.
constexpr int kThreads = 256;

// #region v1-scores
/// naive_attention_v1, first kernel: scores[r, j] = scale * q[r, :] . k[j, :], for all
/// keys of the head, seen or not.
///
/// Launch   grid ceil_div(rows * keys, kThreads), block kThreads: a thread a score
__global__ void scores_v1_kernel(const float* q,  // [rows, D], rows = B * H * queries
                                 const float* k,  // [B * H, keys, D]
                                 float* scores,   // [rows, keys]
                                 int64_t rows,
                                 int64_t queries,
                                 int64_t keys,
                                 int64_t D,
                                 float scale) {
    // TODO(learner): find this thread's score: its row r, its key j, and the head that
    // row r belongs to. Write the scaled dot product of the two (about 9 lines)
    // #solution
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= rows * keys) return;
    const int64_t r = i / keys;
    const int64_t j = i % keys;
    const int64_t head = r / queries;  // over all batches: b * H + h
    const float* const key = k + (head * keys + j) * D;
    float sum = 0.0f;
    for (int64_t d = 0; d < D; ++d) {
        sum += q[r * D + d] * key[d];
    }
    scores[i] = scale * sum;
    // #end
}
// #endregion v1-scores

/// The largest, or the sum, of one value of each lane; every lane gets it.
__device__ float warp_max(float value) {
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFu, value, other));
    return value;
}
__device__ float warp_sum(float value) {
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFu, value, other);
    return value;
}

// #region v1-softmax
/// naive_attention_v1, second kernel: the softmax of each row of scores, in place. The
/// weight of a key that the row does not see is 0.
///
/// Launch   grid ceil_div(rows, kThreads / 32), block kThreads: a warp a row
__global__ void softmax_v1_kernel(float* scores,  // [rows, keys] scores, then weights
                                  float* lse,     // [rows] or null
                                  int64_t rows,
                                  int64_t queries,
                                  int64_t keys,
                                  bool causal) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t r = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / wb::kWarpSize;
    if (r >= rows) return;  // a whole warp at once: no shuffle below misses a lane
    const int64_t visible = wb::visible_keys(queries, keys, causal, r % queries);
    float* const row = scores + r * keys;
    // TODO(learner): with the lanes 32 keys apart, find the maximum of the visible
    // scores; replace each by exp(score - maximum) and find their sum; divide by it.
    // Write 0 for the keys that are not visible, lse[r] where it is wanted, and see
    // that a row without visible keys gives 0 and -infinity, not NaN (about 16 lines)
    // #starter (void)lane, (void)visible, (void)row;  // delete this line, too
    // #solution
    float maximum = -INFINITY;
    for (int64_t j = lane; j < visible; j += wb::kWarpSize)
        maximum = fmaxf(maximum, row[j]);
    maximum = warp_max(maximum);
    float sum = 0.0f;
    for (int64_t j = lane; j < visible; j += wb::kWarpSize) {
        row[j] = expf(row[j] - maximum);  // at most 1: the largest score becomes exp(0)
        sum += row[j];
    }
    sum = warp_sum(sum);
    for (int64_t j = lane; j < keys; j += wb::kWarpSize)
        row[j] = j < visible ? row[j] / sum : 0.0f;
    // Without visible keys the maximum is -infinity and the sum is 0: log(0) added to
    // it is -infinity again, and no weight has been divided by 0.
    if (lane == 0 && lse != nullptr) lse[r] = maximum + logf(sum);
    // #end
}
// #endregion v1-softmax

// #region v1-output
/// naive_attention_v1, third kernel: o[r, d] = sum over j of weights[r, j] * v[j, d].
///
/// Launch   grid ceil_div(rows * D, kThreads), block kThreads: a thread an output
__global__ void output_v1_kernel(const float* weights,  // [rows, keys]
                                 const float* v,        // [B * H, keys, D]
                                 float* o,              // [rows, D]
                                 int64_t rows,
                                 int64_t queries,
                                 int64_t keys,
                                 int64_t D) {
    // TODO(learner): find this thread's row r and column d, and write o[r, d]: the
    // values of column d, each times its weight (about 9 lines)
    // #solution
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= rows * D) return;
    const int64_t r = i / D;
    const int64_t d = i % D;
    const int64_t head = r / queries;
    float sum = 0.0f;
    for (int64_t j = 0; j < keys; ++j) {
        sum += weights[r * keys + j] * v[(head * keys + j) * D + d];
    }
    o[i] = sum;
    // #end
}
// #endregion v1-output

/// Queues the second kernel, which v1 and v2 share.
static void launch_softmax_v1(const wb::AttentionShape& shape,
                              float* scores,
                              float* lse,
                              cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(shape.rows(), kThreads / wb::kWarpSize);
    softmax_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        scores, lse, shape.rows(), shape.queries, shape.keys, shape.causal);
    CUDA_CHECK_LAUNCH();
}

// #region v1-launch
static void naive_attention_v1(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    const int64_t rows = shape.rows();
    const int64_t num_scores = rows * shape.keys;
    const wb::Scratch<float> scores(std::max(num_scores, int64_t{1}), stream);
    if (num_scores > 0) {
        const unsigned blocks = wb::grid_size(num_scores, kThreads);
        scores_v1_kernel<<<blocks, kThreads, 0, stream>>>(q,
                                                          k,
                                                          scores.data(),
                                                          rows,
                                                          shape.queries,
                                                          shape.keys,
                                                          shape.head_dim,
                                                          shape.scale);
        CUDA_CHECK_LAUNCH();
    }
    launch_softmax_v1(shape, scores.data(), lse, stream);
    const unsigned blocks = wb::grid_size(rows * shape.head_dim, kThreads);
    output_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        scores.data(), v, o, rows, shape.queries, shape.keys, shape.head_dim);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #solution
WB_RUNG(naive_attention, naive_attention_v1, "three kernels, a thread a result");

/// Tile of v2: BM x BN results a block, in BK steps; TM x TN results a thread.
constexpr int BM = 64;
constexpr int BN = 64;
constexpr int BK = 16;
constexpr int TM = 4;
constexpr int TN = 4;
static_assert((BM / TM) * (BN / TN) == kThreads, "each thread owns TM x TN results");
static_assert(BM * BK % kThreads == 0 && BN * BK % kThreads == 0,
              "each thread copies as many elements of a tile");

// #region v2-product
/// Copies a tile of a matrix to shared memory, k-major: s[c, r] = g[r, c]. Zeros stand
/// for what lies outside, and change no sum.
///
/// @tparam kRows    rows of the tile
/// @tparam kByRows  whether neighbouring threads take neighbours of a row of g
template <int kRows, bool kByRows>
__device__ void load_tile_v2(float (*s)[kRows + 4],  // [BK, kRows]
                             const float* g,         // [rows, cols]
                             int64_t row_stride,     // from g[r, c] to g[r + 1, c]
                             int64_t col_stride,     // from g[r, c] to g[r, c + 1]
                             int64_t rows,           // that are left from here on
                             int64_t cols) {
    for (int e = threadIdx.x; e < kRows * BK; e += kThreads) {
        const int r = kByRows ? e / BK : e % kRows;
        const int c = kByRows ? e % BK : e / kRows;
        s[c][r] = r < rows && c < cols ? g[r * row_stride + c * col_stride] : 0.0f;
    }
}

/// naive_attention_v2: c[h] = alpha * a[h] b[h], for each head h. Both of attention's
/// products are this one: q k^T with b transposed, weights v without.
///
/// Launch   grid heads * tiles of M * tiles of N, block kThreads
template <bool kTransposedB>
__global__ void product_v2_kernel(const float* a,  // [heads, M, K]
                                  const float* b,  // [heads, K, N], or [heads, N, K]
                                  float* c,        // [heads, M, N]
                                  int64_t M,
                                  int64_t N,
                                  int64_t K,
                                  float alpha) {
    __shared__ __align__(16) float s_a[BK][BM + 4];
    __shared__ __align__(16) float s_b[BK][BN + 4];
    const int64_t tiles_m = (M + BM - 1) / BM;
    const int64_t tiles_n = (N + BN - 1) / BN;
    const int64_t head = blockIdx.x / (tiles_m * tiles_n);
    const int64_t first_m = blockIdx.x / tiles_n % tiles_m * BM;
    const int64_t first_n = blockIdx.x % tiles_n * BN;
    const int row = threadIdx.x / (BN / TN) * TM;  // within the tile
    const int col = threadIdx.x % (BN / TN) * TN;
    a += (head * M + first_m) * K;
    b += head * N * K + first_n * (kTransposedB ? K : 1);
    float sums[TM][TN] = {};
    for (int64_t k = 0; k < K; k += BK) {
        load_tile_v2<BM, /*kByRows=*/true>(s_a, a + k, K, 1, M - first_m, K - k);
        if (kTransposedB) {
            load_tile_v2<BN, /*kByRows=*/true>(s_b, b + k, K, 1, N - first_n, K - k);
        } else {
            load_tile_v2<BN, /*kByRows=*/false>(
                s_b, b + k * N, 1, N, N - first_n, K - k);
        }
        __syncthreads();
        for (int kk = 0; kk < BK; ++kk) {
            const float4 x = *reinterpret_cast<const float4*>(&s_a[kk][row]);
            const float4 y = *reinterpret_cast<const float4*>(&s_b[kk][col]);
            const float r_a[TM] = {x.x, x.y, x.z, x.w};
            const float r_b[TN] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j)
                    sums[i][j] += r_a[i] * r_b[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            const int64_t m = first_m + row + i;
            const int64_t n = first_n + col + j;
            if (m < M && n < N) c[(head * M + m) * N + n] = alpha * sums[i][j];
        }
    }
}
// #endregion v2-product

// #region v2-launch
template <bool kTransposedB>
static void launch_product_v2(const float* a,
                              const float* b,
                              float* c,
                              int64_t heads,
                              int64_t M,
                              int64_t N,
                              int64_t K,
                              float alpha,
                              cudaStream_t stream) {
    const int64_t tiles = wb::ceil_div(M, int64_t{BM}) * wb::ceil_div(N, int64_t{BN});
    const unsigned blocks = wb::grid_size(heads * tiles, 1);
    product_v2_kernel<kTransposedB>
        <<<blocks, kThreads, 0, stream>>>(a, b, c, M, N, K, alpha);
    CUDA_CHECK_LAUNCH();
}

static void naive_attention_v2(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    const int64_t heads = shape.batch * shape.query_heads;
    const int64_t N = shape.queries;
    const int64_t M = shape.keys;
    const int64_t D = shape.head_dim;
    const wb::Scratch<float> scores(std::max(heads * N * M, int64_t{1}), stream);
    if (M > 0) {
        launch_product_v2</*kTransposedB=*/true>(
            q, k, scores.data(), heads, N, M, D, shape.scale, stream);
    }
    launch_softmax_v1(shape, scores.data(), lse, stream);
    launch_product_v2</*kTransposedB=*/false>(
        scores.data(), v, o, heads, N, D, M, 1.0f, stream);
}
// #endregion v2-launch
WB_RUNG(naive_attention, naive_attention_v2, "register tiles for both products");
// #end

// #region contract
void naive_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when all three TODOs are written
    const wb::Arguments arguments("naive_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads: heads are shared in chapter 03");
    arguments.product("batch * query_heads * queries * keys",
                      {shape.batch, shape.query_heads, shape.queries, shape.keys});
    if (shape.rows() == 0) return;
    arguments.device("q", q, shape.query_elements())
        .device("k", k, shape.kv_elements())
        .device("v", v, shape.kv_elements())
        .device("o", o, shape.query_elements());
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    // #solution
    naive_attention_v2(shape, q, k, v, o, lse, stream);
    // #end
    // #starter naive_attention_v1(shape, q, k, v, o, lse, stream);
}
// #endregion contract
