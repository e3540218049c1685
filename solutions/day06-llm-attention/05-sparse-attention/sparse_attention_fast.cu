// sparse_attention_fast.cu: block_sparse_attention_v2 to v4: chapter 02's register
// tiles on a list. What you write is where the next tile of keys comes from, and which
// pairs of it count.
// #solution
// Only the short test cases: the ladder runs the long ones.
// #end
#include "sparse_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>
#include <wb/ptx/cp_async.h>
#include <wb/shared_memory.h>
#include <wb/sparse_pattern.h>

#include <cmath>
#include <cstdint>

#include "../03-grouped-query-attention/products.cuh"
#include "rows.cuh"

// #region walk
/// The tiles of keys that one row of blocks lists: those of the full blocks, then those
/// of the partial ones.
///
/// @tparam T  a Tile; a block of the pattern is kSteps of its tiles long
template <class T>
struct BlockWalk {
    static constexpr int kSteps = wb::BlockPattern::kKeys / T::BN;
    static_assert(wb::BlockPattern::kKeys % T::BN == 0, "whole tiles in a block");
    static_assert(wb::BlockPattern::kRows % T::BM == 0, "whole tiles in a block");

    wb::PlaceRange full;
    wb::PlaceRange partial;
    int full_steps;
    int steps;  // of both lists

    __device__ BlockWalk(const wb::BlockPattern& pattern,
                         int block_row,
                         wb::PatternStatus* status) {
        full = wb::row_places(
            pattern.full.offsets, block_row, pattern.full.num_blocks, status);
        partial = wb::row_places(
            pattern.partial.offsets, block_row, pattern.partial.num_blocks, status);
        full_steps = static_cast<int>(full.end - full.begin) * kSteps;
        steps = full_steps + static_cast<int>(partial.end - partial.begin) * kSteps;
    }

    /// The place of a step's block in its list.
    __device__ int64_t place(int step) const {
        // TODO(learner): steps come in the order of the lists, first those of the full
        // blocks. A block has kSteps of them (2 lines)
        // #starter return 0 * step;
        // #solution
        return step < full_steps ? full.begin + step / kSteps
                                 : partial.begin + (step - full_steps) / kSteps;
        // #end
    }

    /// The first key of a step; `keys` where there is none: a tile of nothing.
    __device__ int first_key(const wb::BlockPattern& pattern,
                             int step,
                             int block_row,
                             int keys,
                             wb::PatternStatus* status) const {
        if (step >= steps) return keys;
        // TODO(learner): the block of this step: of which list is it? If it is not one
        // of the blocks that `keys` keys have, wb::check_index reports it: then there
        // is no key. Else it is the block's first, plus T::BN for each earlier step of
        // the same block, but never more than `keys` (about 6 lines)
        // #starter return keys;
        // #solution
        const int64_t at = place(step);
        const int32_t block =
            step < full_steps ? pattern.full.blocks[at] : pattern.partial.blocks[at];
        const int key_blocks = wb::BlockPattern::key_blocks(keys);
        if (!wb::check_index(block, key_blocks, block_row, at, status)) return keys;
        return min(keys, block * wb::BlockPattern::kKeys + step % kSteps * T::BN);
        // #end
    }
};
// #endregion walk

// #region mask
/// -infinity for the pairs of a partial block whose bits are not set.
/// @param masks  [kRows] words of the block, from the row of this tile on
/// @param shift  the bit of the tile's first key
template <class T>
__device__ __forceinline__ void mask_by_bits(const Workspace<T>& w,
                                             float (&r_s)[T::TM][T::TN],
                                             const uint64_t* masks,
                                             int shift) {
    // TODO(learner): bit `shift + c` of masks[r] is column c of row r of this tile. For
    // each of this thread's rows, w.row + i * T::kRowStep: take the word once, then
    // look at its bits of the keys w.col + j * T::kLanes (about 8 lines)
    // #solution
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        const uint64_t bits = masks[w.row + i * T::kRowStep] >> (shift + w.col);
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
            if ((bits >> (j * T::kLanes) & 1) == 0) r_s[i][j] = -INFINITY;
        }
    }
    // #end
}
// #endregion mask

// #region load-at-once
/// v4: what load_queries of chapter 02 does, but each thread asks for all of its
/// elements before it waits for the first: one trip to memory instead of several.
template <class T>
__device__ __forceinline__ void load_queries_at_once(float* s_q,      // [BM, kStride]
                                                     const float* q,  // [rows, D]
                                                     int rows,        // that are left
                                                     float scale) {
    constexpr int kLoads = T::BM * T::D / 4 / T::kThreads;
    constexpr int kRows = T::kThreads * 4 / T::D;  // that the block loads at once
    const int row = threadIdx.x / (T::D / 4);
    const int col = threadIdx.x % (T::D / 4) * 4;
    float4 r_q[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
        const int r = row + i * kRows;
        r_q[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (r < rows) r_q[i] = *reinterpret_cast<const float4*>(q + r * T::D + col);
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
        *reinterpret_cast<float4*>(s_q + (row + i * kRows) * T::kStride + col) =
            make_float4(
                r_q[i].x * scale, r_q[i].y * scale, r_q[i].z * scale, r_q[i].w * scale);
    }
}
// #endregion load-at-once

// #region v2-kernel
/// What v3 and v4 add to v2.
struct BlockOptions {
    bool longest_first = false;  ///< v3, v4: rows of blocks in the pattern's order, all
                                 ///< heads of one before the next; else head by head
    bool queries_at_once = false;  ///< v4: all of a thread's loads before it waits
};

/// block_sparse_attention_v2 to v4: flash_attention_v4 over a list of tiles.
///
/// @tparam T           a Tile
/// @param  scale_log2  scale * log2(e): the softmax is computed in powers of two
///
/// Launch   grid heads * row_tiles, block T::kThreads, dynamic shared memory T::kBytes
template <class T, BlockOptions kOptions>
__global__ void __launch_bounds__(T::kThreads)
    block_sparse_tiles_kernel(wb::BlockPattern pattern,
                              const float* q,  // [heads, queries, D]
                              const float* k,  // [heads, keys, D]
                              const float* v,  // [heads, keys, D]
                              float* o,        // [heads, queries, D]
                              float* lse,      // [heads, queries] or null
                              wb::PatternStatus* status,
                              int queries,
                              int keys,
                              unsigned heads,
                              unsigned row_tiles,  // of a head
                              float scale_log2) {
    constexpr int kParts = wb::BlockPattern::kRows / T::BM;  // tiles of a row of blocks
    extern __shared__ float4 s_tiles[];
    const Workspace<T> w(s_tiles);
    const unsigned tile =
        kOptions.longest_first ? blockIdx.x / heads : blockIdx.x % row_tiles;
    const int64_t head =
        kOptions.longest_first ? blockIdx.x % heads : blockIdx.x / row_tiles;
    int block_row = static_cast<int>(tile) / kParts;
    if (kOptions.longest_first) {
        const int place = block_row;
        block_row = pattern.order[place];
        const int block_rows = wb::BlockPattern::block_rows(queries);
        if (block_row < 0 || block_row >= block_rows) {  // the whole block returns
            report_fault(status, wb::PatternFault::order, place, place, block_row);
            return;
        }
    }
    const int part_row = static_cast<int>(tile) % kParts * T::BM;
    const int first_row = block_row * wb::BlockPattern::kRows + part_row;
    if (first_row >= queries) return;  // the second half of a short last row of blocks
    const BlockWalk<T> walk(pattern, block_row, status);
    const auto first_key = [&](int step) {
        return walk.first_key(pattern, step, block_row, keys, status);
    };
    const int64_t g_row = head * queries + first_row;
    k += head * keys * T::D;
    v += head * keys * T::D;
    int next = first_key(0);
    if (walk.steps > 0) {
        start_copy<T, T::kStride>(w.s_k, k + int64_t{next} * T::D, keys - next);
    }
    if constexpr (kOptions.queries_at_once) {
        load_queries_at_once<T>(
            w.s_q, q + g_row * T::D, queries - first_row, scale_log2);
    } else {
        load_queries<T>(w.s_q, q + g_row * T::D, queries - first_row, scale_log2);
    }
    RowSums<T> r;
    for (int step = 0; step < walk.steps; ++step) {
        const int key = next;
        next = first_key(step + 1);  // early: the list is far away in memory
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the keys are here, and nobody reads the values any more
        start_copy<T, T::D>(w.s_v, v + int64_t{key} * T::D, keys - key);
        float r_s[T::TM][T::TN] = {};
        tile_scores(w, r_s);
        // TODO(learner): in the steps of partial blocks, and only there: mask_by_bits()
        // with the words of this step's block, of which the tile's rows begin with
        // part_row; the tile's first bit follows from the step (about 5 lines)
        // #solution
        if (step >= walk.full_steps) {
            const int64_t masks = walk.place(step) * wb::BlockPattern::kRows + part_row;
            mask_by_bits(
                w, r_s, pattern.masks + masks, step % BlockWalk<T>::kSteps * T::BN);
        }
        // #end
        if (key + T::BN > keys) mask_scores(w, r_s, key, 0, keys, false);
        softmax_step<T>(r_s, r);
        store_weights(w, r_s);
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the values are here, and nobody reads the keys any more
        if (step + 1 < walk.steps) {
            start_copy<T, T::kStride>(w.s_k, k + int64_t{next} * T::D, keys - next);
        }
        add_values(w, r);
    }
    store_output(w,
                 r,
                 o + g_row * T::D,
                 lse == nullptr ? nullptr : lse + g_row,
                 queries - first_row);
}
// #endregion v2-kernel

// #region v3-launch
/// Launches the kernel. Returns false where the GPU has not enough shared memory for a
/// block.
template <class T, BlockOptions kOptions>
static bool launch_blocks(const wb::AttentionShape& shape,
                          const wb::BlockPattern& pattern,
                          const Tensors<float>& t,
                          wb::PatternStatus* status,
                          cudaStream_t stream) {
    constexpr int kParts = wb::BlockPattern::kRows / T::BM;
    const auto kernel = block_sparse_tiles_kernel<T, kOptions>;
    if (!wb::allow_shared(kernel, T::kBytes)) return false;
    const unsigned row_tiles =
        kParts * wb::grid_size(shape.queries, wb::BlockPattern::kRows);
    const int64_t heads = shape.batch * shape.query_heads;
    const unsigned blocks = wb::grid_size(heads * row_tiles, 1);
    kernel<<<blocks, T::kThreads, T::kBytes, stream>>>(pattern,
                                                       t.q,
                                                       t.k,
                                                       t.v,
                                                       t.o,
                                                       t.lse,
                                                       status,
                                                       static_cast<int>(shape.queries),
                                                       static_cast<int>(shape.keys),
                                                       static_cast<unsigned>(heads),
                                                       row_tiles,
                                                       wb::log2_scale(shape.scale));
    CUDA_CHECK_LAUNCH();
    return true;
}

/// A version: the largest tiles that fit. sm_75 has no room even for the small ones of
/// D = 128.
template <BlockOptions kOptions>
static void launch_largest(const wb::AttentionShape& shape,
                           const wb::BlockPattern& pattern,
                           const float* q,
                           const float* k,
                           const float* v,
                           float* o,
                           float* lse,
                           wb::PatternStatus* status,
                           cudaStream_t stream) {
    const Tensors<float> t = {q, k, v, o, lse};
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        using Large = Tile<large_tiling(head_dim(), /*pairs=*/true)>;
        using Small = Tile<small_tiling(head_dim())>;
        if (!launch_blocks<Large, kOptions>(shape, pattern, t, status, stream) &&
            !launch_blocks<Small, kOptions>(shape, pattern, t, status, stream)) {
            attend_rows(shape, pattern, q, k, v, o, lse, status, stream);
        }
    });
}

// #endregion v3-launch

// #solution
#ifndef WB_VERSION_ONLY  // the other file has all versions, and the contract
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
constexpr BlockOptions kAllOptions = {.longest_first = true, .queries_at_once = true};

void sparse_attention(const wb::AttentionShape& shape,
                      const wb::CsrPattern& pattern,
                      const float* q,
                      const float* k,
                      const float* v,
                      float* o,
                      float* lse,
                      wb::PatternStatus* status,
                      cudaStream_t stream) {
    const wb::Arguments arguments("sparse_attention");
    wb::check_shape(arguments, shape, {32, 64, 128});
    check_arguments(arguments, shape, q, k, v, o, lse, status);
    arguments.size("pattern.num_indices", pattern.num_indices);
    if (shape.rows() == 0) return;
    arguments.device("pattern.offsets", pattern.offsets, shape.queries + 1)
        .device("pattern.indices", pattern.indices, pattern.num_indices);
    attend_rows(shape, pattern, q, k, v, o, lse, status, stream);
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
    // #starter WB_NOT_SOLVED();  // delete this line when all four TODOs are written
    const wb::Arguments arguments("block_sparse_attention");
    wb::check_shape(arguments, shape, {32, 64, 128});
    check_arguments(arguments, shape, q, k, v, o, lse, status);
    arguments.size("pattern.full.num_blocks", pattern.full.num_blocks)
        .size("pattern.partial.num_blocks", pattern.partial.num_blocks);
    if (shape.rows() == 0) return;
    const int64_t rows = wb::ceil_div(shape.queries, int64_t{wb::BlockPattern::kRows});
    const int64_t partial = pattern.partial.num_blocks;
    arguments.device("pattern.full.offsets", pattern.full.offsets, rows + 1)
        .device("pattern.full.blocks", pattern.full.blocks, pattern.full.num_blocks)
        .device("pattern.partial.offsets", pattern.partial.offsets, rows + 1)
        .device("pattern.partial.blocks", pattern.partial.blocks, partial)
        .device("pattern.masks", pattern.masks, partial * wb::BlockPattern::kRows)
        .device("pattern.order", pattern.order, rows);
    launch_largest<kAllOptions>(shape, pattern, q, k, v, o, lse, status, stream);
}
// #endregion contract
// #solution
#endif
// #end
