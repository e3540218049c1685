// histogram_fast.cu: v6 and v7: a copy a lane; for many bins two counters in a word.
#include "histogram.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/shared_memory.h>

#include <type_traits>

#include "values.h"

/// Threads in a block of v6 and v7: few blocks, so that few add to each count.
constexpr int kManyThreads = 1024;

// #region v6-plan
/// The shared memory of a block in v6: `copies` counts for each bin, side by side.
struct Copies {
    unsigned bins;    ///< that have counts there
    unsigned copies;  ///< a power of two, at most 32

    /// As many copies as 32 KB hold, and no more than lanes; one at least.
    explicit Copies(int64_t bins_) : bins(static_cast<unsigned>(bins_)), copies(1) {
        constexpr int64_t kCounts = 32 * 1024 / sizeof(uint32_t);
        while (copies < wb::kWarpSize && bins_ * copies * 2 <= kCounts)
            copies *= 2;
    }

    size_t bytes() const { return size_t{bins} * copies * sizeof(uint32_t); }
};
// #endregion v6-plan

/// Makes shared memory 0, by all threads of the block. There must be a barrier behind
/// it.
__device__ inline void clear_shared(uint32_t* s_words, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += kManyThreads)
        s_words[i] = 0;
}

// #region v6-count
/// Counts the 16 bytes of values that a thread has loaded: in the column of its lane.
///
/// @tparam kAnyBin  there is a bin for each value of T: nothing to check
template <bool kAnyBin, class T>
__device__ inline void count_pack(Pack<T> pack,
                                  uint32_t* s_counts,  // [bins, copies]
                                  unsigned bins,
                                  unsigned copies) {
    // TODO(learner): which of the copies is this lane's, if there are 32, or fewer? Add
    // 1 to it for each item of the pack that has a bin; if kAnyBin, do not ask (about 6
    // lines)
    (void)pack;
    (void)s_counts;
    (void)bins;
    (void)copies;
}
// #endregion v6-count

// #region v6-kernel
/// v6: each lane has counts of its own, in a bank of its own: lanes of a warp never
/// meet, whatever the values are. Warps share the columns, hence atomic additions.
///
/// @tparam kAnyBin  s_bins is 2^(bits of T)
/// @param bins      counts that are written
/// @param s_bins    bins that have counts in shared memory
///
/// Launch   grid one or two for each multiprocessor, block kManyThreads,
///          s_bins * copies * 4 B of shared memory
/// Traffic  reads n values; at most bins atomic additions to global memory a block
template <bool kAnyBin, class T>
__global__ void __launch_bounds__(kManyThreads)
    histogram_v6_kernel(const T* values,   // [n]
                        uint32_t* counts,  // [bins], 0
                        int64_t n,
                        unsigned bins,
                        unsigned s_bins,
                        unsigned copies) {
    extern __shared__ uint32_t s_counts[];  // [s_bins, copies]
    clear_shared(s_counts, s_bins * copies);
    __syncthreads();
    const Packs<T> packs(values, n);
    const int64_t step = int64_t{gridDim.x} * kManyThreads;
    const int64_t first = int64_t{blockIdx.x} * kManyThreads + threadIdx.x;
    if (first < packs.num_single()) {
        const unsigned bin = bin_of(packs.single(static_cast<unsigned>(first)));
        if (bin < s_bins) atomicAdd(&s_counts[bin * copies], 1u);
    }
    // 16 values a round: more would take more than 32 registers, and two blocks would
    // not fit on a multiprocessor.
    constexpr int kLoads = 16 / Pack<T>::kItems;
    for (int64_t i = first; i < packs.count; i += kLoads * step) {
        Pack<T> r_packs[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; ++k)
            if (i + k * step < packs.count) r_packs[k] = packs.all[i + k * step];
#pragma unroll
        for (int k = 0; k < kLoads; ++k)
            if (i + k * step < packs.count)
                count_pack<kAnyBin>(r_packs[k], s_counts, s_bins, copies);
    }
    __syncthreads();
    const unsigned written = bins < s_bins ? bins : s_bins;
    for (unsigned bin = threadIdx.x; bin < written; bin += kManyThreads) {
        uint32_t count = 0;
        // Each lane begins in another column, or all would be in one bank.
        for (unsigned k = 0; k < copies; ++k)
            count += s_counts[bin * copies + ((bin + k) & (copies - 1))];
        if (count > 0) atomicAdd(&counts[bin], count);
    }
}
// #endregion v6-kernel

// #region v6-launch
/// Blocks of kManyThreads that have `bytes` of shared memory each: two on each
/// multiprocessor, if they fit, and a pack for each thread at least.
static unsigned many_thread_blocks(int64_t packs, size_t bytes) {
    const int shared =
        wb::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    const int64_t resident = 2 * (bytes + 1024) <= static_cast<size_t>(shared) ? 2 : 1;
    const int64_t most = resident * wb::multiprocessors();
    return static_cast<unsigned>(
        std::clamp(wb::ceil_div(packs, int64_t{kManyThreads}), int64_t{1}, most));
}

/// Lets a kernel have its shared memory: from 48 KB on that has to be asked for.
template <class Kernel>
static bool has_room(Kernel kernel, size_t bytes) {
    return bytes <= 48 * 1024 || wb::allow_shared(kernel, bytes);
}

/// v6, if its counts fit into shared memory. Values of one byte have counts for all
/// 256 of them, and are not checked.
template <class T>
static bool try_v6(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    constexpr bool kAnyBin = sizeof(T) == 1;
    const int64_t s_bins = kAnyBin ? 256 : bins;
    if (s_bins > int64_t{1} << 20) return false;
    const Copies copies(s_bins);
    const auto kernel = histogram_v6_kernel<kAnyBin, T>;
    if (!has_room(kernel, copies.bytes())) return false;
    const unsigned blocks = many_thread_blocks(n / Pack<T>::kItems, copies.bytes());
    kernel<<<blocks, kManyThreads, copies.bytes(), stream>>>(
        values, counts, n, static_cast<unsigned>(bins), copies.bins, copies.copies);
    CUDA_CHECK_LAUNCH();
    return true;
}

template <class T>
static void histogram_v6(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    Contract::clear(counts, bins, stream);
    if (!try_v6(values, counts, n, bins, stream))
        GlobalRuns::count(values, counts, n, bins, stream);
}
// #endregion v6-launch

// #region v7-add
/// Half of what a counter of 16 bits can hold.
constexpr unsigned kHalf = 1u << 15;

/// The counters of a block in v7: bin b is the lower half of word b, bin num_words + b
/// its upper half.
struct TwoInAWord {
    uint32_t* s_words;   // [num_words]
    unsigned num_words;  ///< half of the bins, rounded up
    uint32_t* counts;    // [bins] in global memory
    unsigned bins;

    /// Adds `length` to a bin. Between two barriers a block adds kHalf at most, and at
    /// each barrier a counter is below kHalf: so it never exceeds 2 * kHalf - 1, and
    /// nothing is carried into the neighbour. Of the additions between two barriers at
    /// most one finds the counter below kHalf and leaves it at kHalf or above: it moves
    /// kHalf to global memory.
    __device__ void add(unsigned bin, unsigned length) const {
        if (bin >= bins) return;
        // TODO(learner): find the word of the bin, and how far its half is shifted. Add
        // atomically; what was in the half before says whether this addition has to
        // take kHalf away again, and give it to counts[bin] (about 9 lines)
        (void)length;
    }
};
// #endregion v7-add

// #region v7-tile
/// Packs that a thread has of a tile.
constexpr int kTilePacks = 4;
constexpr int kTile = kManyThreads * kTilePacks;  ///< packs of a tile

/// A thread's share of a tile.
struct TilePacks {
    Pack<int32_t> packs[kTilePacks];
};

/// Loads it. What is behind the end becomes -1, which is in no bin.
__device__ inline TilePacks load_tile(const Packs<int32_t>& packs, int64_t tile) {
    TilePacks r_tile;
    const int64_t first = tile * kTile + threadIdx.x;
#pragma unroll
    for (int k = 0; k < kTilePacks; ++k) {
        const int64_t i = first + k * kManyThreads;
        r_tile.packs[k] =
            i < packs.count ? packs.all[i] : Pack<int32_t>{{-1, -1, -1, -1}};
    }
    return r_tile;
}
// #endregion v7-tile

// #region v7-kernel
/// v7: counters of 16 bits, so that 2^16 bins fit into 128 KB of shared memory. While
/// a tile is counted, the next one is on its way. Runs are one addition, a warp of
/// equal values, too.
///
/// Launch   grid a block a multiprocessor, block kManyThreads, (bins + 1) / 2 * 4 B of
///          shared memory
/// Traffic  reads n values; at most bins atomic additions to global memory a block, and
///          one for each kHalf values
static __global__ void __launch_bounds__(kManyThreads)
    histogram_v7_kernel(const int32_t* values,  // [n]
                        uint32_t* counts,       // [bins], 0
                        int64_t n,
                        unsigned bins) {
    constexpr int kBarrierTiles = 2;
    static_assert(kBarrierTiles * kTile * Pack<int32_t>::kItems <= kHalf,
                  "more values between two barriers would overflow a counter");
    extern __shared__ uint32_t s_counts[];
    const TwoInAWord counters = {s_counts, (bins + 1) / 2, counts, bins};
    clear_shared(s_counts, counters.num_words);
    const Packs<int32_t> packs(values, n);
    const int64_t tiles = (packs.count + kTile - 1) / kTile;
    TilePacks r_next = load_tile(packs, blockIdx.x);
    __syncthreads();
    // Six values at most, and no barrier behind them: all counters begin at 0.
    if (blockIdx.x == 0 && threadIdx.x < packs.num_single())
        counters.add(bin_of(packs.single(threadIdx.x)), 1);
    const auto add = [&](unsigned bin, unsigned length) { counters.add(bin, length); };
    int since_barrier = 0;
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const TilePacks r_tile = r_next;
        r_next = load_tile(packs, tile + gridDim.x);
#pragma unroll
        for (int k = 0; k < kTilePacks; ++k)
            for_each_warp_run(r_tile.packs[k], add);
        if (++since_barrier == kBarrierTiles) {
            __syncthreads();
            since_barrier = 0;
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < counters.num_words; i += kManyThreads) {
        const uint32_t word = s_counts[i];
        const uint32_t lower = word & 0xFFFFu;
        const uint32_t upper = word >> 16;
        if (lower > 0) atomicAdd(&counts[i], lower);
        if (upper > 0) atomicAdd(&counts[counters.num_words + i], upper);
    }
}
// #endregion v7-kernel

// #region v7-launch
/// v6 where it fits; else v7, if that fits; else global memory.
template <class T>
static void histogram_v7(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    static_assert(std::is_same_v<T, int32_t>, "bytes have 256 bins: v6 is enough");
    Contract::clear(counts, bins, stream);
    if (try_v6(values, counts, n, bins, stream)) return;
    const size_t bytes = static_cast<size_t>((bins + 1) / 2) * sizeof(uint32_t);
    if (!has_room(histogram_v7_kernel, bytes))
        return GlobalRuns::count(values, counts, n, bins, stream);
    // A block with few values would have more counts to write than values to read.
    constexpr int64_t kValues = 8192;
    const int64_t most = wb::multiprocessors();
    const auto blocks =
        static_cast<unsigned>(std::clamp(n / kValues, int64_t{1}, most));
    histogram_v7_kernel<<<blocks, kManyThreads, bytes, stream>>>(
        values, counts, n, static_cast<unsigned>(bins));
    CUDA_CHECK_LAUNCH();
}
// #endregion v7-launch

// #region contract
void histogram_i32(const int32_t* values,
                   uint32_t* counts,
                   int64_t n,
                   int64_t bins,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (Contract::has_work("histogram_i32", values, counts, n, bins, stream))
        histogram_v7(values, counts, n, bins, stream);
}

void histogram_u8(const uint8_t* values,
                  uint32_t* counts,
                  int64_t n,
                  int64_t bins,
                  cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (Contract::has_work("histogram_u8", values, counts, n, bins, stream))
        histogram_v6(values, counts, n, bins, stream);
}
// #endregion contract
