/// values.h: what all versions share: the bin of a value, what the contract refuses,
/// loads of 16 bytes, and runs. There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/launch.h>

#include <algorithm>
#include <cstdint>

#include "histogram.h"

/// Threads in a block of v1 to v5.
constexpr int kThreads = 256;

/// Bins that fit into the shared memory which every block may have: 48 KB.
constexpr int64_t kSharedBins = 48 * 1024 / sizeof(uint32_t);

// #region bin
/// The bin of a value. A negative value becomes 2^31 at least, so that `bin < bins` is
/// the only question to ask.
template <class T>
__device__ inline unsigned bin_of(T value) {
    return static_cast<unsigned>(value);
}
// #endregion bin

// #region contract
/// What launchers do before they launch anything.
struct Contract {
    /// All counts become 0, on the stream.
    static void clear(uint32_t* counts, int64_t bins, cudaStream_t stream) {
        const auto bytes = static_cast<size_t>(bins) * sizeof *counts;
        CUDA_CHECK(cudaMemsetAsync(counts, 0, bytes, stream));
    }

    /// Throws wb::InvalidArgument for what is not allowed. Returns whether there is
    /// something to count; if not, the counts of nothing are written here.
    template <class T>
    static bool has_work(const char* function,
                         const T* values,
                         uint32_t* counts,
                         int64_t n,
                         int64_t bins,
                         cudaStream_t stream) {
        const wb::Arguments arguments(function);
        arguments.size("n", n)
            .require(bins >= 1, "bins", bins, "must be > 0")
            .require(bins <= int64_t{1} << 31, "bins", bins, "must be <= 2^31");
        constexpr int64_t kBytes = sizeof(T);
        const int64_t bytes = arguments.product("n * bytes", {n, kBytes});
        const int64_t count_bytes = bins * static_cast<int64_t>(sizeof *counts);
        arguments.device("values", values, n)
            .device("counts", counts, bins)
            .apart("counts - values", values, bytes, counts, count_bytes);
        if (n == 0) clear(counts, bins, stream);
        return n > 0;
    }
};
// #endregion contract

// #region packs
/// 16 bytes of values, which are loaded at once.
template <class T>
struct alignas(16) Pack {
    static constexpr int kItems = 16 / sizeof(T);
    T items[kItems];
};

/// An array as packs, and the few values before and behind them that are none.
template <class T>
struct Packs {
    const T* values;  // [n]
    int64_t n;
    unsigned head;       ///< values before the first multiple of 16 bytes
    int64_t count;       ///< of packs
    const Pack<T>* all;  // [count]

    __device__ Packs(const T* values_, int64_t n_) : values(values_), n(n_) {
        constexpr unsigned kItems = Pack<T>::kItems;
        const auto begin = reinterpret_cast<uintptr_t>(values) % 16 / sizeof(T);
        const unsigned to_align = (kItems - static_cast<unsigned>(begin)) % kItems;
        head = n < to_align ? static_cast<unsigned>(n) : to_align;
        count = (n - head) / kItems;
        all = reinterpret_cast<const Pack<T>*>(values + head);
    }

    /// How many values are in no pack: fewer than 2 * kItems.
    __device__ unsigned num_single() const {
        return static_cast<unsigned>(n - count * Pack<T>::kItems);
    }
    /// One of them, of [0, num_single()).
    __device__ T single(unsigned i) const {
        return values[i < head ? i : i + count * Pack<T>::kItems];
    }
};
// #endregion packs

// #region runs
/// Calls add(bin, length) for each run of equal values in a pack.
template <class T, class Add>
__device__ inline void for_each_run(Pack<T> pack, Add add) {
    unsigned length = 0;
#pragma unroll
    for (int j = 0; j < Pack<T>::kItems; ++j) {
        ++length;
        const bool goes_on = j + 1 < Pack<T>::kItems &&
                             pack.items[(j + 1) % Pack<T>::kItems] == pack.items[j];
        if (goes_on) continue;
        add(bin_of(pack.items[j]), length);
        length = 0;
    }
}
// #endregion runs

// #region warp-run
/// Calls add(bin, length) for each run of equal values in a pack; once for the whole
/// warp, in lane 0, if all values of all its packs are equal. All 32 lanes must call
/// it.
template <class T, class Add>
__device__ inline void for_each_warp_run(Pack<T> pack, Add add) {
    constexpr int kItems = Pack<T>::kItems;
    const T first = __shfl_sync(wb::kAllLanes, pack.items[0], 0);
    bool equal = true;
#pragma unroll
    for (int j = 0; j < kItems; ++j)
        equal = equal && pack.items[j] == first;
    if (!__all_sync(wb::kAllLanes, equal)) {
        for_each_run(pack, add);
    } else if (threadIdx.x % wb::kWarpSize == 0) {
        add(bin_of(first), static_cast<unsigned>(wb::kWarpSize * kItems));
    }
}
// #endregion warp-run

// #region global
/// For more bins than fit anywhere else: runs are added to global memory. A whole warp
/// of equal values is one addition.
///
/// Launch   any grid, block kThreads
/// Traffic  reads n values; at most one atomic addition a value
template <class T>
__global__ void global_runs_kernel(const T* values,   // [n]
                                   uint32_t* counts,  // [bins], added to
                                   int64_t n,
                                   unsigned bins) {
    const Packs<T> packs(values, n);
    const auto add = [&](unsigned bin, unsigned length) {
        if (bin < bins) atomicAdd(&counts[bin], length);
    };
    const int64_t step = int64_t{gridDim.x} * kThreads;
    const int64_t first = int64_t{blockIdx.x} * kThreads;
    if (first == 0 && threadIdx.x < packs.num_single())
        add(bin_of(packs.single(threadIdx.x)), 1);
    for (int64_t block = first; block < packs.count; block += step) {
        const int64_t mine = block + threadIdx.x;
        const bool whole = block + kThreads <= packs.count;  // so is each warp
        if (whole) {
            for_each_warp_run(packs.all[mine], add);
        } else if (mine < packs.count) {
            for_each_run(packs.all[mine], add);
        }
    }
}

/// Launches it.
struct GlobalRuns {
    template <class T>
    static void count(const T* values,
                      uint32_t* counts,
                      int64_t n,
                      int64_t bins,
                      cudaStream_t stream) {
        const int64_t packs = wb::ceil_div(n, int64_t{Pack<T>::kItems});
        const int64_t most = int64_t{8} * wb::multiprocessors();
        const auto blocks = static_cast<unsigned>(
            std::min(wb::ceil_div(packs, int64_t{kThreads}), most));
        global_runs_kernel<<<blocks, kThreads, 0, stream>>>(
            values, counts, n, static_cast<unsigned>(bins));
        CUDA_CHECK_LAUNCH();
    }
};
// #endregion global
