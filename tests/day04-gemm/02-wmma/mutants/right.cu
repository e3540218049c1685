// The right functions that the .diff files edit.
#include "wmma.h"

#include <wb/check.h>

#include "tiles.h"

constexpr int kWarps = 2;
constexpr int kThreads = kWarps * wb::kWarpSize;

template <class T>
struct Detour {
    alignas(32) T a[kTile * kDepth<T>];
    alignas(32) T b[kDepth<T> * kTile];
    alignas(32) float c[kTile * kTile];
};

template <int kRows, int kColumns, class Fragment, class T>
__device__ inline void load_tile(Fragment& fragment,
                                 T* s_tile,
                                 const T* g_tile,
                                 int64_t ld,
                                 int64_t rows,
                                 int64_t columns,
                                 bool direct) {
    if (direct && rows >= kRows && columns >= kColumns) {
        wmma::load_matrix_sync(fragment, g_tile, static_cast<unsigned>(ld));
    } else {
        Edge::copy_in<kRows, kColumns>(s_tile, g_tile, ld, rows, columns);
        __syncwarp();
        wmma::load_matrix_sync(fragment, s_tile, kColumns);
        __syncwarp();
    }
    Factors::round(fragment);
}

template <class T>
__device__ void multiply_tile(const Problem<T>& p,
                              Detour<T>& s,
                              int64_t row,
                              int64_t col) {
    FragmentC<T> sums;
    wmma::fill_fragment(sums, 0.0f);
    const int64_t rows = p.M - row;
    const int64_t columns = p.N - col;
    for (int64_t k = 0; k < p.K; k += kDepth<T>) {
        FragmentA<T> a;
        FragmentB<T> b;
        const T* g_a = p.A + row * p.lda + k;
        const T* g_b = p.B + k * p.ldb + col;
        load_tile<kTile, kDepth<T>>(a, s.a, g_a, p.lda, rows, p.K - k, p.direct_a);
        load_tile<kDepth<T>, kTile>(b, s.b, g_b, p.ldb, p.K - k, columns, p.direct_b);
        wmma::mma_sync(sums, a, b, sums);
    }
    float* const g_tile = p.C + row * p.ldc + col;
    const auto ldc = static_cast<unsigned>(p.ldc);
    if (p.direct_c && rows >= kTile && columns >= kTile) {
        wmma::store_matrix_sync(g_tile, sums, ldc, wmma::mem_row_major);
    } else {
        wmma::store_matrix_sync(s.c, sums, kTile, wmma::mem_row_major);
        __syncwarp();
        Edge::copy_out(s.c, g_tile, p.ldc, rows, columns);
    }
}

template <class T>
__global__ void product_kernel(const Problem<T> p, int64_t tiles_across) {
    __shared__ Detour<T> s_detours[kWarps];
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t tile = int64_t{blockIdx.x} * kWarps + warp;
    const int64_t row = tile / tiles_across * kTile;
    const int64_t col = tile % tiles_across * kTile;
    if (row >= p.M) return;
    if constexpr (kHasFragments<T>) multiply_tile(p, s_detours[warp], row, col);
}

template <class T>
static void multiply(const Problem<T>& p, cudaStream_t stream) {
    const int64_t across = wb::ceil_div(p.N, int64_t{kTile});
    const int64_t tiles = wb::ceil_div(p.M, int64_t{kTile}) * across;
    product_kernel<<<wb::grid_size(tiles, kWarps), kThreads, 0, stream>>>(p, across);
    CUDA_CHECK_LAUNCH();
}

void wmma_fp16(const wb::GemmShape& shape,
               const __half* A,
               const __half* B,
               float* C,
               cudaStream_t stream) {
    if (!Problem<__half>::has_work("wmma_fp16", shape, A, B, C)) return;
    multiply(Problem<__half>::of(shape, A, B, C), stream);
}

void wmma_bf16(const wb::GemmShape& shape,
               const __nv_bfloat16* A,
               const __nv_bfloat16* B,
               float* C,
               cudaStream_t stream) {
    if (!Problem<__nv_bfloat16>::has_work("wmma_bf16", shape, A, B, C)) return;
    multiply(Problem<__nv_bfloat16>::of(shape, A, B, C), stream);
}

void wmma_tf32(const wb::GemmShape& shape,
               const float* A,
               const float* B,
               float* C,
               cudaStream_t stream) {
    if (!Problem<float>::has_work("wmma_tf32", shape, A, B, C)) return;
    multiply(Problem<float>::of(shape, A, B, C), stream);
}
