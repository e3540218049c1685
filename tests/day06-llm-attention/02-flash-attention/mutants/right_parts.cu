// A right flash_attention that some .diff files edit: the keys in parts, then a merge.
#include "flash_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cmath>

/// Parts of the keys of a row, 32 keys each and the rest; threads of a block.
constexpr int kMostParts = 4;
constexpr int kPartKeys = 32;
constexpr int kThreads = 64;

/// One thread a row and part: sums that are not divided yet, and their maximum.
__global__ void part_kernel(const float* q,
                            const float* k,
                            const float* v,
                            float* part_o,     // [parts, rows, D]
                            float2* part_sum,  // [parts, rows] maximum and sum
                            int64_t rows,
                            int queries,
                            int keys,
                            int D,
                            bool causal,
                            float scale) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    const int part = static_cast<int>(blockIdx.y);
    const bool is_last = blockIdx.y == gridDim.y - 1;
    const int64_t head = row / queries;
    const int visible =
        wb::visible_keys(queries, keys, causal, static_cast<int>(row % queries));
    const int first = part * kPartKeys;
    const int end = is_last ? keys : first + kPartKeys;
    const int last = min(end, visible);
    float r_o[256] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int j = first; j < last; ++j) {
        const int64_t key = (head * keys + j) * D;
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += q[row * D + d] * k[key + d];
        score *= scale;
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < D; ++d)
            r_o[d] = r_o[d] * factor + weight * v[key + d];
    }
    for (int d = 0; d < D; ++d)
        part_o[(part * rows + row) * D + d] = r_o[d];
    part_sum[part * rows + row] = make_float2(maximum, sum);
}

/// One thread a row: its parts become one.
__global__ void parts_kernel(const float* part_o,
                             const float2* part_sum,
                             float* o,
                             float* lse,
                             int64_t rows,
                             int parts,
                             int D) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    float maximum = -INFINITY;
    for (int p = 0; p < parts; ++p)
        maximum = fmaxf(maximum, part_sum[p * rows + row].x);
    const float base = maximum == -INFINITY ? 0.0f : maximum;
    float r_o[256] = {};
    float sum = 0.0f;
    for (int p = 0; p < parts; ++p) {
        const float2 its = part_sum[p * rows + row];
        const float factor = expf(its.x - base);
        sum += factor * its.y;
        for (int d = 0; d < D; ++d)
            r_o[d] += factor * part_o[(p * rows + row) * D + d];
    }
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int d = 0; d < D; ++d)
        o[row * D + d] = r_o[d] * inverse;
    if (lse != nullptr) lse[row] = maximum + logf(sum);
}

void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    const wb::Arguments arguments("flash_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads");
    if (shape.rows() == 0) return;
    const auto vectors = [](const float* p) {
        return reinterpret_cast<const float4*>(p);
    };
    arguments.device("q", vectors(q), shape.query_elements() / 4)
        .device("k", vectors(k), shape.kv_elements() / 4)
        .device("v", vectors(v), shape.kv_elements() / 4)
        .device("o", vectors(o), shape.query_elements() / 4);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    const int64_t rows = shape.rows();
    const int D = static_cast<int>(shape.head_dim);
    // The parts take no more memory than k and v.
    int parts = kMostParts;
    while (parts > 1 && parts * rows * (D + 2) > 2 * shape.kv_elements())
        --parts;
    const wb::Scratch<float> part_o(parts * rows * D, stream);
    const wb::Scratch<float2> part_sum(parts * rows, stream);
    const unsigned blocks = wb::grid_size(rows, kThreads);
    part_kernel<<<dim3(blocks, static_cast<unsigned>(parts)), kThreads, 0, stream>>>(
        q,
        k,
        v,
        part_o.data(),
        part_sum.data(),
        rows,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        D,
        shape.causal,
        shape.scale);
    CUDA_CHECK_LAUNCH();
    parts_kernel<<<blocks, kThreads, 0, stream>>>(
        part_o.data(), part_sum.data(), o, lse, rows, parts, D);
    CUDA_CHECK_LAUNCH();
}
