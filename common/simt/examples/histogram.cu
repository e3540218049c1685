// histogram.cu: atomics that meet.
//
//     ./learn xray common/simt/examples/histogram.cu        (histogram [n = 16384])
//
// Atomics on one word are performed one after another. How often threads meet depends
// on the data: 256 bins and random keys, or 4 bins, which is what keys look like that
// are mostly alike.
#include "example.h"

constexpr int kThreads = 256;
constexpr int kPerThread = 4;

/// One atomic a key, in global memory. 32 random keys of 256 meet 20.4 different
/// sectors of 8 bins on average, 32 * (1 - (31/32)^32); 4 bins are in one sector, but
/// each of them is wanted by 8 lanes of every warp of every block.
template <int kBins>
__global__ void histogram_global(const int* keys, unsigned* bins, int n) {
    const int threads = gridDim.x * kThreads;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += threads) {
        const int bin = keys[i] % kBins;  // @global.key
        atomicAdd(&bins[bin], 1u);        // @global.count
    }
}

/// A private histogram a block, in shared memory: the threads of other blocks are no
/// longer met. Global memory sees one atomic a bin and block.
template <int kBins>
__global__ void histogram_shared(const int* keys, unsigned* bins, int n) {
    __shared__ unsigned s_bins[kBins];
    const int t = threadIdx.x;
    if (t < kBins) s_bins[t] = 0;  // @shared.clear
    __syncthreads();
    const int threads = gridDim.x * kThreads;
    for (int i = blockIdx.x * kThreads + t; i < n; i += threads) {
        const int bin = keys[i] % kBins;  // @shared.key
        atomicAdd(&s_bins[bin], 1u);      // @shared.count
    }
    __syncthreads();
    if (t < kBins) {
        const unsigned sum = s_bins[t];  // @shared.read
        atomicAdd(&bins[t], sum);        // @shared.flush
    }
}

int main(int argc, char** argv) {
    const int step = kThreads * kPerThread;
    const int n = example::size_argument(argc, argv, 16384, step);
    const int blocks = n / step;
    std::vector<int> values(n);
    uint32_t state = 1;
    for (int& value : values) {
        state = state * 1664525u + 1013904223u;
        value = int(state >> 16);
    }
    const std::vector<unsigned> zeros(256);
    example::Array<int> keys(values);
    example::Array<unsigned> bins(zeros);
    example::Verdict verdict;

    const auto verify = [&](const char* kernel, int count) {
        std::vector<unsigned> want(zeros);
        for (const int value : values)
            ++want[value % count];
        verdict.compare(kernel, bins.download(), want);
        bins.upload(zeros);
    };
    histogram_global<256><<<blocks, kThreads>>>(keys.data(), bins.data(), n);
    verify("histogram_global<256>", 256);
    histogram_global<4><<<blocks, kThreads>>>(keys.data(), bins.data(), n);
    verify("histogram_global<4>", 4);
    histogram_shared<256><<<blocks, kThreads>>>(keys.data(), bins.data(), n);
    verify("histogram_shared<256>", 256);
    histogram_shared<4><<<blocks, kThreads>>>(keys.data(), bins.data(), n);
    verify("histogram_shared<4>", 4);
    return verdict.exit_status();
}
