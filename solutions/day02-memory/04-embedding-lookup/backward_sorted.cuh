/// backward_sorted.cuh: v2 and v3 of the backward pass, which sort the indices first.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/launch.h>

#include <cstdint>

#include "row_sort.cuh"
#include "shares.cuh"

// #region v2-backward
/// sum_rows_v2: a warp for each row of the table adds up all gradients of that row, and
/// writes it once. Rows that no index means become zero by the way.
///
/// Launch   grid ceil_div(num_rows, kWarps), block kThreads
__global__ void sum_rows_v2_kernel(const float* grad_out,  // [count, cols]
                                   float* grad_table,      // [num_rows, cols]
                                   SortedRows sorted,
                                   int64_t num_rows,
                                   int64_t cols) {
    const int64_t row = warp_of_grid();
    if (row >= num_rows) return;
    const int32_t begin = sorted.begins[row];
    const int32_t end = sorted.ends[row];
    for (int64_t col = lane_of_warp(); col < cols; col += wb::kWarpSize) {
        float sum = 0.0f;
        for (int32_t i = begin; i < end; ++i)
            sum += grad_out[sorted.positions[i] * cols + col];
        grad_table[row * cols + col] = sum;
    }
}

static void embedding_backward_v2(const float* grad_out,
                                  float* grad_table,
                                  const Lookup& lookup,
                                  int64_t padding,
                                  cudaStream_t stream) {
    if (lookup.count == 0)
        return embedding_backward_v1(grad_out, grad_table, lookup, padding, stream);
    const RowSort sort(lookup, padding, stream);
    const unsigned blocks = wb::grid_size(lookup.num_rows, kWarps);
    sum_rows_v2_kernel<<<blocks, kThreads, 0, stream>>>(
        grad_out, grad_table, sort.result(), lookup.num_rows, lookup.cols);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-backward
WB_RUNG(embedding_backward, embedding_backward_v2, "sorted, a warp a row");

// #region v3-backward
/// sum_shares_v3: a warp for each share of 32 sorted gradients. It writes the sums of
/// runs that lie in its share, and adds the others, at both edges, with atomics.
///
/// Launch   grid ceil_div(count, kWarps * kShare), block kThreads; grad_table is all
///          zeros
__global__ void sum_shares_v3_kernel(const float* grad_out,  // [count, cols]
                                     float* grad_table,      // [num_rows, cols]
                                     SortedRows sorted,
                                     int64_t count,
                                     int32_t num_rows,
                                     int64_t cols) {
    const int64_t first = warp_of_grid() * kShare;
    if (first >= count) return;
    const int64_t end = first + kShare < count ? first + kShare : count;
    for (int64_t col = lane_of_warp(); col < cols; col += wb::kWarpSize) {
        float sum = 0.0f;
        bool begins_here = first == 0 || sorted.rows[first - 1] != sorted.rows[first];
        for (int64_t i = first; i < end; ++i) {
            const int32_t row = sorted.rows[i];
            if (row == num_rows) break;  // so are all behind it
            sum += grad_out[sorted.positions[i] * cols + col];
            const bool ends_here = i + 1 == count || sorted.rows[i + 1] != row;
            if (!ends_here && i + 1 < end) continue;
            float* place = &grad_table[row * cols + col];
            if (begins_here && ends_here)
                *place = sum;
            else
                atomicAdd(place, sum);
            sum = 0.0f;
            begins_here = true;
        }
    }
}

static void embedding_backward_v3(const float* grad_out,
                                  float* grad_table,
                                  const Lookup& lookup,
                                  int64_t padding,
                                  cudaStream_t stream) {
    const int64_t bytes = lookup.num_rows * lookup.cols * int64_t{sizeof(float)};
    CUDA_CHECK(cudaMemsetAsync(grad_table, 0, static_cast<size_t>(bytes), stream));
    if (lookup.count == 0) return;
    const RowSort sort(lookup, padding, stream);
    const unsigned blocks = wb::grid_size(lookup.count, kWarps * kShare);
    sum_shares_v3_kernel<<<blocks, kThreads, 0, stream>>>(
        grad_out,
        grad_table,
        sort.result(),
        lookup.count,
        static_cast<int32_t>(lookup.num_rows),
        lookup.cols);
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-backward
WB_RUNG(embedding_backward, embedding_backward_v3, "equal shares, atomics at edges");
