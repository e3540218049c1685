// dq is added up by atomics, though the same bits are asked for.
// Rejected by: deterministic: the same bits in any order of threads and blocks
#include <wb/scratch.h>

#include "plain.h"

/// Four threads for each query add what every fourth key gives, in any order.
template <int D, class T>
__global__ void wrong_queries_kernel(const Problem<T> p, float* sums) {
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t row = thread % p.rows();
    if (thread >= 4 * p.rows()) return;
    const int64_t kv_head = row / p.queries / p.group;
    const int visible = p.visible(static_cast<int>(row % p.queries));
    for (int key = static_cast<int>(thread / p.rows()); key < visible; key += 4) {
        const int64_t kv_row = kv_head * p.keys + key;
        const PlainPair pair = plain_pair<D>(p, row, kv_row);
        for (int d = 0; d < D; ++d)
            atomicAdd(&sums[row * D + d],
                      pair.d_score * wb::to_float(p.k[kv_row * D + d]));
    }
}

template <class T>
__global__ void wrong_finish_kernel(const float* sums, float scale, int64_t n, T* dq) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) dq[i] = wb::to_element<T>(scale * sums[i]);
}

template <class T>
static void wrong_backward(const AttentionBackward<T>& call, cudaStream_t stream) {
    plain_backward(call, stream);
    const auto p = problem_of(call);
    const int64_t n = call.shape.query_elements();
    if (n == 0) return;
    const wb::Scratch<float> sums(n, stream);
    CUDA_CHECK(cudaMemsetAsync(
        sums.data(), 0, static_cast<size_t>(n) * sizeof(float), stream));
    wb::with_head_dim<64, 128>(call.shape.head_dim, [&](auto head_dim) {
        wrong_queries_kernel<head_dim()>
            <<<wb::grid_size(4 * p.rows(), 64), 64, 0, stream>>>(p, sums.data());
        CUDA_CHECK_LAUNCH();
    });
    wrong_finish_kernel<<<wb::grid_size(n, 128), 128, 0, stream>>>(
        sums.data(), p.scale, n, p.dq);
    CUDA_CHECK_LAUNCH();
}

void attention_backward_fp32(const AttentionBackward<float>& call,
                             cudaStream_t stream) {
    if (!has_work("attention_backward_fp32", call)) return;
    wrong_backward(call, stream);
}

void attention_backward_bf16(const AttentionBackward<__nv_bfloat16>& call,
                             cudaStream_t stream) {
    if (!has_work("attention_backward_bf16", call)) return;
    wrong_backward(call, stream);
}
