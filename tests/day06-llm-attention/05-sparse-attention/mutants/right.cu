// The right sparse_attention and block_sparse_attention that the .diff files edit.
#include "sparse_attention.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cmath>
#include <cstdint>

constexpr int kThreads = wb::BlockPattern::kRows;
constexpr int kKeys = wb::BlockPattern::kKeys;
constexpr int kMaxD = 128;

/// A problem as kernels get it.
struct Problem {
    const float* q;
    const float* k;
    const float* v;
    float* o;
    float* lse;
    wb::PatternStatus* status;
    int64_t rows;
    int queries;
    int keys;
    int D;
    float scale;

    __device__ float score(int64_t row, int key) const {
        const int64_t head = row / queries;
        float sum = 0.0f;
        for (int d = 0; d < D; ++d)
            sum += q[row * D + d] * k[(head * keys + key) * D + d];
        return scale * sum;
    }
    __device__ const float* value(int64_t row, int key) const {
        return v + (row / queries * keys + key) * D;
    }
};

/// The online softmax of one row.
struct Sums {
    float o[kMaxD] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;

    __device__ void add(const Problem& p, int64_t row, int key) {
        const float score = p.score(row, key);
        const float* const value = p.value(row, key);
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < p.D; ++d)
            o[d] = o[d] * factor + weight * value[d];
    }
    __device__ void store(const Problem& p, int64_t row) const {
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        for (int d = 0; d < p.D; ++d)
            p.o[row * p.D + d] = o[d] * inverse;
        if (p.lse != nullptr) p.lse[row] = maximum + logf(sum);
    }
};

/// The checks of both contracts.
inline Problem checked(const char* function,
                       const wb::AttentionShape& shape,
                       const float* q,
                       const float* k,
                       const float* v,
                       float* o,
                       float* lse,
                       wb::PatternStatus* status) {
    const wb::Arguments arguments(function);
    wb::check_shape(arguments, shape, {32, 64, 128});
    arguments.require(!shape.causal, "shape.causal", shape.causal, "must be false")
        .require(shape.kv_heads == shape.query_heads,
                 "shape.kv_heads",
                 shape.kv_heads,
                 "must equal shape.query_heads");
    const auto vectors = [](const float* p) {
        return reinterpret_cast<const float4*>(p);
    };
    if (shape.rows() > 0) {
        arguments.device("q", vectors(q), shape.query_elements() / 4)
            .device("k", vectors(k), shape.kv_elements() / 4)
            .device("v", vectors(v), shape.kv_elements() / 4)
            .device("o", vectors(o), shape.query_elements() / 4)
            .device("lse", lse, lse == nullptr ? 0 : shape.rows())
            .device("status", status, 1);
    }
    return {q,
            k,
            v,
            o,
            lse,
            status,
            shape.rows(),
            static_cast<int>(shape.queries),
            static_cast<int>(shape.keys),
            static_cast<int>(shape.head_dim),
            shape.scale};
}

/// Launches a kernel with a thread for each row.
template <class Kernel>
void launch_rows(Kernel kernel,
                 const wb::CsrPattern& pattern,
                 const Problem& p,
                 cudaStream_t stream) {
    wb::Arguments("sparse_attention").size("pattern.num_indices", pattern.num_indices);
    if (p.rows == 0) return;
    wb::Arguments("sparse_attention")
        .device("pattern.offsets", pattern.offsets, p.queries + 1)
        .device("pattern.indices", pattern.indices, pattern.num_indices);
    kernel<<<wb::grid_size(p.rows, kThreads), kThreads, 0, stream>>>(pattern, p);
    CUDA_CHECK_LAUNCH();
}

/// Launches a kernel with a block for each row of blocks.
template <class Kernel>
void launch_blocks(Kernel kernel,
                   const wb::BlockPattern& pattern,
                   const Problem& p,
                   cudaStream_t stream) {
    const wb::Arguments arguments("block_sparse_attention");
    const wb::BlockList& full = pattern.full;
    const wb::BlockList& partial = pattern.partial;
    arguments.size("pattern.full.num_blocks", full.num_blocks)
        .size("pattern.partial.num_blocks", partial.num_blocks);
    if (p.rows == 0) return;
    const int block_rows = wb::BlockPattern::block_rows(p.queries);
    arguments.device("pattern.full.offsets", full.offsets, block_rows + 1)
        .device("pattern.full.blocks", full.blocks, full.num_blocks)
        .device("pattern.partial.offsets", partial.offsets, block_rows + 1)
        .device("pattern.partial.blocks", partial.blocks, partial.num_blocks)
        .device("pattern.masks", pattern.masks, partial.num_blocks)
        .device("pattern.order", pattern.order, block_rows);
    const unsigned blocks = wb::grid_size(p.rows / p.queries * block_rows, 1);
    kernel<<<blocks, kThreads, 0, stream>>>(pattern, p);
    CUDA_CHECK_LAUNCH();
}

__global__ void rows_kernel(wb::CsrPattern pattern, Problem p) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows) return;
    const int query = static_cast<int>(row % p.queries);
    Sums sums;
    const auto range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, p.status);
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int key = pattern.indices[at];
        if (!wb::check_index(key, p.keys, query, at, p.status)) continue;
        sums.add(p, row, key);
    }
    sums.store(p, row);
}

void sparse_attention(const wb::AttentionShape& shape,
                      const wb::CsrPattern& pattern,
                      const float* q,
                      const float* k,
                      const float* v,
                      float* o,
                      float* lse,
                      wb::PatternStatus* status,
                      cudaStream_t stream) {
    const Problem p = checked("sparse_attention", shape, q, k, v, o, lse, status);
    launch_rows(rows_kernel, pattern, p, stream);
}

/// Adds the keys of a list of blocks.
__device__ void add_list(const wb::BlockList& list,
                         const uint64_t* masks,  // null for full blocks
                         const Problem& p,
                         int block_row,
                         int64_t row,
                         Sums& sums) {
    const auto range =
        wb::row_places(list.offsets, block_row, list.num_blocks, p.status);
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int block = list.blocks[at];
        const int blocks = wb::BlockPattern::key_blocks(p.keys);
        if (!wb::check_index(block, blocks, block_row, at, p.status)) continue;
        const uint64_t mask =
            masks == nullptr ? ~uint64_t{0} : masks[at * kThreads + threadIdx.x];
        for (int key = block * kKeys; key < min(p.keys, (block + 1) * kKeys); ++key) {
            if (mask >> (key % kKeys) & 1) sums.add(p, row, key);
        }
    }
}

__global__ void blocks_kernel(wb::BlockPattern pattern, Problem p) {
    const int block_rows = wb::BlockPattern::block_rows(p.queries);
    const int block_row = blockIdx.x % block_rows;
    const int query = block_row * kThreads + threadIdx.x;
    if (query >= p.queries) return;
    const int64_t row = int64_t{blockIdx.x / block_rows} * p.queries + query;
    Sums sums;
    add_list(pattern.full, nullptr, p, block_row, row, sums);
    add_list(pattern.partial, pattern.masks, p, block_row, row, sums);
    sums.store(p, row);
}

void block_sparse_attention(const wb::AttentionShape& shape,
                            const wb::BlockPattern& pattern,
                            const float* q,
                            const float* k,
                            const float* v,
                            float* o,
                            float* lse,
                            wb::PatternStatus* status,
                            cudaStream_t stream) {
    const Problem p = checked("block_sparse_attention", shape, q, k, v, o, lse, status);
    launch_blocks(blocks_kernel, pattern, p, stream);
}
