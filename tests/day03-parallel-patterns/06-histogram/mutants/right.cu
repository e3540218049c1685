// The right functions that the .diff files edit.
#include "histogram.h"

#include <wb/check.h>
#include <wb/shared_memory.h>

#include "values.h"

constexpr unsigned kHalf = 1u << 15;
constexpr int kRight = 256;
constexpr int kRoundPacks = 8;

/// Counts of a block in shared memory, a word each.
template <class T>
__global__ void words_kernel(const T* values,
                             uint32_t* counts,
                             int64_t n,
                             unsigned bins) {
    extern __shared__ uint32_t s_counts[];
    for (unsigned bin = threadIdx.x; bin < bins; bin += kRight)
        s_counts[bin] = 0;
    __syncthreads();
    const int64_t step = int64_t{gridDim.x} * kRight;
    for (int64_t i = int64_t{blockIdx.x} * kRight + threadIdx.x; i < n; i += step) {
        const unsigned bin = bin_of(values[i]);
        if (bin < bins) atomicAdd(&s_counts[bin], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += kRight)
        if (s_counts[bin] > 0) atomicAdd(&counts[bin], s_counts[bin]);
}

/// Two counts of 16 bits a word.
template <class T>
__global__ void halves_kernel(const T* values,
                              uint32_t* counts,
                              int64_t n,
                              unsigned bins) {
    extern __shared__ uint32_t s_counts[];
    const unsigned words = (bins + 1) / 2;
    for (unsigned word = threadIdx.x; word < words; word += kRight)
        s_counts[word] = 0;
    __syncthreads();
    const auto add = [&](unsigned bin, unsigned length) {
        if (bin >= bins) return;
        const int shift = bin >= words ? 16 : 0;
        uint32_t* const word = &s_counts[bin >= words ? bin - words : bin];
        const unsigned before = (atomicAdd(word, length << shift) >> shift) & 0xFFFFu;
        if (before < kHalf && before + length >= kHalf) {
            atomicSub(word, kHalf << shift);
            atomicAdd(&counts[bin], kHalf);
        }
    };
    const Packs<T> packs(values, n);
    if (blockIdx.x == 0 && threadIdx.x < packs.num_single())
        add(bin_of(packs.single(threadIdx.x)), 1);
    const int64_t step = int64_t{gridDim.x} * kRight;
    int since_barrier = 0;
    for (int64_t i = int64_t{blockIdx.x} * kRight; i < packs.count; i += step) {
        const int64_t mine = i + threadIdx.x;
        if (mine < packs.count) for_each_run(packs.all[mine], add);
        if (++since_barrier == kRoundPacks) {
            __syncthreads();
            since_barrier = 0;
        }
    }
    __syncthreads();
    for (unsigned word = threadIdx.x; word < words; word += kRight) {
        const uint32_t lower = s_counts[word] & 0xFFFFu;
        const uint32_t upper = s_counts[word] >> 16;
        if (lower > 0) atomicAdd(&counts[word], lower);
        if (upper > 0) atomicAdd(&counts[words + word], upper);
    }
}

template <class T>
void histogram(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    Contract::clear(counts, bins, stream);
    const int64_t most = 8;
    const auto blocks = static_cast<unsigned>(
        std::min(wb::ceil_div(n, int64_t{kRight}), most * wb::multiprocessors()));
    const auto bytes = static_cast<size_t>(std::min(bins, kSharedBins)) * 4;
    const auto count = static_cast<unsigned>(std::min(bins, kSharedBins));
    // Other bins have no bytes, and are 0 already.
    if (sizeof(T) == 1 || bins <= kSharedBins) {
        words_kernel<<<blocks, kRight, bytes, stream>>>(values, counts, n, count);
    } else if constexpr (sizeof(T) > 1) {
        const auto all = static_cast<unsigned>(bins);
        const auto half = static_cast<size_t>((bins + 1) / 2) * sizeof(uint32_t);
        if (!wb::allow_shared(halves_kernel<T>, half))
            return GlobalRuns::count(values, counts, n, bins, stream);
        const int few = wb::multiprocessors();
        halves_kernel<<<few, kRight, half, stream>>>(values, counts, n, all);
    }
    CUDA_CHECK_LAUNCH();
}

void histogram_i32(const int32_t* values,
                   uint32_t* counts,
                   int64_t n,
                   int64_t bins,
                   cudaStream_t stream) {
    if (Contract::has_work("histogram_i32", values, counts, n, bins, stream))
        histogram(values, counts, n, bins, stream);
}

void histogram_u8(const uint8_t* values,
                  uint32_t* counts,
                  int64_t n,
                  int64_t bins,
                  cudaStream_t stream) {
    if (Contract::has_work("histogram_u8", values, counts, n, bins, stream))
        histogram(values, counts, n, bins, stream);
}
