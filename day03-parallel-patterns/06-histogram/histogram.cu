// histogram.cu: how often does each value occur? Each block counts in shared memory,
// and adds what it has to global memory once.
#include "histogram.h"

#include <wb/check.h>
#include <wb/exercise.h>

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
    (void)values;
    (void)counts;
    (void)n;
    (void)bins;
    (void)s_counts;
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
    (void)values;
    (void)counts;
    (void)n;
    (void)bins;
    (void)stream;
    (void)few_blocks;
    (void)histogram_v2_kernel<T>;
}
// #endregion v2-launch

// #region contract
void histogram_i32(const int32_t* values,
                   uint32_t* counts,
                   int64_t n,
                   int64_t bins,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Contract::has_work("histogram_i32", values, counts, n, bins, stream)) return;
    histogram_v2(values, counts, n, bins, stream);
}

void histogram_u8(const uint8_t* values,
                  uint32_t* counts,
                  int64_t n,
                  int64_t bins,
                  cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!Contract::has_work("histogram_u8", values, counts, n, bins, stream)) return;
    histogram_v2(values, counts, n, bins, stream);
}
// #endregion contract
