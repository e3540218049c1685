// tiles.h: given with this exercise: what a kernel is told, which rows a block owns,
// and how rows of 16-bit numbers lie in shared memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/launch.h>
#include <wb/ptx/mma.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Each tile of a product is 16 rows high, and so is the share of a warp in v1 to v4.
inline constexpr int kTile = 16;

/// Rows of q that a block owns in v1 to v4, its warps and threads.
inline constexpr int kRows = 64;
inline constexpr int kWarps = kRows / kTile;
inline constexpr int kThreads = kWarps * wb::kWarpSize;

/// Keys that a block of v2 to v4 works on at a time.
inline constexpr int kKeys = 64;

/// Numbers of 16 bits in the 16 bytes that a thread moves at once: a chunk.
inline constexpr int kChunk = 8;

/// All lanes of a warp.
inline constexpr unsigned kAll = 0xFFFFFFFFu;

/// log2(e): exp(x) = 2^(x * log2(e)), and the hardware knows powers of 2.
inline constexpr float kLog2e = 1.44269504f;

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

/// Two floats, each rounded to T, in one register; the first in its lower half.
template <class T>
__device__ __forceinline__ uint32_t pair_of(float low, float high) {
    uint32_t bits;
    if constexpr (std::is_same_v<T, __half>) {
        const __half2 pair = __floats2half2_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    } else {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    }
    return bits;
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
