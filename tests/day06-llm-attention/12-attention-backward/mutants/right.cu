// The right attention_backward that the .diff files edit: v1 of the solution.
#include "attention_backward.h"

#include <wb/check.h>
#include <wb/head_dim.h>
#include <wb/launch.h>

#include "problem.h"

/// P and S of a pair: a row of a query, and one of a key.
struct RightPair {
    float weight;
    float d_score;
};

template <int D, class T>
__device__ RightPair right_pair(const Problem<T>& p, int64_t row, int64_t kv_row) {
    float score = 0.0f;
    float d_weight = 0.0f;
    float delta = 0.0f;
    for (int d = 0; d < D; ++d) {
        const float d_o = wb::to_float(p.d_o[row * D + d]);
        score += wb::to_float(p.q[row * D + d]) * wb::to_float(p.k[kv_row * D + d]);
        d_weight += d_o * wb::to_float(p.v[kv_row * D + d]);
        delta += d_o * wb::to_float(p.o[row * D + d]);
    }
    const float weight = expf(p.scale * score - p.lse[row]);
    return {weight, weight * (d_weight - delta)};
}

template <int D, class T>
__global__ void right_queries_kernel(const Problem<T> p) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= p.rows()) return;
    [[maybe_unused]] const int query = static_cast<int>(row % p.queries);
    const int64_t kv_head = row / p.queries / p.group;
    float r_dq[D] = {};
    for (int key = 0; key < p.visible(query); ++key) {
        const int64_t kv_row = kv_head * p.keys + key;
        const RightPair pair = right_pair<D>(p, row, kv_row);
        for (int d = 0; d < D; ++d)
            r_dq[d] += pair.d_score * wb::to_float(p.k[kv_row * D + d]);
    }
    for (int d = 0; d < D; ++d)
        p.dq[row * D + d] = wb::to_element<T>(p.scale * r_dq[d]);
}

template <int D, class T>
__global__ void right_keys_kernel(const Problem<T> p) {
    const int64_t kv_row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (kv_row >= p.kv_rows()) return;
    [[maybe_unused]] const int key = static_cast<int>(kv_row % p.keys);
    const int64_t kv_head = kv_row / p.keys;
    float r_dk[D] = {};
    float r_dv[D] = {};
    for (int64_t head = kv_head * p.group; head < (kv_head + 1) * p.group; ++head) {
        for (int query = p.first_query(key); query < p.queries; ++query) {
            const int64_t row = head * p.queries + query;
            const RightPair pair = right_pair<D>(p, row, kv_row);
            for (int d = 0; d < D; ++d) {
                r_dk[d] += pair.d_score * wb::to_float(p.q[row * D + d]);
                r_dv[d] += pair.weight * wb::to_float(p.d_o[row * D + d]);
            }
        }
    }
    for (int d = 0; d < D; ++d) {
        p.dk[kv_row * D + d] = wb::to_element<T>(p.scale * r_dk[d]);
        p.dv[kv_row * D + d] = wb::to_element<T>(r_dv[d]);
    }
}

template <class T>
static void right_backward(const AttentionBackward<T>& call, cudaStream_t stream) {
    const auto p = problem_of(call);
    wb::with_head_dim<64, 128>(call.shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        if (p.rows() > 0) {
            right_queries_kernel<D>
                <<<wb::grid_size(p.rows(), 128), 128, 0, stream>>>(p);
            CUDA_CHECK_LAUNCH();
        }
        if (p.kv_rows() > 0) {
            right_keys_kernel<D>
                <<<wb::grid_size(p.kv_rows(), 128), 128, 0, stream>>>(p);
            CUDA_CHECK_LAUNCH();
        }
    });
}

void attention_backward_fp32(const AttentionBackward<float>& call,
                             cudaStream_t stream) {
    if (!has_work("attention_backward_fp32", call)) return;
    right_backward(call, stream);
}

void attention_backward_bf16(const AttentionBackward<__nv_bfloat16>& call,
                             cudaStream_t stream) {
    require_sm_80("attention_backward_bf16");
    if (!has_work("attention_backward_bf16", call)) return;
    right_backward(call, stream);
}
