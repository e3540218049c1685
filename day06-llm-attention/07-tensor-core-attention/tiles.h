// tiles.h: given with this exercise: what a kernel is told, which rows a block owns,
// how rows of 16-bit numbers lie in shared memory; the softmax of v2 in registers, and
// the way out from there.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/attention.h>
#include <wb/device.h>
#include <wb/launch.h>
#include <wb/launch_kernel.h>
#include <wb/online_softmax.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/mma.h>
#include <wb/ptx/pack.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Each tile of a product is 16 rows high, and so is the share of a warp in v1 to v4.
inline constexpr int kTile = 16;

/// Rows of q that a block owns in v1 to v4, its warps and threads.
inline constexpr int BM = 64;
inline constexpr int kWarps = BM / kTile;
inline constexpr int kThreads = kWarps * wb::kWarpSize;

/// Keys that a block of v2 to v4 works on at a time.
inline constexpr int BN = 64;

/// Numbers of 16 bits in the 16 bytes that a thread moves at once: a chunk.
inline constexpr int kChunk = 8;

/// What a kernel is told. Heads are counted through the batch: 0 <= head < B * Hq.
template <class T>
struct Problem {
    const T* q;  ///< [heads, queries, D]
    const T* k;  ///< [heads / group, keys, D]
    const T* v;  ///< [heads / group, keys, D]
    T* o;        ///< [heads, queries, D]
    float* lse;  ///< [heads, queries] or null
    int queries;
    int keys;
    int group;       ///< query heads that share a head of keys and values
    unsigned tiles;  ///< blocks of a head
    bool causal;
    float scale;  ///< of q . k
};

/// How many tiles of `size` hold n things, n >= 0.
__device__ __forceinline__ int tiles_of(int n, int size) {
    return (n + size - 1) / size;
}

/// The rows of q that this block owns, and what belongs to them.
template <class T, int D>
struct BlockWork {
    const T* q;     ///< of its first row
    const T* k;     ///< of the head's first key
    const T* v;     ///< the same
    int64_t g_row;  ///< its first row among all rows of o and of lse
    int first_row;  ///< its first row among those of the head
    int keys;       ///< that its last row sees, and so all that the block needs

    /// @param rows  of a block
    __device__ BlockWork(const Problem<T>& p, int rows) {
        const int64_t head = blockIdx.x / p.tiles;
        const int64_t kv_head = head / p.group;
        // The last rows of a causal head see the most keys: they start first, so that
        // the short ones fill the gaps at the end.
        int tile = static_cast<int>(blockIdx.x % p.tiles);
        if (p.causal) tile = static_cast<int>(p.tiles) - 1 - tile;
        first_row = tile * rows;
        g_row = head * p.queries + first_row;
        q = p.q + g_row * D;
        k = p.k + kv_head * p.keys * D;
        v = p.v + kv_head * p.keys * D;
        const int last_row = min(first_row + rows, p.queries) - 1;
        keys = wb::visible_keys(p.queries, p.keys, p.causal, last_row);
    }

    /// Keys that one of its rows sees; of a row past the last, what the last one sees.
    __device__ __forceinline__ int visible(const Problem<T>& p, int row) const {
        return wb::visible_keys(
            p.queries, p.keys, p.causal, min(first_row + row, p.queries - 1));
    }
};

// #region plain-rows
/// Rows of D numbers of T, one after the other, in chunks of 16 bytes.
template <int D>
struct PlainRows {
    static constexpr int kBytes = D * 2;  ///< of a row
    /// The byte in a tile where a chunk of a row begins.
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * kBytes + chunk * 16;
    }
};
// #endregion plain-rows

/// Copies kCount rows to a tile, all threads of the block together; zeros past the last
/// row. A product with what is not a number is not a number, even if its weight is 0.
/// @param rows  that there are, from g on
template <class T, int D, class Rows, int kCount>
__device__ __forceinline__ void copy_rows(char* s_tile, const T* g, int rows) {
    constexpr int kChunks = D / kChunk;  // of a row
#pragma unroll
    for (int i = 0; i < kCount * kChunks / kThreads; ++i) {
        const int e = i * kThreads + static_cast<int>(threadIdx.x);
        const int row = e / kChunks;
        const int chunk = e % kChunks;
        uint4 numbers = make_uint4(0, 0, 0, 0);
        if (row < rows)
            numbers = *reinterpret_cast<const uint4*>(g + row * D + chunk * kChunk);
        *reinterpret_cast<uint4*>(s_tile + Rows::offset(row, chunk)) = numbers;
    }
}

/// c += a * b, 16x16 by 16x8, for numbers of T. See <wb/ptx/mma.h> for who holds what.
template <class T>
__device__ __forceinline__ void multiply(float (&c)[4],
                                         const uint32_t (&a)[4],
                                         uint32_t b0,
                                         uint32_t b1) {
    const uint32_t b[2] = {b0, b1};
    if constexpr (std::is_same_v<T, __half>) {
        wb::ptx::mma_m16n8k16_f16(c, a, b);
    } else {
        wb::ptx::mma_m16n8k16_bf16(c, a, b);
    }
}

/// Yours, in tensor_core_attention.cu.
__device__ __forceinline__ int fragment_row(int lane, int e);
__device__ __forceinline__ int fragment_column(int lane, int e);

// #region v2-softmax
/// The online softmax of a lane's two rows, of which three other lanes hold a quarter
/// each. In powers of 2: scores are multiplied with log2(e) beforehand.
struct Softmax {
    float max[2] = {-INFINITY, -INFINITY};
    float sum[2] = {};  ///< of this lane's own weights

    /// Scores become weights, and r_o shrinks if a new maximum turns up.
    /// @param scale    of q . k, times log2(e)
    /// @param visible  keys that each of the rows sees, counted from the first of all
    /// @param key      the first of this tile
    template <int kTiles>
    __device__ __forceinline__ void step(float (&r_s)[BN / 8][4],
                                         float (&r_o)[kTiles][4],
                                         float scale,
                                         const int (&visible)[2],
                                         int key,
                                         int lane) {
        float new_max[2] = {max[0], max[1]};
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const bool sees =
                    key + n * 8 + fragment_column(lane, e) < visible[e / 2];
                r_s[n][e] = sees ? r_s[n][e] * scale : -INFINITY;
                new_max[e / 2] = fmaxf(new_max[e / 2], r_s[n][e]);
            }
        }
        float base[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            // Lanes 4 g to 4 g + 3 hold a row together.
            new_max[h] =
                fmaxf(new_max[h], __shfl_xor_sync(wb::kAllLanes, new_max[h], 1));
            new_max[h] =
                fmaxf(new_max[h], __shfl_xor_sync(wb::kAllLanes, new_max[h], 2));
            // Without any key yet: 2^(-infinity - 0) is 0, and not a NaN.
            base[h] = new_max[h] == -INFINITY ? 0.0f : new_max[h];
            const float factor = wb::ptx::exp2_approx(max[h] - base[h]);
            max[h] = new_max[h];
            sum[h] *= factor;
#pragma unroll
            for (auto& tile : r_o) {
                tile[2 * h] *= factor;
                tile[2 * h + 1] *= factor;
            }
        }
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                r_s[n][e] = wb::ptx::exp2_approx(r_s[n][e] - base[e / 2]);
                sum[e / 2] += r_s[n][e];
            }
        }
    }
};
// #endregion v2-softmax

// #region v2-store
/// Writes the 16 rows of a warp, divided by their sums, and their log-sum-exp.
/// @param row  of the warp, among those of the block
template <class T, int D>
__device__ __forceinline__ void store_rows(const float (&r_o)[D / 8][4],
                                           const Softmax& softmax,
                                           const Problem<T>& p,
                                           const BlockWork<T, D>& work,
                                           int row,
                                           int lane) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float sum = softmax.sum[h];
        sum += __shfl_xor_sync(wb::kAllLanes, sum, 1);
        sum += __shfl_xor_sync(wb::kAllLanes, sum, 2);
        const int mine = row + fragment_row(lane, 2 * h);
        if (work.first_row + mine >= p.queries) continue;
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        const int64_t g_row = work.g_row + mine;
#pragma unroll
        for (int c = 0; c < D / 8; ++c) {
            const uint32_t pair =
                wb::ptx::pack<T>(r_o[c][2 * h] * inverse, r_o[c][2 * h + 1] * inverse);
            T* const g = p.o + g_row * D + c * 8 + fragment_column(lane, 0);
            *reinterpret_cast<uint32_t*>(g) = pair;
        }
        if (p.lse != nullptr && lane % 4 == 0)
            p.lse[g_row] =
                (softmax.max[h] + log2f(sum)) / static_cast<float>(wb::kLog2e);
    }
}
// #endregion v2-store

/// What the kernels are told of a shape.
/// @param rows  of q that a block owns
template <class T>
Problem<T> problem_of(const wb::AttentionShape& shape,
                      const T* q,
                      const T* k,
                      const T* v,
                      T* o,
                      float* lse,
                      int rows) {
    return {q,
            k,
            v,
            o,
            lse,
            static_cast<int>(shape.queries),
            static_cast<int>(shape.keys),
            static_cast<int>(shape.query_heads / shape.kv_heads),
            wb::grid_size(shape.queries, rows),
            shape.causal,
            shape.scale};
}

/// Launches problem.tiles blocks for each head.
/// @param bytes    of dynamic shared memory
/// @param problem  the kernel's only parameter
template <class Kernel, class Problem>
void launch_blocks(Kernel kernel,
                   const Problem& problem,
                   const wb::AttentionShape& shape,
                   int threads,
                   size_t bytes,
                   cudaStream_t stream) {
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * problem.tiles, 1);
    wb::launch_kernel(kernel, blocks, threads, bytes, stream, problem);
}

/// Refuses a GPU that does not have the instructions of this chapter.
inline void require_sm_80(const wb::Arguments& arguments) {
    const int major = wb::device_attribute(cudaDevAttrComputeCapabilityMajor);
    arguments.require(major >= 8,
                      "the GPU's compute capability",
                      major,
                      "must be 8 or more: mma.sync on 16x8x16 numbers came with sm_80. "
                      "Chapter 06 has the same result without tensor cores");
}
