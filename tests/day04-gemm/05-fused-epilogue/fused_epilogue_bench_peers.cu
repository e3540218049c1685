#include "fused_epilogue_bench_peers.h"

#include <wb/check.h>
#include <wb/elements.h>
#include <wb/launch.h>

#include <cstring>

#include "hopper_tiles.h"
#include "pairs.h"

namespace fused_epilogue_peers {
namespace {

constexpr int kThreads = 256;
constexpr int kCount = wb::kPerVector<__nv_bfloat16>;
using Vector = wb::Elements<__nv_bfloat16, kCount>;

__device__ float sigmoid(float z) {
    return 1.0f / (1.0f + __expf(-z));
}

__global__ void silu_kernel(__nv_bfloat16* y, int64_t n) {
    const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCount;
    if (i >= n) return;
    float values[kCount];
    Vector::load(y + i).unpack(values);
    for (float& value : values)
        value *= sigmoid(value);
    Vector::pack(values).store(y + i);
}

__global__ void silu_to_fp8_kernel(const __nv_bfloat16* z,
                                   const float* scale,
                                   __nv_fp8_e4m3* y,
                                   float* amax,
                                   int64_t n) {
    const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCount;
    float largest = 0.0f;
    if (i < n) {
        float values[kCount];
        Vector::load(z + i).unpack(values);
        __nv_fp8x2_storage_t pairs[kCount / 2];
        for (int e = 0; e < kCount; e += 2) {
            const float left = values[e] * sigmoid(values[e]);
            const float right = values[e + 1] * sigmoid(values[e + 1]);
            largest = larger(larger(largest, left), right);
            pairs[e / 2] = __nv_cvt_float2_to_fp8x2(
                make_float2(left * *scale, right * *scale), __NV_SATFINITE, __NV_E4M3);
        }
        uint2 bits;
        memcpy(&bits, pairs, sizeof bits);
        *reinterpret_cast<uint2*>(y + i) = bits;
    }
    raise_amax(amax, largest);
}

__global__ void silu_backward_kernel(__nv_bfloat16* dz,
                                     const __nv_bfloat16* z,
                                     int64_t n) {
    const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kCount;
    if (i >= n) return;
    float values[kCount];
    float at[kCount];
    Vector::load(dz + i).unpack(values);
    Vector::load(z + i).unpack(at);
    for (int e = 0; e < kCount; ++e) {
        const float by = sigmoid(at[e]);
        values[e] *= by * (1.0f + at[e] * (1.0f - by));
    }
    Vector::pack(values).store(dz + i);
}

}  // namespace

void silu_in_place(__nv_bfloat16* y, int64_t n, cudaStream_t stream) {
    silu_kernel<<<wb::grid_size(n / kCount, kThreads), kThreads, 0, stream>>>(y, n);
    CUDA_CHECK_LAUNCH();
}

void silu_to_fp8(const __nv_bfloat16* z,
                 const float* scale,
                 __nv_fp8_e4m3* y,
                 float* amax,
                 int64_t n,
                 cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(amax, 0, sizeof(float), stream));
    silu_to_fp8_kernel<<<wb::grid_size(n / kCount, kThreads), kThreads, 0, stream>>>(
        z, scale, y, amax, n);
    CUDA_CHECK_LAUNCH();
}

void silu_backward_in_place(__nv_bfloat16* dz,
                            const __nv_bfloat16* z,
                            int64_t n,
                            cudaStream_t stream) {
    silu_backward_kernel<<<wb::grid_size(n / kCount, kThreads), kThreads, 0, stream>>>(
        dz, z, n);
    CUDA_CHECK_LAUNCH();
}

bool has_plain_product() {
    return wb::compute_capability() == 90;
}

void plain_product(const __nv_bfloat16* x,
                   const __nv_bfloat16* w,
                   __nv_bfloat16* y,
                   int64_t M,
                   int64_t N,
                   int64_t K,
                   cudaStream_t stream) {
    hopper::launch<HopperTiles<true>, hopper::PlainEpilogue>(
        {M, N, K, x, w, y, K, K, N, stream}, {}, {});
}

}  // namespace fused_epilogue_peers
