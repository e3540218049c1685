// 04_registers.cuh: v4: eight bins fit into a register.
#pragma once

// #region v4-kernel
/// v4: a thread counts in eight fields of 8 bits, which are one 64-bit register. Before
/// a field can overflow they are added to the block's counts.
///
/// Launch   grid few_blocks(n), block kThreads
template <class T>
__global__ void histogram_v4_kernel(const T* values,   // [n]
                                    uint32_t* counts,  // [bins], 0
                                    int64_t n,
                                    unsigned bins) {  // <= kFields
    constexpr int kFields = 8;
    constexpr int kBits = 8;
    constexpr int kMost = (1 << kBits) - 1;  // that a field can hold
    __shared__ uint32_t s_counts[kFields];
    if (threadIdx.x < kFields) s_counts[threadIdx.x] = 0;
    __syncthreads();
    uint64_t r_fields = 0;
    int room = kMost;
    const auto give = [&] {
        for (unsigned bin = 0; bin < bins; ++bin) {
            const auto count = static_cast<uint32_t>(r_fields >> (kBits * bin)) & kMost;
            if (count > 0) atomicAdd(&s_counts[bin], count);
        }
        r_fields = 0;
        room = kMost;
    };
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
        const unsigned bin = bin_of(values[i]);
        if (bin < bins) r_fields += uint64_t{1} << (kBits * bin);
        if (--room == 0) give();
    }
    give();
    __syncthreads();
    if (threadIdx.x < bins && s_counts[threadIdx.x] > 0)
        atomicAdd(&counts[threadIdx.x], s_counts[threadIdx.x]);
}
// #endregion v4-kernel

/// v3 where there are more bins.
template <class T>
static void histogram_v4(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    constexpr int64_t kFields = 8;
    if (bins > kFields) return histogram_v3(values, counts, n, bins, stream);
    Contract::clear(counts, bins, stream);
    histogram_v4_kernel<<<few_blocks(n), kThreads, 0, stream>>>(
        values, counts, n, static_cast<unsigned>(bins));
    CUDA_CHECK_LAUNCH();
}
