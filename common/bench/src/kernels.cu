#include "kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <stdexcept>

namespace wb::bench {
namespace {

constexpr int kThreads = 256;

/// 64 well mixed bits of a counter (SplitMix64's output function: Steele, Lea, Flood
/// 2014).
__device__ uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/// One thread, one number: no state to carry, so any grid gives the same numbers.
__global__ void fill_normal_kernel(float* x,  // [n]
                                   int64_t n,
                                   uint64_t seed) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;  // 2^64 / the golden ratio
    const uint64_t bits = mix(mix(seed) + (static_cast<uint64_t>(i) + 1) * kStep);
    // Two uniform numbers of 24 bits; the first in (0, 1], for the logarithm.
    const float u = static_cast<float>((bits >> 40) + 1) * 0x1p-24f;
    const float v = static_cast<float>(bits & 0xFFFFFF) * 0x1p-24f;
    x[i] = sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);  // Box and Muller 1958
}

template <class Narrow>
__global__ void narrow_kernel(const float* wide,  // [n]
                              Narrow* narrow,     // [n]
                              int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) narrow[i] = static_cast<Narrow>(wide[i]);
}

__global__ void empty_kernel() {}

__device__ float4 add(float4 x, float4 y) {
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

/// All loads of a thread come before its stores, so that kUnroll of them are in flight;
/// neighbouring threads touch neighbouring float4s.
///
/// Launch   grid ceil_div(n, kThreads * kUnroll), block kThreads
template <Traffic kTraffic, int kUnroll>
__global__ void traffic_kernel(const float4* a,  // [n]
                               const float4* b,  // [n]
                               float4* c,        // [n]
                               float* sink,      // [1]
                               int64_t n) {
    const int64_t first = int64_t{blockIdx.x} * (kThreads * kUnroll) + threadIdx.x;
    float4 values[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
        const int64_t i = first + k * kThreads;
        values[k] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
        if (kTraffic != Traffic::write && i < n) values[k] = a[i];
        if (kTraffic == Traffic::read2_write1 && i < n)
            values[k] = add(values[k], b[i]);
    }
    if constexpr (kTraffic == Traffic::read) {
        float4 sum = values[0];
#pragma unroll
        for (int k = 1; k < kUnroll; ++k)
            sum = add(sum, values[k]);
        // No finite inputs reach this; but the compiler must keep the loads for it.
        if (sum.x + sum.y + sum.z + sum.w == INFINITY) *sink = sum.x;
    } else {
#pragma unroll
        for (int k = 0; k < kUnroll; ++k) {
            const int64_t i = first + k * kThreads;
            if (i < n) c[i] = values[k];
        }
    }
}

template <Traffic kTraffic, int kUnroll>
void launch_unrolled(const TrafficArrays& x, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(x.n, kThreads * kUnroll);
    traffic_kernel<kTraffic, kUnroll>
        <<<blocks, kThreads, 0, stream>>>(x.a, x.b, x.c, x.sink, x.n);
    CUDA_CHECK_LAUNCH();
}

template <Traffic kTraffic>
void launch_kind(int unroll, const TrafficArrays& x, cudaStream_t stream) {
    switch (unroll) {
        case 1:
            return launch_unrolled<kTraffic, 1>(x, stream);
        case 2:
            return launch_unrolled<kTraffic, 2>(x, stream);
        case 4:
            return launch_unrolled<kTraffic, 4>(x, stream);
        default:
            throw std::invalid_argument("launch_traffic: unroll must be 1, 2 or 4");
    }
}

}  // namespace

void launch_fill_normal(float* x, int64_t n, uint64_t seed, cudaStream_t stream) {
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    fill_normal_kernel<<<blocks, kThreads, 0, stream>>>(x, n, seed);
    CUDA_CHECK_LAUNCH();
}

void launch_narrow(
    const float* wide, void* narrow, int64_t n, bool bfloat16, cudaStream_t stream) {
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    if (bfloat16) {
        narrow_kernel<<<blocks, kThreads, 0, stream>>>(
            wide, static_cast<__nv_bfloat16*>(narrow), n);
    } else {
        narrow_kernel<<<blocks, kThreads, 0, stream>>>(
            wide, static_cast<__half*>(narrow), n);
    }
    CUDA_CHECK_LAUNCH();
}

void launch_nothing(cudaStream_t stream) {
    empty_kernel<<<1, wb::kWarpSize, 0, stream>>>();
    CUDA_CHECK_LAUNCH();
}

void launch_traffic(Traffic traffic,
                    int unroll,
                    const TrafficArrays& arrays,
                    cudaStream_t stream) {
    switch (traffic) {
        case Traffic::read:
            return launch_kind<Traffic::read>(unroll, arrays, stream);
        case Traffic::write:
            return launch_kind<Traffic::write>(unroll, arrays, stream);
        case Traffic::copy:
            return launch_kind<Traffic::copy>(unroll, arrays, stream);
        case Traffic::read2_write1:
            return launch_kind<Traffic::read2_write1>(unroll, arrays, stream);
    }
}

}  // namespace wb::bench
