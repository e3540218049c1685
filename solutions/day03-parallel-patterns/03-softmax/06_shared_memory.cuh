// 06_shared_memory.cuh: v6: rows that are too wide for registers wait in shared memory.
#pragma once

// #region v6-kernel
/// softmax_v6: a block brings its row to shared memory, and reads it there three times.
///
/// Launch   grid rows, block 1024, dynamic shared memory for a row and a vector
/// Traffic  reads each element once, writes it once
template <class T>
__global__ void __launch_bounds__(1024)
    softmax_v6_kernel(const T* x,  // [rows, columns]
                      T* y,        // [rows, columns]
                      int columns) {
    extern __shared__ uint4 s_vectors[];
    __shared__ MaxSum s_warps[wb::kWarpSize];
    const int tid = threadIdx.x;
    const int64_t from = int64_t{blockIdx.x} * columns;
    const Slice<T> slice(x + from, y + from, columns);
    T* const s_row = reinterpret_cast<T*>(s_vectors) + shift_of(slice.x);
    copy_in(slice, s_row);
    __syncthreads();
    MaxSum known;
    for (int col = tid; col < columns; col += blockDim.x)
        known.max = fmaxf(known.max, to_float(s_row[col]));
    known.max = warp_max(known.max);
    for (int col = tid; col < columns; col += blockDim.x)
        known.sum += weight<T>(to_float(s_row[col]), below(known.max));
    known.sum = warp_sum(known.sum);
    known = merge_warps(known, s_warps);
    const float scale = 1.0f / known.sum;
    for (int col = tid; col < columns; col += blockDim.x)
        s_row[col] =
            to_element<T>(weight<T>(to_float(s_row[col]), below(known.max)) * scale);
    __syncthreads();
    copy_out(slice, s_row);
}
// #endregion v6-kernel

// #region v6-launch
/// Whether v6 can take rows of so many columns; lets it have the shared memory, too.
template <class T>
static bool fits_in_shared(int64_t columns) {
    constexpr int64_t kMost = int64_t{1} << 18;  // bytes: more than any GPU's block has
    const int64_t bytes = columns <= kMost ? columns * int64_t{sizeof(T)} + 16 : kMost;
    return wb::allow_shared(softmax_v6_kernel<T>, static_cast<size_t>(bytes));
}

template <class T>
static void launch_v6(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    if (columns <= kWidest || !fits_in_shared<T>(columns))
        return launch_v5(x, y, rows, columns, s);
    const auto shared = static_cast<size_t>(columns) * sizeof(T) + 16;
    softmax_v6_kernel<<<count_blocks(rows, 1), 1024, shared, s>>>(
        x, y, static_cast<int>(columns));
    CUDA_CHECK_LAUNCH();
}
// #endregion v6-launch

static void softmax_v6(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v6(x, y, rows, columns, s);
}
static void softmax_bf16_v6(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v6(x, y, rows, columns, s);
}
WB_RUNG(softmax, softmax_v6, "a row in shared memory");
WB_RUNG(softmax_bf16, softmax_bf16_v6, "a row in shared memory");
