/// meet.h: what the simulator needs between a kernel that sends and one that waits.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/check_nccl.h>

#include "multi_gpu.h"

/// Stands between the kernel that sends and the one that waits. On GPUs it is nothing:
/// kernels of several GPUs run at the same time. In the simulator they take turns, and
/// one that waits for another GPU's would wait for ever; there, a collective of one
/// element makes sure that all ranks have sent. Flags are set and read all the same.
[[maybe_unused]] static void meet([[maybe_unused]] const Rank& rank,
                                  [[maybe_unused]] cudaStream_t stream) {
#ifdef SIMT_CPU
    if (!rank.comm) return;
    unsigned* word = nullptr;
    CUDA_CHECK(cudaMallocAsync(&word, sizeof *word, stream));
    CUDA_CHECK(cudaMemsetAsync(word, 0, sizeof *word, stream));
    NCCL_CHECK(ncclAllReduce(word, word, 1, ncclUint32, ncclSum, rank.comm, stream));
    CUDA_CHECK(cudaFreeAsync(word, stream));
#endif
}
