#include <wb/check.h>
#include <wb/testing/poison_shared.h>

#include "pretended_gpu.h"

namespace wb::testing {
namespace {

/// Launch   a block takes a multiprocessor's whole shared memory, words * 4 bytes
__global__ void poison_shared_kernel(int words) {
    extern __shared__ unsigned s_words[];
    volatile unsigned* kept =
        s_words;  // or the compiler drops stores that nobody reads
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
        kept[i] = 0xFFFFFFFFu;
    }
}

int attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

}  // namespace

void poison_shared_memory(cudaStream_t stream) {
    constexpr int kThreads = 1024;
    const TrueGpu gpu;
    const int bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    CUDA_CHECK(cudaFuncSetAttribute(
        poison_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    // Twice as many blocks as multiprocessors, so that each gets one for sure.
    const int blocks = 2 * attribute(cudaDevAttrMultiProcessorCount);
    const int words = bytes / static_cast<int>(sizeof(unsigned));
    poison_shared_kernel<<<blocks, kThreads, bytes, stream>>>(words);
    CUDA_CHECK_LAUNCH();
}

}  // namespace wb::testing
