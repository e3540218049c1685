// 05_narrow_rows.cuh: v5: narrow rows lie side by side, so a tile of them is one long
// row to load and to store; in between, each thread has a row in shared memory.
#pragma once

#include <wb/shared_memory.h>

// #region v5-tile
/// Rows of a tile: each thread has one. 16 bytes divide a tile, whatever the columns are.
inline constexpr int kTileRows = 128;

/// The widest rows that v5 takes: tiles of 32 KB.
template <class T>
inline constexpr int kNarrow = 256 / int{sizeof(T)};

/// A slice in shared memory keeps its place relative to vectors: this many elements are
/// left free before it.
template <class T>
__device__ __forceinline__ int shift_of(const T* address) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(address) % 16 / sizeof(T));
}

/// Brings a slice to shared memory, vector by vector; each thread several.
template <class T>
__device__ inline void copy_in(const Slice<T>& slice, T* s_slice) {
    const int tid = threadIdx.x;
    const int threads = blockDim.x;
    for (int v = tid; v < slice.vectors; v += threads)
        Vector<T>::load(slice.x + slice.first(v)).store(s_slice + slice.first(v));
    if (tid < slice.edges) s_slice[slice.edge(tid)] = slice.x[slice.edge(tid)];
}

/// Brings it back, to y. If vectors of x are none of y, element by element.
template <class T>
__device__ inline void copy_out(const Slice<T>& slice, const T* s_slice) {
    const int tid = threadIdx.x;
    const int threads = blockDim.x;
    if (!slice.aligned) {
        for (int i = tid; i < slice.count; i += threads)
            slice.y[i] = s_slice[i];
        return;
    }
    for (int v = tid; v < slice.vectors; v += threads)
        Vector<T>::load(s_slice + slice.first(v)).store(slice.y + slice.first(v));
    if (tid < slice.edges) slice.y[slice.edge(tid)] = s_slice[slice.edge(tid)];
}
// #endregion v5-tile

// #region v5-row
/// One thread's row. 32 rows of 32 floats would begin in the same bank; so each thread
/// begins at another column. The result is the same but for rounding.
///
/// @param start  a column, where this thread begins
template <class T>
__device__ inline void narrow_row(T* s_row, int columns, int start) {
    const auto next = [&](int col) { return col + 1 == columns ? 0 : col + 1; };
    float max = -INFINITY;
    for (int i = 0, col = start; i < columns; ++i, col = next(col))
        max = fmaxf(max, to_float(s_row[col]));
    max = below(max);
    float sum = 0.0f;
    for (int i = 0, col = start; i < columns; ++i, col = next(col))
        sum += weight<T>(to_float(s_row[col]), max);
    const float scale = 1.0f / sum;
    for (int i = 0, col = start; i < columns; ++i, col = next(col))
        s_row[col] = to_element<T>(weight<T>(to_float(s_row[col]), max) * scale);
}
// #endregion v5-row

// #region v5-kernel
/// softmax_v5: a tile of rows goes to shared memory in whole vectors, and comes back so.
///
/// @param spread_log2  rows that are 2^spread_log2 apart begin in the same bank
///
/// Launch   grid ceil_div(rows, kTileRows), block kTileRows, dynamic shared memory for
///          kTileRows rows and a vector
/// Traffic  reads each element once, writes it once
template <class T>
__global__ void softmax_v5_kernel(const T* x,  // [rows, columns]
                                  T* y,        // [rows, columns]
                                  int64_t rows,
                                  int columns,
                                  int spread_log2) {
    extern __shared__ uint4 s_vectors[];
    const int tid = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * kTileRows;
    const int64_t count = min(rows - first, int64_t{kTileRows});
    const Slice<T> slice(x + first * columns, y + first * columns, count * columns);
    T* const s_tile = reinterpret_cast<T*>(s_vectors) + shift_of(slice.x);
    copy_in(slice, s_tile);
    __syncthreads();
    constexpr int kPerBank = 4 / sizeof(T);
    const int lane = tid % wb::kWarpSize;
    if (tid < count)
        narrow_row(s_tile + tid * columns, columns, (lane >> spread_log2) * kPerBank);
    __syncthreads();
    copy_out(slice, s_tile);
}
// #endregion v5-kernel

// #region v5-launch
template <class T>
static void launch_v5(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    if (columns > kNarrow<T>) return launch_v4(x, y, rows, columns, s);
    // Rows of an odd number of 4-byte words begin in all 32 banks; of twice an odd
    // number, in 16 of them, so that rows 16 apart meet; and so on.
    int spread_log2 = 5;
    for (int64_t words = columns * sizeof(T) / 4; words > 0 && words % 2 == 0;
         words /= 2)
        spread_log2 = spread_log2 > 0 ? spread_log2 - 1 : 0;
    const size_t shared = static_cast<size_t>(kTileRows * columns) * sizeof(T) + 16;
    softmax_v5_kernel<<<count_blocks(rows, kTileRows), kTileRows, shared, s>>>(
        x, y, rows, static_cast<int>(columns), spread_log2);
    CUDA_CHECK_LAUNCH();
}
// #endregion v5-launch

static void softmax_v5(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v5(x, y, rows, columns, s);
}
static void softmax_bf16_v5(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v5(x, y, rows, columns, s);
}
WB_RUNG(softmax, softmax_v5, "narrow rows as tiles");
WB_RUNG(softmax_bf16, softmax_bf16_v5, "narrow rows as tiles");
