// calls.h: given with this exercise: the three functions of the contract as Calls,
// after their arguments have been checked.
#pragma once

#include <wb/arguments.h>
#include <wb/attention_rows.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hopper_attention.h"
#include "tiles.h"

/// Refuses GPUs that lack the instructions.
inline void require_hopper(const wb::Arguments& arguments) {
#if defined(SIMT_CPU) && !defined(WB_HOPPER_SIM)
    arguments.require(false,
                      "the simulator",
                      0,
                      "does not know wgmma and the TMA unit; chapter 07 runs here");
#else
    const int capability = wb::compute_capability();
    arguments.require(
        capability / 10 == 9,
        "compute capability * 10",
        capability,
        "must be 90 (H100, H200, GH200): wgmma and setmaxnreg exist on no "
        "other GPU; 07-tensor-core-attention runs here");
#endif
}

/// lse of rows that see no key: -infinity. One thread a row.
static __global__ void no_keys_kernel(float* lse,  // [rows]
                                      int64_t rows) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row < rows) lse[row] = -INFINITY;
}

/// The result without keys: of no bytes there is no tensor map.
inline void write_no_keys(
    void* o, int64_t o_bytes, float* lse, int64_t rows, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(o, 0, static_cast<size_t>(o_bytes), stream));
    if (lse == nullptr) return;
    constexpr int kThreads = 256;
    no_keys_kernel<<<wb::grid_size(rows, kThreads), kThreads, 0, stream>>>(lse, rows);
    CUDA_CHECK_LAUNCH();
}

/// Device pointers that the TMA unit and 16-byte stores can use: checked as uint4.
template <class T>
const uint4* vectors(const T* pointer) {
    return reinterpret_cast<const uint4*>(pointer);
}

/// What all three calls have in common.
inline Problem common_problem(int64_t query_heads,
                              int64_t kv_heads,
                              bool causal,
                              float scale,
                              void* o,
                              float* lse) {
    Problem problem{};
    problem.query_heads = static_cast<int>(query_heads);
    problem.group = static_cast<int>(query_heads / kv_heads);
    problem.causal = causal;
    // A scale of 0 becomes the smallest one that there is: 0 times the -infinity of a
    // masked key is NaN.
    problem.scale_log2 = std::max(wb::log2_scale(scale), 0x1p-149f);
    problem.o = o;
    problem.lse = lse;
    return problem;
}

/// hopper_attention. Returns false if nothing is left to do.
template <class T>
bool dense_call(const wb::AttentionShape& shape,
                const T* q,
                const T* k,
                const T* v,
                T* o,
                float* lse,
                cudaStream_t stream,
                Call& call) {
    const wb::Arguments arguments("hopper_attention");
    wb::check_shape(arguments, shape, {64, 128, 256});
    arguments.require_real(
        shape.scale >= 0.0f,
        "shape.scale",
        shape.scale,
        "must not be negative: the largest q . k would not be the largest "
        "score; chapter 06 takes any scale");
    require_hopper(arguments);
    if (shape.rows() == 0) return false;
    arguments.device("q", vectors(q), shape.query_elements() / 8)
        .device("k", vectors(k), shape.kv_elements() / 8)
        .device("v", vectors(v), shape.kv_elements() / 8)
        .device("o", vectors(o), shape.query_elements() / 8);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    if (shape.keys == 0) {
        const int64_t bytes = shape.query_elements() * static_cast<int64_t>(sizeof(T));
        write_no_keys(o, bytes, lse, shape.rows(), stream);
        return false;
    }
    const int64_t D = shape.head_dim;
    const auto rows = [&](const T* base, int64_t heads, int64_t n) {
        return wb::dense_rows(base, shape.batch, heads, n, D);
    };
    call.q = rows(q, shape.query_heads, shape.queries);
    call.k = rows(k, shape.kv_heads, shape.keys);
    call.v = rows(v, shape.kv_heads, shape.keys);
    call.o = rows(o, shape.query_heads, shape.queries);
    call.stream = stream;
    Problem& problem = call.problem = common_problem(
        shape.query_heads, shape.kv_heads, shape.causal, shape.scale, o, lse);
    problem.sequences = static_cast<int>(shape.batch);
    problem.queries = static_cast<int>(shape.queries);
    problem.keys = static_cast<int>(shape.keys);
    problem.o_row = D;
    problem.o_head = shape.queries * D;
    problem.o_sequence = shape.query_heads * problem.o_head;
    problem.lse_head = shape.queries;
    problem.lse_sequence = shape.query_heads * shape.queries;
    return true;
}

/// Refuses what no packed or paged call takes.
inline void check_packed(const wb::Arguments& arguments, const PackedShape& shape) {
    const int64_t D = shape.head_dim;
    arguments.size("shape.sequences", shape.sequences)
        .positive("shape.query_heads", shape.query_heads)
        .positive("shape.kv_heads", shape.kv_heads)
        .size("shape.total_queries", shape.total_queries)
        .size("shape.total_keys", shape.total_keys)
        .size("shape.max_queries", shape.max_queries)
        .magnitude("shape.scale", shape.scale, wb::kMaxScale)
        .require(D == 64 || D == 128 || D == 256,
                 "shape.head_dim",
                 D,
                 "must be 64, 128 or 256")
        .require(shape.query_heads % shape.kv_heads == 0,
                 "shape.query_heads",
                 shape.query_heads,
                 "must be a multiple of shape.kv_heads")
        .require_real(
            shape.scale >= 0.0f, "shape.scale", shape.scale, "must not be negative")
        .require(shape.sequences <= INT32_MAX,
                 "shape.sequences",
                 shape.sequences,
                 "must be less than 2^31")
        .require(shape.total_queries <= wb::kMaxSequence,
                 "shape.total_queries",
                 shape.total_queries,
                 "must be at most 2^30")
        .require(shape.total_keys <= wb::kMaxSequence,
                 "shape.total_keys",
                 shape.total_keys,
                 "must be at most 2^30");
    const auto stride = [&](const char* name, int64_t value, int64_t row) {
        if (value == 0) return;
        arguments.require(
            value >= row, name, value, "is shorter than a row; 0 means dense");
        arguments.require(
            value % 8 == 0,
            name,
            value,
            "must be a multiple of 8: the TMA unit wants rows to begin at "
            "multiples of 16 bytes");
    };
    stride("shape.query_stride", shape.query_stride, shape.query_heads * D);
    stride("shape.kv_stride", shape.kv_stride, shape.kv_heads * D);
}

/// The queries of a packed or paged call.
template <class T>
void packed_queries(const PackedShape& shape,
                    const T* q,
                    const int32_t* query_starts,
                    T* o,
                    float* lse,
                    cudaStream_t stream,
                    Call& call) {
    const int64_t D = shape.head_dim;
    const int64_t row = shape.query_heads * D;
    const int64_t stride = shape.query_stride == 0 ? row : shape.query_stride;
    call.q = {q, D, shape.total_queries, shape.query_heads, 1, stride, D, row};
    call.stream = stream;
    Problem& problem = call.problem = common_problem(
        shape.query_heads, shape.kv_heads, shape.causal, shape.scale, o, lse);
    problem.sequences = static_cast<int>(shape.sequences);
    problem.queries =
        static_cast<int>(std::min(shape.max_queries, shape.total_queries));
    problem.query_starts = query_starts;
    problem.o_row = row;
    problem.o_head = D;
    problem.lse_head = shape.total_queries;
}

/// hopper_attention_packed. Returns false if nothing is left to do.
template <class T>
bool packed_call(const PackedShape& shape,
                 const T* q,
                 const T* k,
                 const T* v,
                 const int32_t* query_starts,
                 const int32_t* key_starts,
                 T* o,
                 float* lse,
                 cudaStream_t stream,
                 Call& call) {
    const wb::Arguments arguments("hopper_attention_packed");
    check_packed(arguments, shape);
    require_hopper(arguments);
    if (shape.total_queries == 0 || shape.max_queries == 0 || shape.sequences == 0)
        return false;
    const int64_t kv_row = shape.kv_heads * shape.head_dim;
    const int64_t kv_stride = shape.kv_stride == 0 ? kv_row : shape.kv_stride;
    const int64_t elements = shape.total_queries * shape.query_heads * shape.head_dim;
    arguments.device("q", vectors(q), elements / 8)
        .device("k", vectors(k), shape.total_keys * kv_row / 8)
        .device("v", vectors(v), shape.total_keys * kv_row / 8)
        .device("query_starts", query_starts, shape.sequences + 1)
        .device("key_starts", key_starts, shape.sequences + 1)
        .device("o", vectors(o), elements / 8);
    if (lse != nullptr)
        arguments.device("lse", lse, shape.total_queries * shape.query_heads);
    packed_queries(shape, q, query_starts, o, lse, stream, call);
    const auto rows = [&](const T* base) {
        // Without keys: one row of something, which nobody uses.
        if (shape.total_keys == 0) base = q;
        return wb::AttentionRows{base,
                                 shape.head_dim,
                                 shape.total_keys,
                                 shape.kv_heads,
                                 1,
                                 kv_stride,
                                 shape.head_dim,
                                 kv_row};
    };
    call.k = rows(k);
    call.v = rows(v);
    call.problem.key_starts = key_starts;
    return true;
}

/// hopper_attention_paged. Returns false if nothing is left to do.
inline bool paged_call(const PackedShape& shape,
                       const wb::PagedCache& cache,
                       const __nv_bfloat16* q,
                       const int32_t* query_starts,
                       __nv_bfloat16* o,
                       float* lse,
                       const wb::PagedWorkspace& workspace,
                       cudaStream_t stream,
                       Call& call) {
    const wb::Arguments arguments("hopper_attention_paged");
    check_packed(arguments, shape);
    wb::check_paged_cache(arguments, cache);
    arguments
        .require(shape.sequences == cache.batch,
                 "shape.sequences",
                 shape.sequences,
                 "must equal cache.batch")
        .require(shape.kv_heads == cache.kv_heads,
                 "shape.kv_heads",
                 shape.kv_heads,
                 "must equal cache.kv_heads")
        .require(shape.head_dim == cache.head_dim,
                 "shape.head_dim",
                 shape.head_dim,
                 "must equal cache.head_dim");
    require_hopper(arguments);
    if (shape.total_queries == 0 || shape.max_queries == 0 || shape.sequences == 0)
        return false;
    const int64_t elements = shape.total_queries * shape.query_heads * shape.head_dim;
    arguments.device("q", vectors(q), elements / 8)
        .device("query_starts", query_starts, shape.sequences + 1)
        .device("o", vectors(o), elements / 8);
    if (lse != nullptr)
        arguments.device("lse", lse, shape.total_queries * shape.query_heads);
    packed_queries(shape, q, query_starts, o, lse, stream, call);
    const int64_t page = cache.page_size * cache.head_dim;
    const auto rows = [&](const __nv_bfloat16* base) {
        return wb::AttentionRows{base,
                                 cache.head_dim,
                                 cache.page_size,
                                 cache.kv_heads,
                                 cache.num_pages,
                                 cache.head_dim,
                                 page,
                                 cache.kv_heads * page};
    };
    call.k = rows(cache.k);
    call.v = rows(cache.v);
    call.problem.cache = cache;
    call.problem.status = workspace.status();
    return true;
}
