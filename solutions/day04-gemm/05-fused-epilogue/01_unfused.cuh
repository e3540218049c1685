// 01_unfused.cuh: v1: a product, and a kernel for each thing that is done to its sums;
// v2: a product, and one kernel for all that.
#pragma once

#include "layers.h"

// #region v1-product
/// The sums alone, in float, to memory.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kSharedBytes<S>
template <class S>
__global__ void __launch_bounds__(S::kThreads, 2) product_kernel(const Product p) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    store_sums(sums, p.C, p.ldc, p.M, p.N, p.pairs_c, at);
}

/// @param g_sums  [M, N] without gaps
template <class S>
static void launch_product(wb::GemmShape shape,
                           const __nv_bfloat16* A,
                           const __nv_bfloat16* B,
                           float* g_sums,
                           cudaStream_t stream) {
    shape.ldc = shape.N;
    launch_tiles<S>(product_kernel<S>, shape, stream, Product::of(shape, A, B, g_sums));
}
// #endregion v1-product

constexpr int kThreadsOfElements = 256;

// #region v1-kernels
/// Calls apply(m, n, i) for each element of M rows of N, one a thread; i = m N + n.
template <class Function>
__device__ __forceinline__ void for_element(int64_t M,
                                            int64_t N,
                                            const Function& apply) {
    const int64_t i = int64_t{blockIdx.x} * kThreadsOfElements + threadIdx.x;
    if (i < M * N) apply(i / N, i % N, i);
}

/// The sums become z, which is stored if it is wanted.
__global__ void __launch_bounds__(kThreadsOfElements)
    bias_v1_kernel(const Layer layer, float* g_sums, int64_t M, int64_t N) {
    for_element(M, N, [&](int64_t m, int64_t n, int64_t i) {
        if (layer.bias != nullptr) g_sums[i] += __bfloat162float(layer.bias[n]);
        if (layer.z != nullptr) layer.z[m * layer.ld + n] = __float2bfloat16(g_sums[i]);
    });
}

/// z becomes act(z).
__global__ void __launch_bounds__(kThreadsOfElements)
    activation_v1_kernel(const Layer layer, float* g_sums, int64_t M, int64_t N) {
    for_element(M, N, [&](int64_t, int64_t, int64_t i) {
        g_sums[i] = activate(layer.gate, g_sums[i]);
    });
}

/// act(z) and the residual become y.
__global__ void __launch_bounds__(kThreadsOfElements)
    residual_v1_kernel(const Layer layer, const float* g_sums, int64_t M, int64_t N) {
    for_element(M, N, [&](int64_t m, int64_t n, int64_t i) {
        float v = g_sums[i];
        const int64_t to = m * layer.ld + n;
        if (layer.residual != nullptr) v += __bfloat162float(layer.residual[to]);
        layer.y[to] = __float2bfloat16(v);
    });
}
// #endregion v1-kernels

/// Blocks of one thread for each element.
static unsigned element_blocks(int64_t M, int64_t N) {
    return wb::grid_size(M * N, kThreadsOfElements);
}

// #region v1-launch
/// v1: what a framework does that knows nothing of the next operation. Each kernel
/// reads all of it, and writes all of it.
///
/// Traffic  beside the product's: M N * (4 + 4 + 4 + 4 + 4 + 4 + 2) B
static void linear_act_v1(const LinearInput& in,
                          __nv_bfloat16* y,
                          __nv_bfloat16* z,
                          cudaStream_t stream) {
    const int64_t M = in.shape.M;
    const int64_t N = in.shape.N;
    const wb::Scratch<float> g_sums(M * N, stream);
    launch_product<ForwardTiles>(
        forward_shape(in.shape), in.x, in.w, g_sums.data(), stream);
    const Layer layer = Layer::of(in, y, z);
    const unsigned blocks = element_blocks(M, N);
    bias_v1_kernel<<<blocks, kThreadsOfElements, 0, stream>>>(
        layer, g_sums.data(), M, N);
    CUDA_CHECK_LAUNCH();
    activation_v1_kernel<<<blocks, kThreadsOfElements, 0, stream>>>(
        layer, g_sums.data(), M, N);
    CUDA_CHECK_LAUNCH();
    residual_v1_kernel<<<blocks, kThreadsOfElements, 0, stream>>>(
        layer, g_sums.data(), M, N);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #region v2-kernel
/// act(z) + residual of one sum; stores z if it is wanted.
static __device__ __forceinline__ float layer_value(const Layer& layer,
                                                    int64_t n,
                                                    int64_t to,
                                                    float sum) {
    if (layer.bias != nullptr) sum += __bfloat162float(layer.bias[n]);
    if (layer.z != nullptr) layer.z[to] = __float2bfloat16(sum);
    const float v = activate(layer.gate, sum);
    return layer.residual == nullptr ? v : v + __bfloat162float(layer.residual[to]);
}

__global__ void __launch_bounds__(kThreadsOfElements)
    layer_v2_kernel(const Layer layer, const float* g_sums, int64_t M, int64_t N) {
    for_element(M, N, [&](int64_t m, int64_t n, int64_t i) {
        const int64_t to = m * layer.ld + n;
        layer.y[to] = __float2bfloat16(layer_value(layer, n, to, g_sums[i]));
    });
}

__global__ void __launch_bounds__(kThreadsOfElements) layer_fp8_v2_kernel(
    const Layer layer, const Narrow out, const float* g_sums, int64_t M, int64_t N) {
    float largest = 0.0f;
    for_element(M, N, [&](int64_t m, int64_t n, int64_t i) {
        const int64_t to = m * layer.ld + n;
        const float v = layer_value(layer, n, to, g_sums[i]);
        largest = larger(largest, v);
        out.y[to] = __nv_fp8_e4m3(v * *out.scale);
    });
    raise_amax(out.amax, largest);
}
// #endregion v2-kernel

// #region v2-launch
/// v2: one kernel behind the product.
///
/// Traffic  beside the product's: M N * (4 + 4 + 2) B
static void linear_act_v2(const LinearInput& in,
                          __nv_bfloat16* y,
                          __nv_bfloat16* z,
                          cudaStream_t stream) {
    const int64_t M = in.shape.M;
    const int64_t N = in.shape.N;
    const wb::Scratch<float> g_sums(M * N, stream);
    launch_product<ForwardTiles>(
        forward_shape(in.shape), in.x, in.w, g_sums.data(), stream);
    layer_v2_kernel<<<element_blocks(M, N), kThreadsOfElements, 0, stream>>>(
        Layer::of(in, y, z), g_sums.data(), M, N);
    CUDA_CHECK_LAUNCH();
}

static void linear_act_fp8_v2(const LinearInput& in,
                              const float* scale,
                              __nv_fp8_e4m3* y,
                              float* amax,
                              cudaStream_t stream) {
    const int64_t M = in.shape.M;
    const int64_t N = in.shape.N;
    const wb::Scratch<float> g_sums(M * N, stream);
    launch_product<ForwardTiles>(
        forward_shape(in.shape), in.x, in.w, g_sums.data(), stream);
    CUDA_CHECK(cudaMemsetAsync(amax, 0, sizeof(float), stream));
    layer_fp8_v2_kernel<<<element_blocks(M, N), kThreadsOfElements, 0, stream>>>(
        Layer::of(in, nullptr, nullptr),
        Narrow::of(in, scale, y, amax),
        g_sums.data(),
        M,
        N);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch

// #region v2-backward
/// dz of each sum over n; the sums become dz before it was rounded.
__global__ void __launch_bounds__(kThreadsOfElements)
    gradient_v2_kernel(const Gradient gradient, float* g_sums, int64_t M, int64_t K) {
    for_element(M, K, [&](int64_t m, int64_t k, int64_t i) {
        const int64_t to = m * gradient.ld + k;
        g_sums[i] *= slope(gradient.gate, __bfloat162float(gradient.z[to]));
        gradient.dz[to] = __float2bfloat16(g_sums[i]);
    });
}

/// v2: a product, a kernel for dz, and one for the sums of its columns.
static void linear_act_backward_v2(const LinearGradient& in,
                                   __nv_bfloat16* dz,
                                   float* dbias,
                                   cudaStream_t stream) {
    const int64_t M = in.shape.M;
    const int64_t K = in.shape.K;
    const wb::Scratch<float> g_sums(M * K, stream);
    launch_product<BackwardTiles>(
        backward_shape(in.shape), in.dy, in.w, g_sums.data(), stream);
    gradient_v2_kernel<<<element_blocks(M, K), kThreadsOfElements, 0, stream>>>(
        Gradient::of(in, dz), g_sums.data(), M, K);
    CUDA_CHECK_LAUNCH();
    if (dbias == nullptr) return;
    add_parts_kernel<<<wb::grid_size(K, kThreadsOfColumns),
                       kThreadsOfColumns,
                       0,
                       stream>>>(g_sums.data(), dbias, M, K);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-backward
