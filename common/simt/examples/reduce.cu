// reduce.cu: the sum of 256 floats a block, in the four steps of Mark Harris's talk
// "Optimizing Parallel Reduction in CUDA" (2007).
//
//     ./learn xray common/simt/examples/reduce.cu           (reduce [n = 16384])
//
// All four read each element once. They differ in which threads add, and where: in the
// number of warps that take part, and in the banks of shared memory that these meet in.
#include "example.h"

constexpr int kThreads = 256;

/// Every 2nd, 4th, 8th… thread adds. No bank conflicts, but while one lane of a warp
/// adds, 31 wait: all 8 warps take part in the first 5 steps, then 4, 2, 1. 47 requests
/// where 12 would do.
__global__ void reduce_divergent(const float* in, float* out) {
    __shared__ float s[kThreads];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * kThreads + t];  // @divergent.load
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        if (t % (2 * step) == 0) {
            s[t] += s[t + step];  // @divergent.add
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];  // @divergent.result
}

/// The first threads add, so that whole warps drop out: 4, 2, 1, 1, 1, 1, 1, 1
/// requests. But their words are 2, 4, 8… apart and meet in the same banks: 2, 4, 8, 8,
/// 8, 4, 2, 1 ways. 12 requests, and again 47 wavefronts: nothing is won.
__global__ void reduce_conflicts(const float* in, float* out) {
    __shared__ float s[kThreads];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * kThreads + t];  // @conflicts.load
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        const int i = 2 * step * t;
        if (i < kThreads) {
            s[i] += s[i + step];  // @conflicts.add
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];  // @conflicts.result
}

/// The first threads add the second half to the first: neighbouring words, one way, and
/// whole warps drop out. 12 requests, 12 wavefronts.
__global__ void reduce_sequential(const float* in, float* out) {
    __shared__ float s[kThreads];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * kThreads + t];  // @sequential.load
    __syncthreads();
    for (int step = kThreads / 2; step > 0; step /= 2) {
        if (t < step) {
            s[t] += s[t + step];  // @sequential.add
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];  // @sequential.result
}

/// Registers instead of shared memory: a warp adds up by shuffles, and only 8 partial
/// sums pass through shared memory. One barrier instead of 9.
__global__ void reduce_shuffle(const float* in, float* out) {
    __shared__ float s_warp[kThreads / 32];
    const int t = threadIdx.x;
    float sum = in[blockIdx.x * kThreads + t];  // @shuffle.load
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(~0u, sum, offset);
    if (t % 32 == 0) s_warp[t / 32] = sum;  // @shuffle.put
    __syncthreads();
    if (t >= 32) return;
    sum = t < kThreads / 32 ? s_warp[t] : 0.0f;  // @shuffle.get
    for (int offset = 4; offset > 0; offset /= 2)
        sum += __shfl_down_sync(~0u, sum, offset);
    if (t == 0) out[blockIdx.x] = sum;  // @shuffle.result
}

int main(int argc, char** argv) {
    const int n = example::size_argument(argc, argv, 16384, kThreads);
    const int blocks = n / kThreads;
    const std::vector<float> values = example::numbers(n);
    const std::vector<float> blank(blocks, -1.0f);
    std::vector<float> sums(blocks);
    for (int block = 0; block < blocks; ++block) {
        double sum = 0;
        for (int t = 0; t < kThreads; ++t)
            sum += values[size_t(block) * kThreads + t];
        sums[block] = float(sum);
    }
    example::Array<float> in(values), out(blank);
    example::Verdict verdict;

    reduce_divergent<<<blocks, kThreads>>>(in.data(), out.data());
    verdict.compare("reduce_divergent", out.download(), sums, 1e-5);
    out.upload(blank);
    reduce_conflicts<<<blocks, kThreads>>>(in.data(), out.data());
    verdict.compare("reduce_conflicts", out.download(), sums, 1e-5);
    out.upload(blank);
    reduce_sequential<<<blocks, kThreads>>>(in.data(), out.data());
    verdict.compare("reduce_sequential", out.download(), sums, 1e-5);
    out.upload(blank);
    reduce_shuffle<<<blocks, kThreads>>>(in.data(), out.data());
    verdict.compare("reduce_shuffle", out.download(), sums, 1e-5);
    return verdict.exit_status();
}
