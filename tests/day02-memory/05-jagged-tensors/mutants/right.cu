// The right functions that the .diff files edit.
#include "jagged_tensors.h"

#include <wb/check.h>

#include "given.h"

template <class Offset>
__global__ void offsets_kernel(const int32_t* lengths,
                               Offset* offsets,
                               int64_t num_rows,
                               JaggedStatus* status) {
    __shared__ int64_t s_sums[kThreads];
    const int tid = threadIdx.x;
    if (tid == 0) offsets[0] = 0;
    int64_t before = 0;
    for (int64_t first = 0; first < num_rows; first += kThreads) {
        const int64_t r = first + tid;
        s_sums[tid] = r < num_rows ? checked_length(lengths, r, status) : 0;
        __syncthreads();
        for (int step = 1; step < kThreads; step *= 2) {
            const int64_t more = tid >= step ? s_sums[tid - step] : 0;
            __syncthreads();
            s_sums[tid] += more;
            __syncthreads();
        }
        if (r < num_rows) store_offset(offsets, r, before + s_sums[tid], status);
        before += s_sums[kThreads - 1];
        __syncthreads();
    }
}

template <class Offset>
__global__ void to_dense_kernel(const bf16* values,
                                const Offset* offsets,
                                bf16* dense,
                                int64_t max_length,
                                int64_t dim,
                                const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t first = offsets[row];
    const int64_t length = offsets[row + 1] - first;
    for (int64_t i = threadIdx.x; i < max_length * dim; i += kThreads) {
        const bool is_there = i < length * dim;
        dense[row * max_length * dim + i] =
            is_there ? values[first * dim + i] : __float2bfloat16(0.0f);
    }
}

template <class Offset>
__global__ void to_jagged_kernel(const bf16* dense,
                                 const Offset* offsets,
                                 bf16* values,
                                 int64_t max_length,
                                 int64_t dim,
                                 const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t begin = offsets[row];
    const int64_t length = offsets[row + 1] - begin;
    for (int64_t i = threadIdx.x; i < length * dim; i += kThreads) {
        values[begin * dim + i] = i < max_length * dim
                                      ? dense[row * max_length * dim + i]
                                      : __float2bfloat16(0.0f);
    }
}

template <class Offset>
__global__ void concat_kernel(const bf16* a,
                              const Offset* a_offsets,
                              const bf16* b,
                              const Offset* b_offsets,
                              bf16* values,
                              Offset* offsets,
                              int64_t dim,
                              const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t a_first = a_offsets[row] * dim;
    const int64_t b_first = b_offsets[row] * dim;
    const int64_t a_end = a_offsets[row + 1] * dim;
    const int64_t b_end = b_offsets[row + 1] * dim;
    for (int64_t i = a_first + threadIdx.x; i < a_end; i += kThreads)
        values[b_first + i] = a[i];
    for (int64_t i = b_first + threadIdx.x; i < b_end; i += kThreads)
        values[a_end + i] = b[i];
    if (threadIdx.x == 0) offsets[row + 1] = a_offsets[row + 1] + b_offsets[row + 1];
    if (threadIdx.x == 0 && row == 0) offsets[0] = 0;
}

template <class Offset>
__global__ void split_kernel(const bf16* values,
                             const Offset* a_offsets,
                             const Offset* b_offsets,
                             bf16* a,
                             bf16* b,
                             int64_t dim,
                             const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t a_start = a_offsets[row] * dim;
    const int64_t b_start = b_offsets[row] * dim;
    const int64_t a_stop = a_offsets[row + 1] * dim;
    const int64_t b_stop = b_offsets[row + 1] * dim;
    for (int64_t i = a_start + threadIdx.x; i < a_stop; i += kThreads)
        a[i] = values[b_start + i];
    for (int64_t i = b_start + threadIdx.x; i < b_stop; i += kThreads)
        b[i] = values[a_stop + i];
}

void jagged_offsets(const int32_t* lengths,
                    wb::OffsetsOut offsets,
                    int64_t num_rows,
                    JaggedStatus* status,
                    cudaStream_t stream) {
    check_jagged_offsets(lengths, offsets, num_rows, status);
    if (offsets.is_wide())
        offsets_kernel<<<1, kThreads, 0, stream>>>(
            lengths, offsets.wide(), num_rows, status);
    else
        offsets_kernel<<<1, kThreads, 0, stream>>>(
            lengths, offsets.narrow(), num_rows, status);
    CUDA_CHECK_LAUNCH();
}

void jagged_to_dense(const bf16* values,
                     wb::Offsets offsets,
                     bf16* dense,
                     const JaggedShape& shape,
                     JaggedStatus* status,
                     cudaStream_t stream) {
    if (!check_conversion("jagged_to_dense", values, offsets, dense, shape, status) ||
        shape.max_length == 0)
        return;
    const auto rows = static_cast<unsigned>(shape.num_rows);
    with_offsets(offsets, [&](const auto* typed) {
        check_offsets(typed, shape, status, stream);
        to_dense_kernel<<<rows, kThreads, 0, stream>>>(
            values, typed, dense, shape.max_length, shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}

void dense_to_jagged(const bf16* dense,
                     wb::Offsets offsets,
                     bf16* values,
                     const JaggedShape& shape,
                     JaggedStatus* status,
                     cudaStream_t stream) {
    if (!check_conversion("dense_to_jagged", values, offsets, dense, shape, status))
        return;
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    with_offsets(offsets, [&](const auto* typed) {
        check_offsets(typed, shape, status, stream);
        to_jagged_kernel<<<blocks, kThreads, 0, stream>>>(
            dense, typed, values, shape.max_length, shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}

void jagged_concat(const bf16* a,
                   wb::Offsets a_offsets,
                   const bf16* b,
                   wb::Offsets b_offsets,
                   bf16* values,
                   wb::OffsetsOut offsets,
                   const PairShape& shape,
                   JaggedStatus* status,
                   cudaStream_t stream) {
    if (!check_concat(a, a_offsets, b, b_offsets, values, offsets, shape, status))
        return;
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    with_offsets(a_offsets, b_offsets, [&](const auto* a_typed, const auto* b_typed) {
        check_offsets(a_typed, b_typed, shape, status, stream);
        auto* sums = like(a_typed, offsets);
        concat_kernel<<<blocks, kThreads, 0, stream>>>(
            a, a_typed, b, b_typed, values, sums, shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}

void jagged_split(const bf16* values,
                  wb::Offsets a_offsets,
                  wb::Offsets b_offsets,
                  bf16* a,
                  bf16* b,
                  const PairShape& shape,
                  JaggedStatus* status,
                  cudaStream_t stream) {
    if (!check_split(values, a_offsets, b_offsets, a, b, shape, status)) return;
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    with_offsets(a_offsets, b_offsets, [&](const auto* a_typed, const auto* b_typed) {
        check_offsets(a_typed, b_typed, shape, status, stream);
        split_kernel<<<blocks, kThreads, 0, stream>>>(
            values, a_typed, b_typed, a, b, shape.dim, status);
    });
    CUDA_CHECK_LAUNCH();
}
