// sparse_attention.cu: attention over the keys that a pattern lists.
#include "sparse_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
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
    WB_NOT_SOLVED();  // delete this line after the first two TODOs
    const wb::Arguments arguments("sparse_attention");
    wb::check_shape(arguments, shape, {32, 64, 128});
    check_arguments(arguments, shape, q, k, v, o, lse, status);
    arguments.size("pattern.num_indices", pattern.num_indices);
    if (shape.rows() == 0) return;
    arguments.device("pattern.offsets", pattern.offsets, shape.queries + 1)
        .device("pattern.indices", pattern.indices, pattern.num_indices);
    const auto version = sparse_attention_v1;
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
    WB_NOT_SOLVED();  // delete this line after the third TODO
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
    const auto version = block_sparse_attention_v1;
    version(shape, pattern, q, k, v, o, lse, status, stream);
}
// #endregion contract
