// histogram.cu: how often does each value occur? Each block counts in shared memory,
// and adds what it has to global memory once.
// #solution
//
// v3, v4 and v5 have a file each; v6 and v7 are in histogram_fast.cu, the second stage.
//
// <Ladder of="histogram_i32" at="n = 67108864, 256 bins, uniform">
//        GB/s  idea                    what limits it
//   v1   15.5  global atomics          an atomic addition to global memory a value
//   v2  2,180  bins in shared memory   values of a warp that meet in a bank
//   v3  2,100  a copy a warp           as v2
//   v4  2,100  few bins in registers   as v3, unless there are at most 8 bins
//   v5  3,260  runs of equal values    as v2, and values that meet in a word
//   v6  3,520  a copy a lane           the speed of memory, if all copies fit
//   v7  3,520  two counters in a word  the speed of memory, or counters that meet
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="histogram_u8" at="n = 268435456, 256 bins, uniform">
//        GB/s  idea                   what limits it
//   v1   3.89  global atomics         an atomic addition to global memory a value
//   v2    687  bins in shared memory  values of a warp that meet in a bank
//   v3    653  a copy a warp          as v2
//   v5  1,350  runs of equal values   as v2, and values that meet in a word
//   v6  3,440  a copy a lane          one atomic addition to shared memory a value
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
// #end
#include "histogram.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include "values.h"

// #region v1-kernel
/// v1: a thread for each value adds 1 to its count in global memory. It is right for
/// any number of bins.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
/// Traffic  reads n values; an atomic addition to global memory for each
template <class T>
__global__ void histogram_v1_kernel(const T* values,   // [n]
                                    uint32_t* counts,  // [bins], 0
                                    int64_t n,
                                    unsigned bins) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= n) return;
    const unsigned bin = bin_of(values[i]);
    if (bin < bins) atomicAdd(&counts[bin], 1u);
}
// #endregion v1-kernel

// #region v1-launch
template <class T>
static void histogram_v1(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    Contract::clear(counts, bins, stream);
    histogram_v1_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(
        values, counts, n, static_cast<unsigned>(bins));
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #region v2-kernel
/// v2: a block counts its values in shared memory, and adds what it has to global
/// memory once.
///
/// Launch   grid few_blocks(n), block kThreads, bins * 4 B of shared memory
/// Traffic  reads n values; at most bins atomic additions to global memory a block
template <class T>
__global__ void histogram_v2_kernel(const T* values,   // [n]
                                    uint32_t* counts,  // [bins], 0
                                    int64_t n,
                                    unsigned bins) {
    extern __shared__ uint32_t s_counts[];  // [bins]
    // TODO(learner): three parts, each done by all threads of the block. The counts in
    // shared memory are whatever was there before: make them 0. Then count this
    // thread's values, of which neighbours have neighbouring ones; a value outside of
    // [0, bins) does not count. Then add the block's counts to those in global memory;
    // leave out zeros. What must stand between two parts? (about 13 lines)
    // #starter (void)values;
    // #starter (void)counts;
    // #starter (void)n;
    // #starter (void)bins;
    // #starter (void)s_counts;
    // #solution
    for (unsigned bin = threadIdx.x; bin < bins; bin += kThreads)
        s_counts[bin] = 0;
    __syncthreads();
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
        const unsigned bin = bin_of(values[i]);
        if (bin < bins) atomicAdd(&s_counts[bin], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += kThreads) {
        const uint32_t count = s_counts[bin];
        if (count > 0) atomicAdd(&counts[bin], count);
    }
    // #end
}
// #endregion v2-kernel

/// As many blocks as eight a multiprocessor, or fewer if there are few values.
static unsigned few_blocks(int64_t n) {
    const int64_t most = int64_t{8} * wb::multiprocessors();
    return static_cast<unsigned>(std::min(wb::ceil_div(n, int64_t{kThreads}), most));
}

// #region v2-launch
template <class T>
static void histogram_v2(
    const T* values, uint32_t* counts, int64_t n, int64_t bins, cudaStream_t stream) {
    // TODO(learner): v1 does it for more than kSharedBins bins. Else: blocks add to
    // counts, so what must they be before? Then the launch (about 6 lines)
    // #starter (void)values;
    // #starter (void)counts;
    // #starter (void)n;
    // #starter (void)bins;
    // #starter (void)stream;
    // #starter (void)few_blocks;
    // #starter (void)histogram_v2_kernel<T>;
    // #solution
    if (bins > kSharedBins) return histogram_v1(values, counts, n, bins, stream);
    Contract::clear(counts, bins, stream);
    const auto bytes = static_cast<size_t>(bins) * sizeof(uint32_t);
    histogram_v2_kernel<<<few_blocks(n), kThreads, bytes, stream>>>(
        values, counts, n, static_cast<unsigned>(bins));
    CUDA_CHECK_LAUNCH();
    // #end
}
// #endregion v2-launch

// #solution
#include "03_copy_a_warp.cuh"
#include "04_registers.cuh"
#include "05_runs.cuh"

#define WB_VERSION_ONLY
#include "histogram_fast.cu"

#include "versions.cuh"

// #end
// #region contract
void histogram_i32(const int32_t* values,
                   uint32_t* counts,
                   int64_t n,
                   int64_t bins,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Contract::has_work("histogram_i32", values, counts, n, bins, stream)) return;
    // #solution
    histogram_i32_v7(values, counts, n, bins, stream);
    // #end
    // #starter histogram_v2(values, counts, n, bins, stream);
}

void histogram_u8(const uint8_t* values,
                  uint32_t* counts,
                  int64_t n,
                  int64_t bins,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Contract::has_work("histogram_u8", values, counts, n, bins, stream)) return;
    // #solution
    histogram_u8_v6(values, counts, n, bins, stream);
    // #end
    // #starter histogram_v2(values, counts, n, bins, stream);
}
// #endregion contract
