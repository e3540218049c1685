/// tiles.h: given with the second stage: how a block holds a tile in registers and
/// scans it, and the words by which tiles tell each other their sums.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cuda/atomic>

#include <cstdint>

#include "runs.h"

// #region tile-sizes
/// Threads of a block, and its warps.
constexpr int kTileThreads = 256;
constexpr int kWarps = kTileThreads / wb::kWarpSize;

/// Elements of a vector, and vectors of a thread: each is in a row of a warp's part of
/// the tile, so that a warp loads 512 neighbouring bytes with one instruction.
constexpr int kVector = 4;
constexpr int kRows = 4;
constexpr int kRowLength = wb::kWarpSize * kVector;
constexpr int kWarpLength = kRows * kRowLength;

/// Elements of a tile, 16 a thread.
constexpr int kTile = kWarps * kWarpLength;
// #endregion tile-sizes

/// Where this thread's vector of a row begins, counted from the beginning of the tile.
__device__ inline int first_of(int row) {
    const int warp = threadIdx.x / wb::kWarpSize;
    const int lane = threadIdx.x % wb::kWarpSize;
    return warp * kWarpLength + row * kRowLength + lane * kVector;
}

// #region items
/// A thread's elements of a tile, and which of them begin segments.
template <class R>
struct Items {
    using T = typename R::Number;
    T x[kRows][kVector];
    uchar4 heads[kRows];

    /// Element k of a row, as a run.
    __device__ R run(int row, int k) const {
        const unsigned char flags[] = {
            heads[row].x, heads[row].y, heads[row].z, heads[row].w};
        return make_run(static_cast<const R*>(nullptr), x[row][k], flags[k] != 0);
    }
};
// #endregion items

/// A vector of four numbers.
__device__ inline uint4 make_vector(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return make_uint4(a, b, c, d);
}
__device__ inline float4 make_vector(float a, float b, float c, float d) {
    return make_float4(a, b, c, d);
}
template <class T>
using Vector = decltype(make_vector(T{}, T{}, T{}, T{}));

/// Whether vectors may be loaded and stored: x and y are multiples of 16 bytes, heads
/// one of 4.
template <class R>
bool takes_vectors(const Job<R>& job) {
    const auto address = [](const void* p) { return reinterpret_cast<uintptr_t>(p); };
    return (address(job.x) | address(job.y)) % 16 == 0 && address(job.heads) % 4 == 0;
}

// #region load
/// Loads a tile; past the end of the array there are zeros and no heads.
///
/// @param left     elements from the tile's first one to the end of the array
/// @param vectors  whether x and heads are aligned for vectors
template <class R>
__device__ inline Items<R> load_items(
    const typename R::Number* g_x,  // the tile's first
    const uint8_t* g_heads,         // or null
    int64_t left,
    bool vectors) {
    using T = typename R::Number;
    Items<R> items;
    if (vectors && left >= kTile) {
#pragma unroll
        for (int row = 0; row < kRows; ++row) {
            const auto v = *reinterpret_cast<const Vector<T>*>(g_x + first_of(row));
            items.x[row][0] = v.x;
            items.x[row][1] = v.y;
            items.x[row][2] = v.z;
            items.x[row][3] = v.w;
            items.heads[row] = make_uchar4(0, 0, 0, 0);
            if (g_heads != nullptr)
                items.heads[row] =
                    *reinterpret_cast<const uchar4*>(g_heads + first_of(row));
        }
        return items;
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
        unsigned char flags[kVector];
#pragma unroll
        for (int k = 0; k < kVector; ++k) {
            const int i = first_of(row) + k;
            items.x[row][k] = i < left ? g_x[i] : T{};
            flags[k] = i < left && g_heads != nullptr ? g_heads[i] : 0;
        }
        items.heads[row] = make_uchar4(flags[0], flags[1], flags[2], flags[3]);
    }
    return items;
}
// #endregion load

// #region scan-tile
/// What a thread knows of its tile once the block has scanned it.
template <class R>
struct TileScan {
    R before[kRows];  // from the tile's first element to the thread's vector of a row
    R total;          // of the whole tile
};

/// The runs of a warp up to each lane, its own included.
template <class R>
__device__ inline R warp_scan(R mine) {
    const int lane = threadIdx.x % wb::kWarpSize;
#pragma unroll
    for (int distance = 1; distance < wb::kWarpSize; distance *= 2) {
        const R left = shuffle_up(mine, distance);
        if (lane >= distance) mine = join(left, mine);
    }
    return mine;
}

/// Scans a tile: each thread its vectors, each warp its rows, then the warps' totals.
/// All threads of the block must call it; it has one barrier.
///
/// @param s_warps  [kWarps] not used for anything else
template <class R>
__device__ inline TileScan<R> scan_tile(const Items<R>& items, R* s_warps) {
    const int warp = threadIdx.x / wb::kWarpSize;
    const int lane = threadIdx.x % wb::kWarpSize;
    TileScan<R> scan;
    R rows{};  // of the warp, before this one
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
        R mine = items.run(row, 0);
#pragma unroll
        for (int k = 1; k < kVector; ++k)
            mine = join(mine, items.run(row, k));
        mine = warp_scan(mine);
        const R left = shuffle_up(mine, 1);
        scan.before[row] = lane == 0 ? rows : join(rows, left);
        rows = join(rows, shuffle(mine, wb::kWarpSize - 1));
    }
    if (lane == 0) s_warps[warp] = rows;
    __syncthreads();
    R warps{};
    scan.total = R{};
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) warps = scan.total;
        scan.total = join(scan.total, s_warps[w]);
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row)
        scan.before[row] = join(warps, scan.before[row]);
    return scan;
}
// #endregion scan-tile

// #region store
/// Writes the sums of a tile.
///
/// @param before  the sum of what stands before the tile, in the segment that goes on
///                in it
template <class R>
__device__ inline void store_items(const Items<R>& items,
                                   const TileScan<R>& scan,
                                   typename R::Number before,
                                   typename R::Number* g_y,  // the tile's first
                                   int64_t left,
                                   bool vectors,
                                   ScanKind kind) {
    using T = typename R::Number;
    const R tiles = make_run(static_cast<const R*>(nullptr), before, 0);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
        R sum = join(tiles, scan.before[row]);
        T y[kVector];
#pragma unroll
        for (int k = 0; k < kVector; ++k) {
            const R mine = items.run(row, k);
            const T exclusive = has_head(mine) ? T{} : sum.sum;
            sum = join(sum, mine);
            y[k] = kind == ScanKind::inclusive ? sum.sum : exclusive;
        }
        const int first = first_of(row);
        if (vectors && left >= kTile) {
            *reinterpret_cast<Vector<T>*>(g_y + first) =
                make_vector(y[0], y[1], y[2], y[3]);
        } else {
#pragma unroll
            for (int k = 0; k < kVector; ++k)
                if (first + k < left) g_y[first + k] = y[k];
        }
    }
}
// #endregion store

// #region words
/// What a tile tells those behind it, in one word of 64 bits: a sum, and what it is of.
/// Both are written, and read, with one instruction: the one is never seen without the
/// other, and no fence is needed.
using Word = unsigned long long;

constexpr Word kEmpty = 0;   // nothing yet: what cudaMemsetAsync() leaves
constexpr Word kTotal = 1;   // the tile's own sum
constexpr Word kPrefix = 2;  // the sum of all up to the tile, in its last segment

__device__ inline uint32_t bits_of(uint32_t sum) {
    return sum;
}
__device__ inline uint32_t bits_of(float sum) {
    return __float_as_uint(sum);
}
template <class T>
__device__ inline T sum_of(Word word);
template <>
__device__ inline uint32_t sum_of<uint32_t>(Word word) {
    return static_cast<uint32_t>(word);
}
template <>
__device__ inline float sum_of<float>(Word word) {
    return __uint_as_float(static_cast<uint32_t>(word));
}

/// What a word is: kEmpty, kTotal or kPrefix.
__device__ inline Word kind_of(Word word) {
    return word >> 32;
}

/// Tells all other blocks.
template <class T>
__device__ inline void publish(Word* word, Word kind, T sum) {
    using Atomic = cuda::atomic_ref<Word, cuda::thread_scope_device>;
    Atomic(*word).store(kind << 32 | bits_of(sum), cuda::memory_order_relaxed);
}

/// Asks another tile, which may not have published yet.
__device__ inline Word ask(Word* word) {
    using Atomic = cuda::atomic_ref<Word, cuda::thread_scope_device>;
    return Atomic(*word).load(cuda::memory_order_relaxed);
}
// #endregion words

// #region tickets
/// The tile of this block: the k-th block that begins gets tile k. So a tile's
/// predecessors belong to blocks that have begun, whatever the order. All threads of
/// the block must call it, once.
///
/// @param next    how many blocks have begun; 0 at the launch
/// @param s_tile  in shared memory
__device__ inline unsigned take_ticket(Word* next, unsigned* s_tile) {
    if (threadIdx.x == 0) *s_tile = static_cast<unsigned>(atomicAdd(next, Word{1}));
    __syncthreads();
    return *s_tile;
}
// #endregion tickets

// #region launch
/// The words of a call, emptied on its stream: each call has its own, and the host does
/// not wait. In front of them stands the number of tickets that have been taken.
class EmptyWords {
 public:
    EmptyWords(unsigned tiles, cudaStream_t stream)
        : words_(int64_t{tiles} + 1, stream) {
        const size_t bytes = (size_t{tiles} + 1) * sizeof(Word);
        CUDA_CHECK(cudaMemsetAsync(words_.data(), 0, bytes, stream));
    }
    Word* next() const { return words_.data(); }
    Word* data() const { return words_.data() + 1; }  ///< [tiles]

 private:
    wb::Scratch<Word> words_;
};

/// Launches a kernel of one pass: a block for each tile.
template <class R, class Kernel>
void launch_one_pass(const Job<R>& job, Kernel kernel) {
    const unsigned tiles = wb::grid_size(job.n, kTile);
    const EmptyWords words(tiles, job.stream);
    kernel<<<tiles, kTileThreads, 0, job.stream>>>(job.x,
                                                   job.heads,
                                                   job.y,
                                                   job.n,
                                                   job.kind,
                                                   words.next(),
                                                   words.data(),
                                                   takes_vectors(job));
    CUDA_CHECK_LAUNCH();
}
// #endregion launch
