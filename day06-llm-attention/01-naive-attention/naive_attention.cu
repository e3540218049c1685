// naive_attention.cu: attention as in the textbook, a kernel for each of its steps.
#include "naive_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
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
    (void)lane, (void)visible, (void)row;  // delete this line, too
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

// #region contract
void naive_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when all three TODOs are written
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
    naive_attention_v1(shape, q, k, v, o, lse, stream);
}
// #endregion contract
