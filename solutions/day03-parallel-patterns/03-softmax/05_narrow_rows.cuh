// 05_narrow_rows.cuh: v5: narrow rows lie side by side, so a tile of them is one long
// row to load and to store; in between, each thread has a row in shared memory.
#pragma once

#include <wb/shared_memory.h>

// #region v5-tile
/// Threads of a block in v5. A tile has a multiple of so many rows: then it has whole
/// vectors, whatever the columns are.
inline constexpr int kTileThreads = 128;

/// The widest rows that v5 takes, of 256 bytes: their tiles have 32 KB.
template <class T>
inline constexpr int kNarrow = 256 / int{sizeof(T)};

/// The rows of a thread, so that a tile has at least 8 KB.
template <class T>
static int rows_a_thread(int64_t columns) {
    const int64_t row_bytes = columns * int64_t{sizeof(T)};
    return row_bytes < 64 ? static_cast<int>(64 / row_bytes) : 1;
}

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
/// softmax_v5: a tile of rows goes to shared memory in whole vectors, and comes back in
/// whole vectors.
///
/// @param tile_rows    rows of a tile
/// @param spread_log2  rows that are 2^spread_log2 apart begin in the same bank
///
/// Launch   grid ceil_div(rows, tile_rows), block kTileThreads, dynamic shared memory
///          for the tile and a vector
/// Traffic  reads each element once, writes it once
template <class T>
__global__ void softmax_v5_kernel(const T* x,  // [rows, columns]
                                  T* y,        // [rows, columns]
                                  int64_t rows,
                                  int columns,
                                  int tile_rows,
                                  int spread_log2) {
    extern __shared__ uint4 s_vectors[];
    const int tid = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * tile_rows;
    const int64_t count = min(rows - first, int64_t{tile_rows});
    const Slice<T> slice(x + first * columns, y + first * columns, count * columns);
    T* const s_tile = reinterpret_cast<T*>(s_vectors) + shift_of(slice.x);
    copy_in(slice, s_tile);
    __syncthreads();
    constexpr int kPerBank = 4 / sizeof(T);
    const int start = (tid % wb::kWarpSize >> spread_log2) * kPerBank;
    for (int row = tid; row < count; row += kTileThreads)
        narrow_row(s_tile + row * columns, columns, start);
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
    const int tile_rows = kTileThreads * rows_a_thread<T>(columns);
    const size_t shared = static_cast<size_t>(tile_rows * columns) * sizeof(T) + 16;
    softmax_v5_kernel<<<count_blocks(rows, tile_rows), kTileThreads, shared, s>>>(
        x, y, rows, static_cast<int>(columns), tile_rows, spread_log2);
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
