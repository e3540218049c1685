// The right functions that the .diff files edit.
#include "softmax.h"

#include <wb/check.h>

#include "rows.h"

/// Rows of up to this many columns have a warp, others a block.
constexpr int64_t kNarrowest = 64;

template <class T>
__device__ inline MaxSum measure(const T* g_x, int64_t columns, int from, int step) {
    MaxSum known;
    for (int64_t col = from; col < columns; col += step) {
        const float element = to_float(g_x[col]);
        const float max = fmaxf(known.max, element);
        known.sum = known.sum * wb::softmax_rescale(known.max, max);
        known.sum += wb::softmax_rescale(element, max);
        known.max = max;
    }
    return known;
}

__device__ inline MaxSum merged(MaxSum a, MaxSum b) {
    const float max = fmaxf(a.max, b.max);
    const float sum_a = a.sum * wb::softmax_rescale(a.max, max);
    const float sum_b = b.sum * wb::softmax_rescale(b.max, max);
    return {max, sum_a + sum_b};
}

template <class T>
__device__ inline void store(
    const T* g_x, T* g_y, int64_t columns, int from, int step, MaxSum known) {
    for (int64_t col = from; col < columns; col += step)
        g_y[col] = to_element<T>(expf(to_float(g_x[col]) - known.max) / known.sum);
}

template <class T>
__global__ void warps_kernel(const T* x, T* y, int64_t rows, int64_t columns) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= rows) return;
    const T* const g_x = x + row * columns;
    MaxSum known = measure(g_x, columns, lane, wb::kWarpSize);
    for (int step = 1; step < wb::kWarpSize; step *= 2) {
        const float max = __shfl_xor_sync(wb::kAllLanes, known.max, step);
        const float sum = __shfl_xor_sync(wb::kAllLanes, known.sum, step);
        known = merged(known, {max, sum});
    }
    store(g_x, y + row * columns, columns, lane, wb::kWarpSize, known);
}

template <class T>
__global__ void blocks_kernel(const T* x, T* y, int64_t rows, int64_t columns) {
    __shared__ MaxSum s_warps[wb::kWarpSize];
    const int tid = threadIdx.x;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* const g_x = x + row * columns;
        const MaxSum mine = merge_lanes(measure(g_x, columns, tid, kThreads));
        const MaxSum known = merge_warps(mine, s_warps);
        store(g_x, y + row * columns, columns, tid, kThreads, known);
        __syncthreads();  // the next row uses s_warps again
    }
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    if (columns <= kNarrowest) {
        const unsigned blocks = count_blocks(rows, kWarps);
        warps_kernel<<<blocks, kThreads, 0, stream>>>(x, y, rows, columns);
    } else {  // few blocks: each has several rows
        const unsigned blocks = count_blocks(rows, 4);
        blocks_kernel<<<blocks, kThreads, 0, stream>>>(x, y, rows, columns);
    }
    CUDA_CHECK_LAUNCH();
}

void softmax(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    if (check_softmax("softmax", x, y, rows, columns, sizeof *x))
        launch(x, y, rows, columns, stream);
}

void softmax_bf16(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    // In parentheses: the one of this text, also where a mutant has a copy of rows.h.
    if ((check_softmax)("softmax_bf16", x, y, rows, columns, sizeof *x))
        launch(x, y, rows, columns, stream);
}
