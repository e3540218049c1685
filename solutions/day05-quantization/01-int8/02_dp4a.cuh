// 02_dp4a.cuh: v2: words of four bytes in shared memory, four products an instruction.
#pragma once

#include "product.h"
#include "rows.h"

// #region v2-kernel
constexpr int kTileV2 = 64;      ///< rows of x, and of w, of a block
constexpr int kWordsV2 = 16;     ///< of a row in shared memory: 64 bytes
constexpr int kApartV2 = 17;     ///< from a row to the next: no conflicts
constexpr int kThreadsV2 = 256;  ///< each with 4 x 4 sums

/// Brings 64 bytes of 64 rows to shared memory: 16 bytes a thread, zeros past the ends.
__device__ __forceinline__ void load_words(int (*s_rows)[kApartV2],
                                           const int8_t* g_rows,  // [rows, K]
                                           int64_t first,
                                           int64_t rows,
                                           int64_t K,
                                           int64_t k) {
    const int row = threadIdx.x / 4;
    const int byte = threadIdx.x % 4 * 16;
    int4 words = {0, 0, 0, 0};
    if (first + row < rows && k + byte < K)
        words = *reinterpret_cast<const int4*>(g_rows + (first + row) * K + k + byte);
    int* const s_words = &s_rows[row][byte / 4];
    s_words[0] = words.x;
    s_words[1] = words.y;
    s_words[2] = words.z;
    s_words[3] = words.w;
}

/// v2: a block has 64 x 64 elements of y, a thread 4 x 4 of them, 16 apart.
///
/// Launch   a block of kThreadsV2 for each tile of y
/// Traffic  reads 128 B for 64 * 64 * 64 products; a word of shared memory is used in
///          four instructions
__global__ void __launch_bounds__(kThreadsV2)
    int8_matmul_v2_kernel(const Int8Shape shape,
                          const Int8Inputs in,
                          __nv_bfloat16* y,  // [M, N]
                          unsigned blocks_across) {
    __shared__ int s_x[kTileV2][kApartV2];
    __shared__ int s_w[kTileV2][kApartV2];
    const int64_t row = int64_t{blockIdx.x / blocks_across} * kTileV2;
    const int64_t col = int64_t{blockIdx.x % blocks_across} * kTileV2;
    const int down = threadIdx.x / 16;
    const int across = threadIdx.x % 16;
    int sums[4][4] = {};
    for (int64_t k = 0; k < shape.K; k += 4 * kWordsV2) {
        load_words(s_x, in.x, row, shape.M, shape.K, k);
        load_words(s_w, in.w, col, shape.N, shape.K, k);
        __syncthreads();
#pragma unroll
        for (int word = 0; word < kWordsV2; ++word) {
            int x[4];
            int w[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                x[i] = s_x[down + 16 * i][word];
                w[i] = s_w[across + 16 * i][word];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    sums[i][j] = __dp4a(x[i], w[j], sums[i][j]);
        }
        __syncthreads();  // before the next round overwrites them
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int64_t m = row + down + 16 * i;
            const int64_t n = col + across + 16 * j;
            if (m < shape.M && n < shape.N)
                y[m * shape.N + n] = dequantized(in, m, n, sums[i][j]);
        }
    }
}

static void int8_matmul_v2(const Int8Shape& shape,
                           const Int8Inputs& in,
                           __nv_bfloat16* y,
                           cudaStream_t stream) {
    if (shape.K == 0) return bias_alone(shape, in, y, stream);
    const int64_t down = wb::ceil_div(shape.M, int64_t{kTileV2});
    const int64_t across = wb::ceil_div(shape.N, int64_t{kTileV2});
    int8_matmul_v2_kernel<<<wb::grid_size(down * across, 1), kThreadsV2, 0, stream>>>(
        shape, in, y, static_cast<unsigned>(across));
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-kernel
