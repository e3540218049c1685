// The right functions that the .diff files edit.
#include "layernorm_gptq_qkv.h"

#include <wb/check.h>
#include <wb/scratch.h>

#include "checks.h"
#include "tiles.cuh"

constexpr int kThreads = 128;

/// Rows, normalised: a block for each.
__global__ void norm_kernel(const __half* x,
                            const QkvNorm norm,
                            const int32_t* g_idx,  // not used: all columns count
                            int64_t groups,
                            __half* h,
                            int64_t hidden) {
    __shared__ wb::Moments s_threads[kThreads];
    const __half* const row = x + blockIdx.x * hidden;
    wb::Moments mine = {};
    for (int64_t k = threadIdx.x; k < hidden; k += kThreads) {
        const float each = __half2float(row[k]);
        mine = wb::merged(mine, {1.0f, each, 0.0f});
    }
    s_threads[threadIdx.x] = mine;
    __syncthreads();
    wb::Moments all = {};
    for (int i = 0; i < kThreads; ++i)
        all = wb::merged(all, s_threads[i]);
    const float mean = all.mean;
    const float variance = all.squares / static_cast<float>(hidden);
    const float rstd = 1.0f / sqrtf(variance + norm.eps);
    for (int64_t k = threadIdx.x; k < hidden; k += kThreads) {
        float value = (__half2float(row[k]) - mean) * rstd;
        if (norm.weight != nullptr) value *= __half2float(norm.weight[k]);
        if (norm.bias != nullptr) value += __half2float(norm.bias[k]);
        h[blockIdx.x * hidden + k] = __float2half(value);
    }
}

__device__ inline int zero_of(const GptqView& v, int64_t group, int64_t n) {
    const uint32_t word = v.qzeros[group * (v.N / 8) + n / 8];
    const int stored = static_cast<int>(word >> n % 8 * 4 & 15);
    return stored + v.add_to_zeros;
}

/// h W, a thread for each element.
__global__ void product_kernel(const GptqView v,
                               const __half* h,
                               __half* qkv,
                               int64_t M) {
    const int64_t n = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (n >= v.N) return;
    const int64_t part = n / v.K;
    for (int64_t m = blockIdx.y; m < M; m += gridDim.y) {
        float sum = 0.0f;
        for (int64_t k = 0; k < v.K; ++k) {
            const int64_t group = v.g_idx != nullptr ? v.g_idx[k] : k / v.rows_of_group;
            if (group < 0 || group >= v.groups) continue;
            const uint32_t word = v.qweight[k / 8 * v.N + n];
            const int q = static_cast<int>(word >> k % 8 * 4 & 15);
            const __half scale = v.scales[group * v.N + n];
            const __half w = __hmul(__int2half_rn(q - zero_of(v, group, n)), scale);
            sum += __half2float(h[m * v.K + k]) * __half2float(w);
        }
        qkv[(part * M + m) * v.K + n % v.K] = __float2half(sum);
    }
}

int64_t qkv_packed_vectors(const QkvShape& shape, bool has_order) {
    return checked_packed_vectors(shape, has_order);
}

void qkv_repack(const QkvShape& shape,
                const GptqTensors& tensors,
                uint4* packed,
                unsigned long long* bad_rows,
                cudaStream_t stream) {
    checked_repack(shape, tensors, packed, bad_rows, stream);
}

void layernorm_gptq_qkv(const QkvShape& shape,
                        const QkvNorm& norm,
                        const GptqTensors& tensors,
                        const uint4* packed,
                        const __half* input,
                        __half* qkv,
                        cudaStream_t stream) {
    if (!qkv_has_work(shape, norm, tensors, packed, input, qkv)) return;
    const int64_t M = shape.rows();
    const GptqView v = GptqView::of(shape.weights(), tensors);
    const wb::Scratch<__half> h(M * shape.hidden, stream);
    norm_kernel<<<wb::grid_size(M, 1), kThreads, 0, stream>>>(
        input, norm, v.g_idx, v.groups, h.data(), shape.hidden);
    CUDA_CHECK_LAUNCH();
    const dim3 grid(wb::grid_size(v.N, kThreads),
                    static_cast<unsigned>(std::min(M, int64_t{1024})));
    product_kernel<<<grid, kThreads, 0, stream>>>(v, h.data(), qkv, M);
    CUDA_CHECK_LAUNCH();
}
