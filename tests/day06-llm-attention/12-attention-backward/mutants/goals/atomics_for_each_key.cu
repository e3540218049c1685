// Each key adds to dq by itself, in global memory.
// Rejected by: dq is added up once for 128 keys
#include <wb/scratch.h>

#include "plain.h"

/// A thread for each query and key.
template <int D, class T>
__global__ void slow_queries_kernel(const Problem<T> p, float* sums) {
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (thread >= p.rows() * p.keys) return;
    const int64_t row = thread / p.keys;
    const int key = static_cast<int>(thread % p.keys);
    if (key >= p.visible(static_cast<int>(row % p.queries))) return;
    const int64_t kv_row = row / p.queries / p.group * p.keys + key;
    const PlainPair pair = plain_pair<D>(p, row, kv_row);
    for (int d = 0; d < D; ++d)
        atomicAdd(&sums[row * D + d],
                  p.scale * pair.d_score * wb::to_float(p.k[kv_row * D + d]));
}

template <class T>
__global__ void slow_finish_kernel(const float* sums, int64_t n, T* dq) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) dq[i] = wb::to_element<T>(sums[i]);
}

void attention_backward_fp32(const AttentionBackward<float>& call,
                             cudaStream_t stream) {
    if (!has_work("attention_backward_fp32", call)) return;
    plain_backward(call, stream);
}

void attention_backward_bf16(const AttentionBackward<__nv_bfloat16>& call,
                             cudaStream_t stream) {
    if (!has_work("attention_backward_bf16", call)) return;
    plain_backward(call, stream);
    const auto p = problem_of(call);
    const int64_t n = call.shape.query_elements();
    if (call.deterministic || n == 0 || p.keys == 0) return;
    const wb::Scratch<float> sums(n, stream);
    CUDA_CHECK(cudaMemsetAsync(
        sums.data(), 0, static_cast<size_t>(n) * sizeof(float), stream));
    wb::with_head_dim<64, 128>(call.shape.head_dim, [&](auto head_dim) {
        slow_queries_kernel<head_dim()>
            <<<wb::grid_size(p.rows() * p.keys, 128), 128, 0, stream>>>(p, sums.data());
        CUDA_CHECK_LAUNCH();
    });
    slow_finish_kernel<<<wb::grid_size(n, 128), 128, 0, stream>>>(sums.data(), n, p.dq);
    CUDA_CHECK_LAUNCH();
}
