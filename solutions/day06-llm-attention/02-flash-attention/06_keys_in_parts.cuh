// 06_keys_in_parts.cuh: flash_attention_v6. Included by flash_attention.cu, below v5,
// which it calls where there are rows enough for the whole GPU.
#pragma once

#include <wb/device.h>
#include <wb/head_dim.h>
#include <wb/ladder.h>
#include <wb/scratch.h>

#include <algorithm>
#include <optional>

#include "05_lanes_in_pairs.cuh"

/// A fourth of v5's rows, for few rows: 52 KB with D = 64, 105 KB with D = 256.
constexpr Tiling few_rows_tiling(int head_dim) {
    return {.head_dim = head_dim,
            .block_rows = 32,
            .block_keys = head_dim == 256 ? 32 : 64,
            .lanes = head_dim == 32 ? 8 : 16,
            .pairs = true};
}

/// What blocks leave of their parts of the keys: sums that are not divided yet, below
/// the maximum of the part's own scores, in powers of two.
struct Parts {
    float* o;         // [parts, rows, D]
    float2* max_sum;  // [parts, rows] (-inf, 0) where a row sees no key of the part
    int64_t rows;     // B * H * queries
};

/// Stores the sums of a block's rows as a part: store_output() without the division.
/// @param g_row  the block's first row, of all heads
/// @param rows   that are left in its head
template <class T>
__device__ __forceinline__ void store_part(const Workspace<T>& w,
                                           const RowSums<T>& r,
                                           const Parts& parts,
                                           int64_t g_row,
                                           int rows) {
    const int64_t first = blockIdx.y * parts.rows + g_row;
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        float sum = r.sum[i];
#pragma unroll
        for (int other = 1; other < T::kLanes; other *= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, other * T::kLaneStep);
        const int row = w.row + i * T::kRowStep;
        if (row >= rows) continue;
#pragma unroll
        for (int c = 0; c < T::TD; c += 4) {
            copy_vector<4>(parts.o + (first + row) * T::D + c * T::kLanes + 4 * w.col,
                           &r.o[i][c]);
        }
        if (w.col == 0) parts.max_sum[first + row] = make_float2(r.max[i], sum);
    }
}

// #region v6-kernel
/// flash_attention_v6: v4's kernel, in which a block takes a part of the keys. Part p
/// of P has the steps from steps * p / P to steps * (p + 1) / P of its rows: with a
/// causal mask these are other keys for other rows, and as many for each part.
///
/// @param parts  where the sums go if gridDim.y > 1; otherwise, o and lse are written
///
/// Launch   grid (B * H * row_tiles, P), block T::kThreads, dynamic shared memory of
///          T::kBytes
/// Traffic  as v4; if P > 1, writes 4 (D + 2) bytes a row and part in place of o
template <class T>
__global__ void __launch_bounds__(T::kThreads)
    flash_attention_v6_kernel(const float* q,  // [B * H, queries, D]
                              const float* k,  // [B * H, keys, D]
                              const float* v,  // [B * H, keys, D]
                              float* o,        // [B * H, queries, D]
                              float* lse,      // [B * H, queries] or null
                              Parts parts,
                              int queries,
                              int keys,
                              unsigned row_tiles,
                              bool causal,
                              float scale_log2) {
    extern __shared__ float4 s_tiles[];
    const Workspace<T> w(s_tiles);
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    // A row of the first tiles may see so few keys that a part has none: no step.
    const int64_t steps = max(work.steps, 0);
    const int first_step = static_cast<int>(steps * blockIdx.y / gridDim.y);
    const int last_step = static_cast<int>(steps * (blockIdx.y + 1) / gridDim.y);
    k += (work.head * keys + int64_t{first_step} * T::BN) * T::D;
    v += (work.head * keys + int64_t{first_step} * T::BN) * T::D;
    if (first_step < last_step)
        start_copy<T, T::kStride>(w.s_k, k, keys - first_step * T::BN);
    load_queries<T>(w.s_q, q + g_row * T::D, work.rows, scale_log2);
    RowSums<T> r;
    for (int step = first_step; step < last_step; ++step) {
        const int first_key = step * T::BN;
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the keys are here, and nobody reads the values any more
        start_copy<T, T::D>(w.s_v, v, keys - first_key);
        v += T::BN * T::D;
        float r_s[T::TM][T::TN] = {};
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<T>(r_s, r);
        store_weights(w, r_s);
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the values are here, and nobody reads the keys any more
        k += T::BN * T::D;
        if (step + 1 < last_step) {
            start_copy<T, T::kStride>(w.s_k, k, keys - first_key - T::BN);
        }
        add_values(w, r);
    }
    if (gridDim.y > 1) {
        store_part(w, r, parts, g_row, work.rows);
    } else {
        store_output(
            w, r, o + g_row * T::D, lse == nullptr ? nullptr : lse + g_row, work.rows);
    }
}
// #endregion v6-kernel

/// Parts that a thread of the merge reads at most.
constexpr int64_t kMostParts = 1024;

/// Threads of a block of the merge.
constexpr int kMergeThreads = 128;

// #region v6-merge
/// Makes rows of their parts: all sums are brought to the largest maximum, and added.
/// A thread has four columns of a row. Each row sees a key, for there are more keys
/// than queries: see num_parts(). So the maximum of its parts is not -infinity.
///
/// Launch   grid ceil(rows * D / 4 / kMergeThreads), block kMergeThreads
/// Traffic  reads 4 (D + 2) bytes a row and part, writes o and lse
__global__ void __launch_bounds__(kMergeThreads)
    flash_attention_v6_merge_kernel(const Parts parts,
                                    int num_parts,
                                    int D,
                                    float* o,      // [rows, D]
                                    float* lse) {  // [rows] or null
    constexpr float kLn2 = wb::kLn2;
    const int64_t i = int64_t{blockIdx.x} * kMergeThreads + threadIdx.x;
    const int64_t row = i / (D / 4);
    if (row >= parts.rows) return;
    float maximum = -INFINITY;
    for (int p = 0; p < num_parts; ++p)
        maximum = fmaxf(maximum, parts.max_sum[p * parts.rows + row].x);
    float sum = 0.0f;
    float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
    for (int p = 0; p < num_parts; ++p) {
        const float2 its = parts.max_sum[p * parts.rows + row];
        const float4 x =
            reinterpret_cast<const float4*>(parts.o + p * parts.rows * D)[i];
        const float factor = wb::ptx::exp2_approx(its.x - maximum);
        sum += factor * its.y;
        total.x += factor * x.x;
        total.y += factor * x.y;
        total.z += factor * x.z;
        total.w += factor * x.w;
    }
    const float inverse = 1.0f / sum;
    reinterpret_cast<float4*>(o)[i] = make_float4(
        total.x * inverse, total.y * inverse, total.z * inverse, total.w * inverse);
    if (lse != nullptr && i % (D / 4) == 0) lse[row] = (maximum + log2f(sum)) * kLn2;
}
// #endregion v6-merge

// #region v6-parts
/// How many parts the keys are cut into: as many as give each place of a GPU for a
/// block one of them, but no part is without a step, and the parts together take no
/// more memory than k and v. So it is 1 where there are as many queries as keys.
/// @param tiles   of rows, of all heads
/// @param places  blocks that run at the same time
template <class T>
int num_parts(const wb::AttentionShape& shape, int64_t tiles, int64_t places) {
    const int64_t steps = wb::ceil_div(shape.keys, int64_t{T::BN});
    const int64_t room =
        2 * shape.keys * T::D / (shape.queries * (T::D + 2));  // for a part each
    const int64_t parts = std::min({places / tiles, steps, room, kMostParts});
    if (parts < 2) return 1;
    // All parts have as many steps: with 5 in 4 parts, one has 2, and 3 wait for it.
    return static_cast<int>(wb::ceil_div(steps, wb::ceil_div(steps, parts)));
}
// #endregion v6-parts

/// Blocks of `bytes` of shared memory that run at the same time.
inline int64_t places_for_blocks(int64_t multiprocessors, size_t bytes) {
    const auto shared = static_cast<size_t>(
        wb::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    constexpr size_t kReserved = 1024;  // for each block, since sm_80
    return multiprocessors *
           std::max(static_cast<int64_t>(shared / (bytes + kReserved)), int64_t{1});
}

// #region in-parts
/// Launches a kernel whose blocks have the keys of their rows in parts, and then what
/// merges the parts, if there is more than one.
///
/// @tparam T       the tile of a block
/// @param  places  blocks of `kernel` that run at the same time
template <class T, class Kernel>
static void launch_in_parts(Kernel kernel,
                            int64_t places,
                            const wb::AttentionShape& shape,
                            const float* q,
                            const float* k,
                            const float* v,
                            float* o,
                            float* lse,
                            cudaStream_t stream) {
    const int64_t heads = shape.batch * shape.query_heads;
    const unsigned row_tiles = wb::grid_size(shape.queries, T::BM);
    const unsigned tiles = wb::grid_size(heads * row_tiles, 1);
    const int parts = num_parts<T>(shape, tiles, places);
    std::optional<wb::Scratch<float>> memory;
    Parts to = {nullptr, nullptr, shape.rows()};
    if (parts > 1) {
        const int64_t part_rows = parts * shape.rows();
        memory.emplace(part_rows * (T::D + 2), stream);
        to.o = memory->data();
        to.max_sum = reinterpret_cast<float2*>(to.o + part_rows * T::D);
    }
    kernel<<<dim3(tiles, parts), T::kThreads, T::kBytes, stream>>>(
        q,
        k,
        v,
        o,
        lse,
        to,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        row_tiles,
        shape.causal,
        wb::log2_scale(shape.scale));
    CUDA_CHECK_LAUNCH();
    if (parts == 1) return;
    const unsigned blocks = wb::grid_size(shape.rows() * (T::D / 4), kMergeThreads);
    flash_attention_v6_merge_kernel<<<blocks, kMergeThreads, 0, stream>>>(
        to, parts, T::D, o, lse);
    CUDA_CHECK_LAUNCH();
}
// #endregion in-parts

// #region v6-launch
static void flash_attention_v6(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    const int64_t multiprocessors = wb::multiprocessors();
    const int64_t heads = shape.batch * shape.query_heads;
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        using T = Tile<few_rows_tiling(head_dim())>;
        constexpr int kRowsOfV5 = Tile<large_tiling(head_dim(), true)>::BM;
        const auto kernel = flash_attention_v6_kernel<T>;
        if (heads * wb::ceil_div(shape.queries, int64_t{kRowsOfV5}) >=
                multiprocessors ||
            !wb::allow_shared(kernel, T::kBytes)) {
            return flash_attention_v5(shape, q, k, v, o, lse, stream);
        }
        launch_in_parts<T>(kernel,
                           places_for_blocks(multiprocessors, T::kBytes),
                           shape,
                           q,
                           k,
                           v,
                           o,
                           lse,
                           stream);
    });
}
// #endregion v6-launch
WB_RUNG(flash_attention, flash_attention_v6, "few rows: the keys in parts");
