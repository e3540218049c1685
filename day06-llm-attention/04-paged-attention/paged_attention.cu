// paged_attention.cu: keys and values in pages, and attention that finds them there.
#include "paged_attention.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

#include "checks.h"

using wb::kWarpSize;
using wb::PagedCache;
using wb::PagedStatus;
using wb::PagedWorkspace;

/// Threads in a block of append_kv.
constexpr int kAppendThreads = 256;

// #region append-kernel
/// append_kv_v1: a thread for each number of the new tokens.
///
/// Launch   grid ceil_div(tokens * kv_heads * head_dim, kAppendThreads)
__global__ void append_kv_v1_kernel(
    const PagedCache cache,
    const __nv_bfloat16* k,    // [tokens, kv_heads, head_dim]
    const __nv_bfloat16* v,    // [tokens, kv_heads, head_dim]
    const int32_t* sequences,  // [tokens]
    const int32_t* positions,  // [tokens]
    int64_t tokens,
    PagedStatus* status) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= tokens * cache.kv_heads * cache.head_dim) return;
    // TODO(learner): find out which token, K/V head and dimension number i is. Ask
    // wb::checked_place whether the token's sequence and position exist, and
    // wb::checked_page for the page; leave if one of them says no. Then write k[i] and
    // v[i] into the row that cache.row finds (about 12 lines)
}
// #endregion append-kernel

// #region append-launch
static void append_kv_v1(const PagedCache& cache,
                         const __nv_bfloat16* k,
                         const __nv_bfloat16* v,
                         const int32_t* sequences,
                         const int32_t* positions,
                         int64_t tokens,
                         const PagedWorkspace& workspace,
                         cudaStream_t stream) {
    const int64_t numbers = tokens * cache.kv_heads * cache.head_dim;
    const unsigned blocks = wb::grid_size(numbers, kAppendThreads);
    append_kv_v1_kernel<<<blocks, kAppendThreads, 0, stream>>>(
        cache, k, v, sequences, positions, tokens, workspace.status());
    CUDA_CHECK_LAUNCH();
}
// #endregion append-launch

// #region warp-rows
/// This lane's numbers of a row of D: lane, lane + 32, ...
template <int D>
__device__ void load_row(float (&numbers)[D / kWarpSize],
                         const __nv_bfloat16* row,  // [D]
                         int lane) {
    for (int i = 0; i < D / kWarpSize; ++i) {
        numbers[i] = __bfloat162float(row[lane + i * kWarpSize]);
    }
}

/// The dot product of two rows that the warp holds; every lane gets it.
template <int N>
__device__ float warp_dot(const float (&a)[N], const float (&b)[N]) {
    float sum = 0.0f;
    for (int i = 0; i < N; ++i) {
        sum += a[i] * b[i];
    }
    for (int step = kWarpSize / 2; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    return sum;
}

/// Writes a finished row, which the warp holds, and its log-sum-exp.
template <int D>
__device__ void store_row(const wb::OnlineSoftmax<D / kWarpSize>& state,
                          __nv_bfloat16* o,  // [D]
                          float* lse,        // [1] or null
                          int lane) {
    for (int i = 0; i < D / kWarpSize; ++i) {
        o[lane + i * kWarpSize] = __float2bfloat16(state.o[i] * state.scale());
    }
    if (lse != nullptr && lane == 0) *lse = state.log_sum_exp();
}
// #endregion warp-rows

// #region v1-kernel
/// paged_attention_v1: a warp for each sequence and query head reads page by page.
///
/// @tparam D  cache.head_dim
///
/// Launch   grid batch * query_heads, block one warp, no shared memory
template <int D>
__global__ void paged_attention_v1_kernel(const PagedCache cache,
                                          const __nv_bfloat16* q,  // [batch, Hq, D]
                                          __nv_bfloat16* o,        // [batch, Hq, D]
                                          float* lse,  // [batch, Hq] or null
                                          int64_t query_heads,
                                          float scale,
                                          PagedStatus* status) {
    constexpr int kPerLane = D / kWarpSize;
    const int lane = threadIdx.x;
    const int64_t row = blockIdx.x;  // of q and o
    float query[kPerLane];
    load_row<D>(query, q + row * D, lane);
    wb::OnlineSoftmax<kPerLane> state;
    // TODO(learner): find this row's sequence and K/V head, and wb::checked_length of
    // the sequence. For each of its pages, ask wb::checked_page where it is, and leave
    // it out if there is no such page. For each slot that holds a token of the
    // sequence, load the rows of k and v, and add score and value to the state (about
    // 18 lines)
    store_row<D>(state, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}
// #endregion v1-kernel

// #region v1-launch
static void paged_attention_v1(const PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const PagedWorkspace& workspace,
                               cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(cache.batch * query_heads, 1);
    const auto kernel = cache.head_dim == 64 ? paged_attention_v1_kernel<64>
                                             : paged_attention_v1_kernel<128>;
    kernel<<<blocks, kWarpSize, 0, stream>>>(
        cache, q, o, lse, query_heads, scale, workspace.status());
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #region contract
void append_kv(const PagedCache& cache,
               const __nv_bfloat16* k,
               const __nv_bfloat16* v,
               const int32_t* sequences,
               const int32_t* positions,
               int64_t tokens,
               const PagedWorkspace& workspace,
               cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the kernel above is written
    if (!append_has_work(cache, k, v, sequences, positions, tokens)) return;
    append_kv_v1(
        cache, k, v, sequences, positions, tokens, workspace, stream);
}

void paged_attention(const PagedCache& cache,
                     const __nv_bfloat16* q,
                     __nv_bfloat16* o,
                     float* lse,
                     int64_t query_heads,
                     float scale,
                     const PagedWorkspace& workspace,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the kernel above is written
    if (!attention_has_work(cache, q, o, lse, query_heads, scale, workspace)) return;
    paged_attention_v1(
        cache, q, o, lse, query_heads, scale, workspace, stream);
}
// #endregion contract
