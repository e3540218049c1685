// 05_runs.cuh: v5: neighbours that are equal are counted before they are added.
#pragma once

// #region v5-kernel
/// v5: a thread loads 16 bytes of neighbouring values at a time. A run of equal ones is
/// one addition.
///
/// Launch   grid few_blocks(packs), block kThreads, bins * 4 B of shared memory
template <class T>
__global__ void histogram_v5_kernel(const T* values,   // [n]
                                    uint32_t* counts,  // [bins], 0
                                    int64_t n,
                                    unsigned bins) {
    extern __shared__ uint32_t s_counts[];  // [bins]
    for (unsigned bin = threadIdx.x; bin < bins; bin += kThreads)
        s_counts[bin] = 0;
    __syncthreads();
    const auto add = [&](unsigned bin, unsigned length) {
        if (bin < bins) atomicAdd(&s_counts[bin], length);
    };
    const Packs<T> packs(values, n);
    if (blockIdx.x == 0 && threadIdx.x < packs.num_single())
        add(bin_of(packs.single(threadIdx.x)), 1);
    const int64_t step = int64_t{gridDim.x} * kThreads;
    const int64_t first = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    for (int64_t i = first; i < packs.count; i += step)
        for_each_run(packs.all[i], add);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += kThreads) {
        const uint32_t count = s_counts[bin];
        if (count > 0) atomicAdd(&counts[bin], count);
    }
}
// #endregion v5-kernel

/// Runs are added to global memory where the bins do not fit.
template <class T>
static void histogram_v5(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    Contract::clear(counts, bins, stream);
    if (bins > kSharedBins) return GlobalRuns::count(values, counts, n, bins, stream);
    const auto bytes = static_cast<size_t>(bins) * sizeof(uint32_t);
    const int64_t packs = wb::ceil_div(n, int64_t{Pack<T>::kItems});
    histogram_v5_kernel<<<few_blocks(packs), kThreads, bytes, stream>>>(
        values, counts, n, static_cast<unsigned>(bins));
    CUDA_CHECK_LAUNCH();
}
