// sparse_attention.cu: attention over the keys that a pattern lists.
// #solution
//
// v1 of both ladders is here, the other versions have files. Those of blocks are the
// second stage, sparse_attention_fast.cu.
//
// <Ladder of="sparse_attention" at="B1 H16 N4096 D64, window 256">
//       TFLOP/s  idea                    what limits it
//   v1    0.384  one thread a row        32 lanes read 32 places
//   v2     3.05  one warp a row          one key at a time: each waits for memory
//   v3     6.12  float4, keys in flight  every row fetches its keys anew
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
//
// <Ladder of="block_sparse_attention" at="B4 H16 N4096 D64, window 1024: 25 %">
//       TFLOP/s  idea                      what limits it
//   v1     6.93  one thread a row          a value read is used once
//   v2     39.5  register tiles on a list  long rows that start last
//   v3     41.2  the longest rows first    four trips to memory for the queries
//   v4     42.4  all queries at once       multiply-adds, as in chapter 02
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "sparse_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <cmath>
#include <cstdint>

/// Threads in a block of v1, and so its rows: one row of blocks.
constexpr int kThreads = wb::BlockPattern::kRows;

/// Keys of a block.
constexpr int kKeys = wb::BlockPattern::kKeys;

// #region row-sums
/// One thread's row: the query, and what has been added up so far by the online softmax
/// of chapter 02.
template <int D>
struct Row {
    float q[D];                 // the query, times the scale
    float o[D] = {};            // sum of weight * value, not divided yet
    float maximum = -INFINITY;  // of the scores so far
    float sum = 0.0f;           // of exp(score - maximum) so far

    __device__ Row(const float* g_q,  // [D]
                   float scale) {
        for (int d = 0; d < D; ++d)
            q[d] = scale * g_q[d];
    }

    /// Adds a key and its value.
    __device__ void add(const float* key,   // [D]
                        const float* value  // [D]
    ) {
        // TODO(learner): the score is the dot product of q and the key. If it is a new
        // maximum, rescale sum and o to it. Then add the weight to sum, and weight *
        // value to o (about 13 lines)
        // #solution
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += q[d] * key[d];
        if (score > maximum) {
            const float factor = expf(maximum - score);  // exp(-infinity) is 0
            sum *= factor;
            for (int d = 0; d < D; ++d)
                o[d] *= factor;
            maximum = score;
        }
        const float weight = expf(score - maximum);
        sum += weight;
        for (int d = 0; d < D; ++d)
            o[d] += weight * value[d];
        // #end
    }

    /// Writes the row: the quotient, or zeros and -infinity if there was no key.
    __device__ void store(float* g_o,  // [D]
                          float* lse   // [1] or null
    ) const {
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        for (int d = 0; d < D; ++d)
            g_o[d] = o[d] * inverse;
        if (lse != nullptr) *lse = maximum + logf(sum);
    }
};
// #endregion row-sums

// #region v1-kernel
/// sparse_attention_v1: one thread, one row of q and of the pattern.
///
/// @tparam D  head dimension
///
/// Launch   grid ceil_div(rows, kThreads), block kThreads, no shared memory
template <int D>
__global__ void sparse_attention_v1_kernel(wb::CsrPattern pattern,
                                           const float* q,  // [rows, D], rows = B H N
                                           const float* k,  // [B * H, keys, D]
                                           const float* v,  // [B * H, keys, D]
                                           float* o,        // [rows, D]
                                           float* lse,      // [rows] or null
                                           wb::PatternStatus* status,
                                           int64_t rows,
                                           int queries,
                                           int keys,
                                           float scale) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    const int64_t head = row / queries;  // over all batches: b * H + h
    k += head * keys * D;
    v += head * keys * D;
    Row<D> mine(q + row * D, scale);
    // TODO(learner): which row of the pattern is this thread's? wb::row_places gives
    // the places of its keys in the list. For each place: read the key's index; if
    // wb::check_index refuses it, go on with the next; else add the key and its value
    // to `mine`. Offsets into k and v need 64 bits (about 8 lines)
    // #solution
    const int query = static_cast<int>(row % queries);
    const wb::PlaceRange range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, status);
    for (int64_t place = range.begin; place < range.end; ++place) {
        const int32_t key = pattern.indices[place];
        if (!wb::check_index(key, keys, query, place, status)) continue;
        mine.add(k + int64_t{key} * D, v + int64_t{key} * D);
    }
    // #end
    mine.store(o + row * D, lse == nullptr ? nullptr : lse + row);
}
// #endregion v1-kernel

// #region v1-launch
static void sparse_attention_v1(const wb::AttentionShape& shape,
                                const wb::CsrPattern& pattern,
                                const float* q,
                                const float* k,
                                const float* v,
                                float* o,
                                float* lse,
                                wb::PatternStatus* status,
                                cudaStream_t stream) {
    const int queries = static_cast<int>(shape.queries);
    const int keys = static_cast<int>(shape.keys);
    const unsigned blocks = wb::grid_size(shape.rows(), kThreads);
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        const auto kernel = sparse_attention_v1_kernel<head_dim()>;
        kernel<<<blocks, kThreads, 0, stream>>>(
            pattern, q, k, v, o, lse, status, shape.rows(), queries, keys, shape.scale);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v1-launch

// #solution
WB_RUNG(sparse_attention, sparse_attention_v1, "one thread a row");

#include "02_warp_a_row.cuh"
#include "03_keys_in_flight.cuh"
// #end

// #region block-v1-kernel
/// block_sparse_attention_v1: one thread a row; the kThreads rows of a row of blocks
/// walk over the same keys together.
///
/// Launch   grid heads * block_rows, block kThreads, no shared memory
template <int D>
__global__ void block_sparse_attention_v1_kernel(
    wb::BlockPattern pattern,
    const float* q,  // [heads, queries, D], heads = B * H
    const float* k,  // [heads, keys, D]
    const float* v,  // [heads, keys, D]
    float* o,        // [heads, queries, D]
    float* lse,      // [heads, queries] or null
    wb::PatternStatus* status,
    int queries,
    int keys,
    unsigned block_rows,
    float scale) {
    const int64_t head = blockIdx.x / block_rows;
    const int block_row = static_cast<int>(blockIdx.x % block_rows);
    const int query = block_row * kThreads + static_cast<int>(threadIdx.x);
    if (query >= queries) return;
    const int64_t row = head * queries + query;
    k += head * keys * D;
    v += head * keys * D;
    Row<D> mine(q + row * D, scale);
    // TODO(learner): for each full block of this row of blocks that wb::check_index
    // lets pass (how many key blocks are there?): add its kKeys keys, as far as they
    // are below `keys`. For each partial block the same, but only the keys whose bit is
    // set in this thread's word of the masks (about 22 lines)
    // #solution
    const int key_blocks = wb::BlockPattern::key_blocks(keys);
    const wb::PlaceRange full = wb::row_places(
        pattern.full.offsets, block_row, pattern.full.num_blocks, status);
    for (int64_t place = full.begin; place < full.end; ++place) {
        const int32_t block = pattern.full.blocks[place];
        if (!wb::check_index(block, key_blocks, block_row, place, status)) continue;
        const int end = min(keys, (block + 1) * kKeys);
        for (int key = block * kKeys; key < end; ++key)
            mine.add(k + int64_t{key} * D, v + int64_t{key} * D);
    }
    const wb::PlaceRange partial = wb::row_places(
        pattern.partial.offsets, block_row, pattern.partial.num_blocks, status);
    for (int64_t place = partial.begin; place < partial.end; ++place) {
        const int32_t block = pattern.partial.blocks[place];
        if (!wb::check_index(block, key_blocks, block_row, place, status)) continue;
        const uint64_t mask = pattern.masks[place * kThreads + threadIdx.x];
        const int end = min(keys, (block + 1) * kKeys);
        for (int key = block * kKeys; key < end; ++key) {
            if ((mask >> (key % kKeys) & 1) == 0) continue;
            mine.add(k + int64_t{key} * D, v + int64_t{key} * D);
        }
    }
    // #end
    mine.store(o + row * D, lse == nullptr ? nullptr : lse + row);
}
// #endregion block-v1-kernel

// #region block-v1-launch
static void block_sparse_attention_v1(const wb::AttentionShape& shape,
                                      const wb::BlockPattern& pattern,
                                      const float* q,
                                      const float* k,
                                      const float* v,
                                      float* o,
                                      float* lse,
                                      wb::PatternStatus* status,
                                      cudaStream_t stream) {
    const int queries = static_cast<int>(shape.queries);
    const int keys = static_cast<int>(shape.keys);
    const unsigned block_rows = wb::grid_size(shape.queries, kThreads);
    const int64_t heads = shape.batch * shape.query_heads;
    const unsigned blocks = wb::grid_size(heads * block_rows, 1);
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        const auto kernel = block_sparse_attention_v1_kernel<head_dim()>;
        kernel<<<blocks, kThreads, 0, stream>>>(
            pattern, q, k, v, o, lse, status, queries, keys, block_rows, shape.scale);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion block-v1-launch

// #solution
WB_RUNG(block_sparse_attention, block_sparse_attention_v1, "one thread a row");

#define WB_VERSION_ONLY
#include "sparse_attention_fast.cu"

// #region block-versions
constexpr auto& block_sparse_attention_v2 = launch_largest<BlockOptions{}>;
constexpr auto& block_sparse_attention_v3 =
    launch_largest<BlockOptions{.longest_first = true}>;
constexpr auto& block_sparse_attention_v4 =
    launch_largest<BlockOptions{.longest_first = true, .queries_at_once = true}>;
// #endregion block-versions
WB_RUNG(block_sparse_attention, block_sparse_attention_v2, "register tiles on a list");
WB_RUNG(block_sparse_attention, block_sparse_attention_v3, "the longest rows first");
WB_RUNG(block_sparse_attention, block_sparse_attention_v4, "all queries at once");
// #end

/// What both contracts ask of shape and tensors.
static void check_arguments(const wb::Arguments& arguments,
                            const wb::AttentionShape& shape,
                            const float* q,
                            const float* k,
                            const float* v,
                            const float* o,
                            const float* lse,
                            const wb::PatternStatus* status) {
    arguments.require(!shape.causal,
                      "shape.causal",
                      shape.causal,
                      "must be false: the pattern says what a query sees");
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads: heads are shared in chapter 03");
    if (shape.rows() == 0) return;
    // As float4, so that an address that is not a multiple of 16 is refused.
    const auto vectors = [](const float* p) {
        return reinterpret_cast<const float4*>(p);
    };
    arguments.device("q", vectors(q), shape.query_elements() / 4)
        .device("k", vectors(k), shape.kv_elements() / 4)
        .device("v", vectors(v), shape.kv_elements() / 4)
        .device("o", vectors(o), shape.query_elements() / 4)
        .device("status", status, 1);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
}

// #region contract
void sparse_attention(const wb::AttentionShape& shape,
                      const wb::CsrPattern& pattern,
                      const float* q,
                      const float* k,
                      const float* v,
                      float* o,
                      float* lse,
                      wb::PatternStatus* status,
                      cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line after the first two TODOs
    const wb::Arguments arguments("sparse_attention");
    wb::check_shape(arguments, shape, {32, 64, 128});
    check_arguments(arguments, shape, q, k, v, o, lse, status);
    arguments.size("pattern.num_indices", pattern.num_indices);
    if (shape.rows() == 0) return;
    arguments.device("pattern.offsets", pattern.offsets, shape.queries + 1)
        .device("pattern.indices", pattern.indices, pattern.num_indices);
    // #solution
    const auto version = sparse_attention_v3;
    // #end
    // #starter const auto version = sparse_attention_v1;
    version(shape, pattern, q, k, v, o, lse, status, stream);
}

void block_sparse_attention(const wb::AttentionShape& shape,
                            const wb::BlockPattern& pattern,
                            const float* q,
                            const float* k,
                            const float* v,
                            float* o,
                            float* lse,
                            wb::PatternStatus* status,
                            cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line after the third TODO
    const wb::Arguments arguments("block_sparse_attention");
    wb::check_shape(arguments, shape, {32, 64, 128});
    check_arguments(arguments, shape, q, k, v, o, lse, status);
    arguments.size("pattern.full.num_blocks", pattern.full.num_blocks)
        .size("pattern.partial.num_blocks", pattern.partial.num_blocks);
    if (shape.rows() == 0) return;
    const int64_t rows = wb::ceil_div(shape.queries, int64_t{kThreads});
    const int64_t partial = pattern.partial.num_blocks;
    arguments.device("pattern.full.offsets", pattern.full.offsets, rows + 1)
        .device("pattern.full.blocks", pattern.full.blocks, pattern.full.num_blocks)
        .device("pattern.partial.offsets", pattern.partial.offsets, rows + 1)
        .device("pattern.partial.blocks", pattern.partial.blocks, partial)
        .device("pattern.masks", pattern.masks, partial * kThreads)
        .device("pattern.order", pattern.order, rows);
    // #solution
    const auto version = block_sparse_attention_v4;
    // #end
    // #starter const auto version = block_sparse_attention_v1;
    version(shape, pattern, q, k, v, o, lse, status, stream);
}
// #endregion contract
