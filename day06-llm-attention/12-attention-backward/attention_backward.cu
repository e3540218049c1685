// attention_backward.cu: the gradients of attention. Weights are not kept, but computed
// once more.
#include "attention_backward.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include "problem.h"

/// Threads of a block.
constexpr int kThreads = 128;

/// Columns of a row whose sums a thread of v1 has in registers.
constexpr int kColumns = 64;

// #region v1-delta
/// delta[i] = d_o[i] . o[i]: a thread for each row.
///
/// Launch   grid ceil_div(rows, kThreads), block kThreads
/// Traffic  reads 2 D sizeof(T) B a row, writes 4 B
template <int D, class T>
__global__ void __launch_bounds__(kThreads)
    attention_backward_v1_delta_kernel(const Problem<T> p, float* delta) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows()) return;
    const T* const o = p.o + row * D;
    const T* const d_o = p.d_o + row * D;
    // TODO(learner): the product of two rows; wb::to_float() makes a float of a T
    // (4 lines)
    delta[row] = wb::to_float(o[0]) + wb::to_float(d_o[0]);
}
// #endregion v1-delta

// #region v1-pair
/// What a query and a key that it sees have to do with each other.
struct Pair {
    float weight;   ///< P: how much of the value is in the output
    float d_score;  ///< S: the gradient of the score, before its scale
};

/// @param q, d_o, k, v  rows of D numbers
template <int D, class T>
__device__ __forceinline__ Pair pair_of(const T* q,
                                        const T* d_o,
                                        float lse,
                                        float delta,
                                        const T* k,
                                        const T* v,
                                        float scale) {
    // TODO(learner): two products of rows: q . k is a score, before its scale; d_o . v
    // is the gradient of the weight. The weight is exp(scale * score - lse): nothing
    // has to be added up for it (about 8 lines)
    return {lse + delta + scale, wb::to_float(*q) + wb::to_float(*k)};
}
// #endregion v1-pair

// #region v1-queries
/// attention_backward_v1, dq: a thread for each query, and each 64 of its columns.
///
/// Launch   grid ceil_div(rows * D / kColumns, kThreads), block kThreads
/// Traffic  reads k and v once for each thread, a row a time
template <int D, class T>
__global__ void __launch_bounds__(kThreads)
    attention_backward_v1_queries_kernel(const Problem<T> p, const float* delta) {
    const int64_t thread = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t row = thread / (D / kColumns);
    const int first = static_cast<int>(thread % (D / kColumns)) * kColumns;
    if (row >= p.rows()) return;
    const int query = static_cast<int>(row % p.queries);
    const int64_t first_kv = row / p.queries / p.group * p.keys;
    const T* const q = p.q + row * D;
    const T* const d_o = p.d_o + row * D;
    float r_dq[kColumns] = {};
    for (int key = 0; key < p.visible(query); ++key) {
        const T* const k = p.k + (first_kv + key) * D;
        const T* const v = p.v + (first_kv + key) * D;
        // TODO(learner): the pair, and what it adds to r_dq, without the scale: of the
        // row of k, kColumns numbers from `first` on (about 4 lines)
        (void)q, (void)d_o, (void)k, (void)v, (void)first;
    }
#pragma unroll
    for (int d = 0; d < kColumns; ++d)
        p.dq[row * D + first + d] = wb::to_element<T>(p.scale * r_dq[d]);
}
// #endregion v1-queries

// #region v1-keys
/// attention_backward_v1, dk and dv: a thread for each key, and each 64 of its columns.
/// It adds up what all queries of all heads of its group make of it.
///
/// Launch   grid ceil_div(kv_rows * D / kColumns, kThreads), block kThreads
/// Traffic  reads q and d_o once for each thread, a row a time
template <int D, class T>
__global__ void __launch_bounds__(kThreads)
    attention_backward_v1_keys_kernel(const Problem<T> p, const float* delta) {
    const int64_t thread = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t kv_row = thread / (D / kColumns);
    const int first = static_cast<int>(thread % (D / kColumns)) * kColumns;
    if (kv_row >= p.kv_rows()) return;
    const int key = static_cast<int>(kv_row % p.keys);
    const int64_t first_head = kv_row / p.keys * p.group;
    const T* const k = p.k + kv_row * D;
    const T* const v = p.v + kv_row * D;
    float r_dk[kColumns] = {};
    float r_dv[kColumns] = {};
    // TODO(learner): for each head of the group, first_head and those behind it, and
    // for each query from p.first_query(key) on: the pair, and what it adds to r_dk
    // (without the scale) and to r_dv (about 12 lines)
    (void)k, (void)v, (void)key, (void)first_head, (void)delta;
#pragma unroll
    for (int d = 0; d < kColumns; ++d) {
        p.dk[kv_row * D + first + d] = wb::to_element<T>(p.scale * r_dk[d]);
        p.dv[kv_row * D + first + d] = wb::to_element<T>(r_dv[d]);
    }
}
// #endregion v1-keys

// #region v1-launch
/// The three kernels. Without queries there are none to launch for them; keys get zeros
/// then, and the other way round.
template <class T>
static void attention_backward_v1(const AttentionBackward<T>& call,
                                  cudaStream_t stream) {
    const auto p = problem_of(call);
    const int64_t rows = p.rows();
    const wb::Scratch<float> delta(rows > 0 ? rows : 1, stream);
    wb::with_head_dim<64, 128>(call.shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        if (rows > 0) {
            attention_backward_v1_delta_kernel<D>
                <<<wb::grid_size(rows, kThreads), kThreads, 0, stream>>>(p,
                                                                         delta.data());
            CUDA_CHECK_LAUNCH();
            const unsigned blocks = wb::grid_size(rows * (D / kColumns), kThreads);
            attention_backward_v1_queries_kernel<D>
                <<<blocks, kThreads, 0, stream>>>(p, delta.data());
            CUDA_CHECK_LAUNCH();
        }
        if (p.kv_rows() > 0) {
            const int64_t threads = p.kv_rows() * (D / kColumns);
            const unsigned blocks = wb::grid_size(threads, kThreads);
            attention_backward_v1_keys_kernel<D>
                <<<blocks, kThreads, 0, stream>>>(p, delta.data());
            CUDA_CHECK_LAUNCH();
        }
    });
}
// #endregion v1-launch

// #region contract
void attention_backward_fp32(const AttentionBackward<float>& call,
                             cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!has_work("attention_backward_fp32", call)) return;
    attention_backward_v1(call, stream);
}

void attention_backward_bf16(const AttentionBackward<__nv_bfloat16>& call,
                             cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    require_sm_80("attention_backward_bf16");
    if (!has_work("attention_backward_bf16", call)) return;
    attention_backward_v1(call, stream);
}
// #endregion contract
