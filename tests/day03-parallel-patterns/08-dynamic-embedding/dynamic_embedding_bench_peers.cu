// dynamic_embedding_bench_peers.cu: random reads alone.
#include "dynamic_embedding_bench_peers.h"

#include <wb/check.h>
#include <wb/launch.h>

namespace dynamic_embedding_peers {
namespace {

constexpr int kReadThreads = 256;
constexpr int kReads = 4;  // lines that a thread waits for at the same time

__global__ void random_reads_kernel(const uint4* lines,  // [*, 8]
                                    int places,
                                    const int32_t* slots,  // [n]
                                    int32_t* out,          // [n]
                                    int64_t n) {
    const int64_t first = int64_t{blockIdx.x} * kReadThreads * kReads + threadIdx.x;
    int32_t r_sum[kReads] = {};
#pragma unroll
    for (int k = 0; k < kReads; ++k) {
        const int64_t i = first + k * kReadThreads;
        if (i >= n) continue;
        const uint4* line = lines + int64_t{slots[i] / places} * 8;
        const uint4 digests = line[0];
        const auto* keys = reinterpret_cast<const uint64_t*>(line + 1);
        const uint64_t key = keys[slots[i] % places];
        r_sum[k] = static_cast<int32_t>(digests.x + digests.w + key);
    }
#pragma unroll
    for (int k = 0; k < kReads; ++k)
        if (first + k * kReadThreads < n) out[first + k * kReadThreads] = r_sum[k];
}

}  // namespace

void random_reads(const void* lines,
                  int places,
                  const int32_t* slots,
                  int32_t* out,
                  int64_t n,
                  cudaStream_t stream) {
    random_reads_kernel<<<wb::grid_size(n, kReadThreads * kReads),
                          kReadThreads,
                          0,
                          stream>>>(
        static_cast<const uint4*>(lines), places, slots, out, n);
    CUDA_CHECK_LAUNCH();
}

}  // namespace dynamic_embedding_peers
