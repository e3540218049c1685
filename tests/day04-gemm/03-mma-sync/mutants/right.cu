// The right functions that the .diff files edit.
#include "mma_sync.h"

#include <wb/check.h>
#include <wb/ptx/ldmatrix.h>
#include <wb/scratch.h>

#include "block_tiles.h"
#include "tiles.h"

template <int kChunks>
struct Rows {
    static constexpr int kRowBytes = kChunks * kChunkBytes;
    static __device__ __forceinline__ int offset(int row, int chunk) {
        const int x = kChunks == 4 ? row / 2 % 4 : row % 8;
        return row * kRowBytes + (chunk ^ x) * kChunkBytes;
    }
};

template <class S>
__device__ inline void multiply_tiles(WarpSums<S>& sums,
                                      const Stage<S>& stage,
                                      const Place<S>& at) {
    const int lane = threadIdx.x % wb::kWarpSize;
    for (int k = 0; k < S::BK; k += kTileK) {
        uint32_t b[S::kTilesN][2];
        for (int j = 0; j < S::kTilesN; j += 2) {
            const int chunk = (at.warp_col + j * kTileN) / kChunk;
            uint32_t both[4];
            wb::ptx::ldmatrix<true>(
                both, stage.b + S::RowsB::offset(k + lane % 16, chunk + lane / 16));
            b[j][0] = both[0];
            b[j][1] = both[1];
            b[j + 1][0] = both[2];
            b[j + 1][1] = both[3];
        }
        for (int i = 0; i < S::kTilesM; ++i) {
            const int row = at.warp_row + i * kTileM;
            uint32_t a[4];
            wb::ptx::ldmatrix(
                a, stage.a + S::RowsA::offset(row + lane % 16, k / kChunk + lane / 16));
            for (int j = 0; j < S::kTilesN; ++j)
                multiply_add<typename S::Element>(sums.at[i][j], a, b[j]);
        }
    }
}

constexpr int kStages = 3;

template <class S, class T>
__global__ void product_kernel(const Problem<T> p,
                               float* g_parts,  // [parts, M, N]
                               int64_t across,
                               int64_t of_part) {
    __shared__ Stage<S> s_stages[kStages];
    const int64_t part = blockIdx.y;
    Place<S> at(blockIdx.x / across, blockIdx.x % across, p.K);
    at.k_begin = part * of_part;
    if (at.k_begin + of_part < p.K) at.k_end = at.k_begin + of_part;
    WarpSums<S> sums;
    clear(sums);
    for (int s = 0; s < kStages - 1; ++s) {
        const int64_t k = at.k_begin + s * S::BK;
        if (k < at.k_end) copy_stage<true>(s_stages[s], p, at, k);
        wb::ptx::cp_async_commit();
    }
    int used = 0;
    int free = kStages - 1;
    for (int64_t k = at.k_begin; k < at.k_end; k += S::BK) {
        wb::ptx::cp_async_wait<kStages - 2>();
        __syncthreads();
        const int64_t ahead = k + (kStages - 1) * S::BK;
        if (ahead < at.k_end) copy_stage<true>(s_stages[free], p, at, ahead);
        wb::ptx::cp_async_commit();
        multiply_tiles(sums, s_stages[used], at);
        free = used;
        used = (used + 1) % kStages;
    }
    float* const g_part = g_parts + part * p.M * p.N;
    store_sums(sums, g_part, p.N, p.M, p.N, p.N % 2 == 0, at);
}

template <class T>
__global__ void add_parts_kernel(const Problem<T> p, const float* g_parts, int parts) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= p.M * p.N) return;
    float sum = 0.0f;
    for (int part = 0; part < parts; ++part)
        sum += g_parts[part * p.M * p.N + i];
    p.C[i / p.N * p.ldc + i % p.N] = sum;
}

template <class T>
static void multiply(const wb::GemmShape& s, const Problem<T>& p, cudaStream_t stream) {
    using S = Sizes<T, 64, 64, 32, 32, Rows>;
    const int64_t of_part = 128;
    const int64_t parts = s.K > 0 ? wb::ceil_div(s.K, of_part) : 1;
    const wb::Scratch<float> g_parts(parts * s.M * s.N, stream);
    const dim3 grid(count_blocks<S>(s), static_cast<unsigned>(parts));
    product_kernel<S><<<grid, S::kThreads, 0, stream>>>(
        p, g_parts.data(), blocks_across<S>(s), of_part);
    CUDA_CHECK_LAUNCH();
    add_parts_kernel<<<wb::grid_size(s.M * s.N, 256), 256, 0, stream>>>(
        p, g_parts.data(), static_cast<int>(parts));
    CUDA_CHECK_LAUNCH();
}

void mma_sync_fp16(const wb::GemmShape& shape,
                   const __half* A,
                   const __half* B,
                   float* C,
                   cudaStream_t stream) {
    if (!Problem<__half>::has_work("mma_sync_fp16", shape, A, B, C)) return;
    multiply(shape, Problem<__half>::of(shape, A, B, C), stream);
}

void mma_sync_bf16(const wb::GemmShape& shape,
                   const __nv_bfloat16* A,
                   const __nv_bfloat16* B,
                   float* C,
                   cudaStream_t stream) {
    if (!Problem<__nv_bfloat16>::has_work("mma_sync_bf16", shape, A, B, C)) return;
    multiply(shape, Problem<__nv_bfloat16>::of(shape, A, B, C), stream);
}
