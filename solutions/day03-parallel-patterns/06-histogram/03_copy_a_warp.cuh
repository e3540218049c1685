// 03_copy_a_warp.cuh: v3: warps of a block do not meet in a count.
#pragma once

// #region v3-kernel
/// v3: each warp of a block counts in a copy of its own; at the end the block adds up
/// its copies.
///
/// Launch   grid few_blocks(n), block kThreads, kWarps * bins * 4 B of shared memory
template <class T>
__global__ void histogram_v3_kernel(const T* values,   // [n]
                                    uint32_t* counts,  // [bins], 0
                                    int64_t n,
                                    unsigned bins) {
    constexpr unsigned kWarps = kThreads / wb::kWarpSize;
    extern __shared__ uint32_t s_counts[];  // [kWarps, bins]
    for (unsigned i = threadIdx.x; i < kWarps * bins; i += kThreads)
        s_counts[i] = 0;
    __syncthreads();
    uint32_t* const s_mine = s_counts + threadIdx.x / wb::kWarpSize * bins;
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
        const unsigned bin = bin_of(values[i]);
        if (bin < bins) atomicAdd(&s_mine[bin], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += kThreads) {
        uint32_t count = 0;
        for (unsigned warp = 0; warp < kWarps; ++warp)
            count += s_counts[warp * bins + bin];
        if (count > 0) atomicAdd(&counts[bin], count);
    }
}
// #endregion v3-kernel

/// v2 where the copies do not fit.
template <class T>
static void histogram_v3(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    constexpr int64_t kWarps = kThreads / wb::kWarpSize;
    if (bins * kWarps > kSharedBins)
        return histogram_v2(values, counts, n, bins, stream);
    Contract::clear(counts, bins, stream);
    const auto bytes = static_cast<size_t>(bins * kWarps) * sizeof(uint32_t);
    histogram_v3_kernel<<<few_blocks(n), kThreads, bytes, stream>>>(
        values, counts, n, static_cast<unsigned>(bins));
    CUDA_CHECK_LAUNCH();
}
