// The right functions that the .diff files edit.
#include "gptq_int4.h"

#include <wb/check.h>
#include <wb/scratch.h>

#include "packed.cuh"
#include "product.cuh"
#include "tensors.h"

constexpr int kThreads = 128;

/// What a kernel reads of a row of W.
struct Row {
    bool has_group;
    int64_t group;
};

__device__ inline Row row_of(const GptqView& v, int64_t k) {
    const int64_t group = v.g_idx != nullptr ? v.g_idx[k] : k / v.rows_of_group;
    return {group >= 0 && group < v.groups, group};
}

__device__ inline int zero_of(const GptqView& v, int64_t group, int64_t n) {
    const uint32_t word = v.qzeros[group * (v.N / 8) + n / 8];
    const int stored = static_cast<int>(word >> n % 8 * 4 & 15);
    return stored + v.add_to_zeros;
}

__device__ inline __half weight_of(
    const GptqView& v, uint32_t word, int i, int64_t group, int64_t n) {
    const int q = static_cast<int>(word >> 4 * i & 15);
    const __half scale = v.scales[group * v.N + n];
    return __hmul(__int2half_rn(q - zero_of(v, group, n)), scale);
}

__global__ void dequantize_kernel(const GptqView v,
                                  __half* w,
                                  unsigned long long* bad_rows) {
    const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (place >= v.K / 8 * v.N) return;
    const int64_t n = place % v.N;
    for (int i = 0; i < 8; ++i) {
        const int64_t k = place / v.N * 8 + i;
        const Row row = row_of(v, k);
        if (!row.has_group && n == 0) atomicAdd(bad_rows, 1ull);
        w[k * v.N + n] = row.has_group ? weight_of(v, v.qweight[place], i, row.group, n)
                                       : __float2half(0.0f);
    }
}

/// A part of the rows of W, for one column and one row of x.
__global__ void product_kernel(const GptqView v,
                               const __half* x,
                               float* g_parts,  // [parts, M, N]
                               int64_t M,
                               int64_t of_part) {  // words down
    const int64_t n = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (n >= v.N) return;
    const int64_t begin = blockIdx.z * of_part;
    const int64_t end = begin + of_part < v.K / 8 ? begin + of_part : v.K / 8;
    for (int64_t m = blockIdx.y; m < M; m += gridDim.y) {
        float sum = 0.0f;
        for (int64_t r = begin; r < end; ++r) {
            const uint32_t word = v.qweight[r * v.N + n];
            for (int i = 0; i < 8; ++i) {
                const int64_t k = 8 * r + i;
                const Row row = row_of(v, k);
                if (!row.has_group) continue;
                const __half w = weight_of(v, word, i, row.group, n);
                sum += __half2float(x[m * v.K + k]) * __half2float(w);
            }
        }
        g_parts[(blockIdx.z * M + m) * v.N + n] = sum;
    }
}

__global__ void total_kernel(const float* g_parts,
                             __half* y,
                             int64_t elements,
                             int64_t parts) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= elements) return;
    float sum = 0.0f;
    for (int64_t part = 0; part < parts; ++part)
        sum += g_parts[part * elements + i];
    y[i] = __float2half(sum);
}

void gptq_dequantize(const GptqShape& shape,
                     const GptqTensors& tensors,
                     __half* w,
                     unsigned long long* bad_rows,
                     cudaStream_t stream) {
    if (!dequantize_has_work(shape, tensors, w, bad_rows)) return;
    const unsigned blocks = wb::grid_size(shape.K / 8 * shape.N, kThreads);
    dequantize_kernel<<<blocks, kThreads, 0, stream>>>(
        GptqView::of(shape, tensors), w, bad_rows);
    CUDA_CHECK_LAUNCH();
}

int64_t gptq_packed_vectors(const GptqShape& shape, bool has_order) {
    GptqArguments("gptq_packed_vectors", shape);
    return packed_vectors(shape, has_order);
}

void gptq_repack(const GptqShape& shape,
                 const GptqTensors& tensors,
                 uint4* packed,
                 unsigned long long* bad_rows,
                 cudaStream_t stream) {
    if (!repack_has_work(shape, tensors, packed, bad_rows)) return;
    repack(shape, tensors, packed, bad_rows, stream);
}

void gptq_matmul(const GptqShape& shape,
                 const GptqTensors& tensors,
                 const uint4* packed,
                 const __half* x,
                 __half* y,
                 cudaStream_t stream) {
    if (!product_has_work(shape, tensors, packed, x, y, stream)) return;
    const GptqView v = GptqView::of(shape, tensors);
    const int64_t of_part = 16;
    const int64_t parts = wb::ceil_div(shape.K / 8, of_part);
    const int64_t elements = shape.M * shape.N;
    const wb::Scratch<float> g_parts(parts * elements, stream);
    const dim3 grid(wb::grid_size(shape.N, kThreads),
                    static_cast<unsigned>(std::min(shape.M, int64_t{1024})),
                    static_cast<unsigned>(parts));
    product_kernel<<<grid, kThreads, 0, stream>>>(
        v, x, g_parts.data(), shape.M, of_part);
    CUDA_CHECK_LAUNCH();
    total_kernel<<<wb::grid_size(elements, kThreads), kThreads, 0, stream>>>(
        g_parts.data(), y, elements, parts);
    CUDA_CHECK_LAUNCH();
}
