// The right functions that the .diff files edit.
#include "embedding_lookup.h"

#include <wb/check.h>

#include "lookup.cuh"

template <class T>
__global__ void gather_kernel(const T* table, T* out, Lookup lookup) {
    const int64_t i = warp_of_grid();
    if (i >= lookup.count) return;
    const int64_t index = lookup.indices[i];
    if (!is_row(lookup, index)) {
        if (lane_of_warp() == 0) count_bad(lookup);
        return;
    }
    for (int64_t col = lane_of_warp(); col < lookup.cols; col += wb::kWarpSize)
        out[i * lookup.cols + col] = table[index * lookup.cols + col];
}

template <class T>
__global__ void bag_kernel(const T* table, T* out, Lookup lookup, Bags bags) {
    const int64_t bag = warp_of_grid();
    if (bag >= bags.num_bags) return;
    const int64_t begin = bags.offsets[bag];
    const int64_t end = bags.offsets[bag + 1];
    if (begin < 0 || begin > end || end > lookup.count) {
        if (lane_of_warp() == 0) count_bad(lookup);
        return;
    }
    for (int64_t col = lane_of_warp(); col < lookup.cols; col += wb::kWarpSize) {
        float sum = 0.0f;
        int64_t used = 0;
        for (int64_t i = begin; i < end; ++i) {
            const int64_t index = lookup.indices[i];
            if (!is_row(lookup, index)) {
                if (col == 0) count_bad(lookup);
                continue;
            }
            if (index == bags.padding) continue;
            sum += static_cast<float>(table[index * lookup.cols + col]);
            ++used;
        }
        if (bags.pool == Pool::mean && used > 0) sum /= static_cast<float>(used);
        out[bag * lookup.cols + col] = static_cast<T>(sum);
    }
}

__global__ void scatter_kernel(const float* grad_out,
                               float* grad_table,
                               Lookup lookup,
                               int64_t padding) {
    const int64_t i = warp_of_grid();
    if (i >= lookup.count) return;
    const int64_t index = lookup.indices[i];
    if (!is_row(lookup, index)) {
        if (lane_of_warp() == 0) count_bad(lookup);
        return;
    }
    if (index == padding) return;
    for (int64_t col = lane_of_warp(); col < lookup.cols; col += wb::kWarpSize)
        atomicAdd(&grad_table[index * lookup.cols + col],
                  grad_out[i * lookup.cols + col]);
}

template <class T>
static void gather(const T* table, T* out, const Lookup& lookup, cudaStream_t stream) {
    gather_kernel<<<wb::grid_size(lookup.count, kWarps), kThreads, 0, stream>>>(
        table, out, lookup);
    CUDA_CHECK_LAUNCH();
}

template <class T>
static void pool_bags(const T* table,
                      T* out,
                      const Lookup& lookup,
                      const Bags& bags,
                      cudaStream_t stream) {
    bag_kernel<<<wb::grid_size(bags.num_bags, kWarps), kThreads, 0, stream>>>(
        table, out, lookup, bags);
    CUDA_CHECK_LAUNCH();
}

void embedding(const float* table, float* out, const Lookup& l, cudaStream_t stream) {
    if (!check_embedding("embedding", table, out, l)) return;
    gather(table, out, l, stream);
}

void embedding_u16(const uint16_t* table,
                   uint16_t* out,
                   const Lookup& l,
                   cudaStream_t stream) {
    if (!check_embedding("embedding_u16", table, out, l)) return;
    gather(table, out, l, stream);
}

void embedding_bag(const float* table,
                   float* out,
                   const Lookup& l,
                   const Bags& bags,
                   cudaStream_t stream) {
    if (!check_bags("embedding_bag", table, out, l, bags)) return;
    pool_bags(table, out, l, bags, stream);
}

void embedding_bag_fp16(const __half* table,
                        __half* out,
                        const Lookup& l,
                        const Bags& bags,
                        cudaStream_t stream) {
    if (!check_bags("embedding_bag_fp16", table, out, l, bags)) return;
    pool_bags(table, out, l, bags, stream);
}

void embedding_bag_bf16(const __nv_bfloat16* table,
                        __nv_bfloat16* out,
                        const Lookup& l,
                        const Bags& bags,
                        cudaStream_t stream) {
    if (!check_bags("embedding_bag_bf16", table, out, l, bags)) return;
    pool_bags(table, out, l, bags, stream);
}

void embedding_backward(const float* grad_out,
                        float* grad_table,
                        const Lookup& lookup,
                        int64_t padding,
                        cudaStream_t stream) {
    if (!check_backward(grad_out, grad_table, lookup, padding)) return;
    const int64_t bytes = lookup.num_rows * lookup.cols * int64_t{sizeof(float)};
    CUDA_CHECK(cudaMemsetAsync(grad_table, 0, static_cast<size_t>(bytes), stream));
    if (lookup.count == 0) return;
    scatter_kernel<<<wb::grid_size(lookup.count, kWarps), kThreads, 0, stream>>>(
        grad_out, grad_table, lookup, padding);
    CUDA_CHECK_LAUNCH();
}
