// paged_attention.cu: keys and values in pages, and attention that finds them there.
// #solution
//
// Each version of paged_attention from v2 on has a file. v4 and append_kv's v2 are the
// second stage, paged_attention_fast.cu; v3 uses it.
//
// <Ladder of="append_kv" at="tokens = 65536, Hkv8 D128">
//        GB/s  idea                      what limits it
//   v1    899  a thread for each number  look-ups in the tables: one a number
//   v2  2,720  16 bytes a thread         one look-up for eight numbers
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
//
// <Ladder of="paged_attention" at="B16 N8192 Hq32 Hkv8 D128 page 16">
//        GB/s  idea                         what limits it
//   v1    114  a warp for each query head   one load in flight for each warp
//   v2    793  eight warps for it           K and V are read once for each query head
//   v3    827  heads of a group in a block  too few blocks where sequences are few
//   v4  1,240  blocks share a sequence      multiply-adds; a second kernel merges
//   v5  2,650  tensor cores, equal shares   the speed of memory
//   v6      -  tiles by bulk copies         the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "paged_attention.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
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
    // #solution
    const int64_t d = i % cache.head_dim;
    const int64_t head = i / cache.head_dim % cache.kv_heads;
    const int64_t token = i / cache.head_dim / cache.kv_heads;
    const int32_t sequence = sequences[token];
    const int32_t position = positions[token];
    if (!wb::checked_place(cache, sequence, position, token, status)) return;
    const int64_t index = position / cache.page_size;
    const int64_t page = wb::checked_page(cache, sequence, index, status);
    if (page < 0) return;
    const int64_t place = cache.row(page, head, position % cache.page_size) + d;
    cache.k[place] = k[i];
    cache.v[place] = v[i];
    // #end
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
    // #solution
    const int64_t sequence = row / query_heads;
    const int64_t kv_head = row % query_heads / (query_heads / cache.kv_heads);
    const int64_t length = wb::checked_length(cache, sequence, status);
    for (int64_t first = 0; first < length; first += cache.page_size) {
        const int64_t page =
            wb::checked_page(cache, sequence, first / cache.page_size, status);
        if (page < 0) continue;
        // The last page may be full of what others left behind, NaN even.
        const int64_t slots = min(cache.page_size, length - first);
        for (int64_t slot = 0; slot < slots; ++slot) {
            const int64_t place = cache.row(page, kv_head, slot);
            float key[kPerLane];
            float value[kPerLane];
            load_row<D>(key, cache.k + place, lane);
            load_row<D>(value, cache.v + place, lane);
            state.add(scale * warp_dot(query, key), value);
        }
    }
    // #end
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

// #solution
WB_RUNG(paged_attention, paged_attention_v1, "a warp reads page by page");

#include "02_eight_warps.cuh"
#define WB_VERSION_ONLY
#include "paged_attention_fast.cu"

#include "03_group_in_a_block.cuh"
WB_RUNG(paged_attention, paged_attention_v4, "blocks share a sequence");
#include "05_equal_shares.cuh"
#include "06_bulk_tiles.cuh"

WB_RUNG(append_kv, append_kv_v1, "a thread for each number");
WB_RUNG(append_kv, append_kv_v2, "16 bytes a thread");
// #end

// #region contract
void append_kv(const PagedCache& cache,
               const __nv_bfloat16* k,
               const __nv_bfloat16* v,
               const int32_t* sequences,
               const int32_t* positions,
               int64_t tokens,
               const PagedWorkspace& workspace,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the kernel above is written
    if (!append_has_work(cache, k, v, sequences, positions, tokens)) return;
    // #solution
    append_kv_v2(cache, k, v, sequences, positions, tokens, workspace, stream);
    // #end
    // #starter append_kv_v1(
    // #starter     cache, k, v, sequences, positions, tokens, workspace, stream);
}

void paged_attention(const PagedCache& cache,
                     const __nv_bfloat16* q,
                     __nv_bfloat16* o,
                     float* lse,
                     int64_t query_heads,
                     float scale,
                     const PagedWorkspace& workspace,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the kernel above is written
    if (!attention_has_work(cache, q, o, lse, query_heads, scale, workspace)) return;
    // #solution
    paged_attention_v6(cache, q, o, lse, query_heads, scale, workspace, stream);
    // #end
    // #starter paged_attention_v1(
    // #starter     cache, q, o, lse, query_heads, scale, workspace, stream);
}
// #endregion contract
