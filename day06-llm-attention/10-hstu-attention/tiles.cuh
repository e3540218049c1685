/// tiles.cuh: v2: rows and keys meet in shared memory, as floats. Given: the second
/// stage needs it for float, and for the backward pass.
#pragma once

#include <wb/head_dim.h>
#include <wb/launch_kernel.h>

#include "pieces.cuh"

/// 8 by 16 threads. A thread has the rows ty, ty + 8, ... of a tile of products, and
/// the columns tx, tx + 16, ...
inline constexpr int kTileThreads = 128;
inline constexpr int kAcross = 16;
inline constexpr int kDown = kTileThreads / kAcross;

// #region v2-tile
/// R rows of D numbers in shared memory. A row has one number more than it needs, so
/// that 16 threads with a row each find the same column in 16 banks.
template <int R, int D>
struct FloatTile {
    float numbers[R][D + 1];

    /// Copies the rows `first` to first + R - 1 of one head; zeros where there are
    /// none. A product with what is not a number is not a number, even if its weight is
    /// 0.
    template <class T>
    __device__ void load(const HstuCall<T>& call,
                         const T* rows,
                         const RowTile& tile,
                         int first,
                         int head) {
        for (int e = static_cast<int>(threadIdx.x); e < R * D; e += kTileThreads) {
            const int row = first + e / D;
            float number = 0.0f;
            if (row < tile.length)
                number = wb::to_float(head_of(call, rows, tile, row, head)[e % D]);
            numbers[e / D][e % D] = number;
        }
    }
};

/// r_s = a b^T: each number is a product of two rows.
template <int R, int D>
__device__ __forceinline__ void multiply_rows(float (&r_s)[R / kDown][R / kAcross],
                                              const FloatTile<R, D>& a,
                                              const FloatTile<R, D>& b) {
    const int ty = static_cast<int>(threadIdx.x) / kAcross;
    const int tx = static_cast<int>(threadIdx.x) % kAcross;
#pragma unroll
    for (auto& line : r_s)
        for (float& number : line)
            number = 0.0f;
    for (int d = 0; d < D; ++d) {
#pragma unroll
        for (int i = 0; i < R / kDown; ++i)
#pragma unroll
            for (int j = 0; j < R / kAcross; ++j)
                r_s[i][j] +=
                    a.numbers[ty + i * kDown][d] * b.numbers[tx + j * kAcross][d];
    }
}

/// r_o += weights b: rows of b, added up.
template <int R, int D>
__device__ __forceinline__ void add_rows(float (&r_o)[R / kDown][D / kAcross],
                                         const float (&weights)[R][R + 1],
                                         const FloatTile<R, D>& b) {
    const int ty = static_cast<int>(threadIdx.x) / kAcross;
    const int tx = static_cast<int>(threadIdx.x) % kAcross;
    for (int n = 0; n < R; ++n) {
#pragma unroll
        for (int i = 0; i < R / kDown; ++i) {
            const float weight = weights[ty + i * kDown][n];
#pragma unroll
            for (int c = 0; c < D / kAcross; ++c)
                r_o[i][c] += weight * b.numbers[n][tx + c * kAcross];
        }
    }
}

/// Writes a thread's part of R rows of one head, times a factor.
template <int R, int D, class T>
__device__ __forceinline__ void store_tile(const HstuCall<T>& call,
                                           T* rows,
                                           const RowTile& tile,
                                           int head,
                                           const float (&r_o)[R / kDown][D / kAcross],
                                           float factor) {
    const int ty = static_cast<int>(threadIdx.x) / kAcross;
    const int tx = static_cast<int>(threadIdx.x) % kAcross;
#pragma unroll
    for (int i = 0; i < R / kDown; ++i) {
        const int row = tile.first + ty + i * kDown;
        if (row >= tile.length) continue;
        T* const to = head_of(call, rows, tile, row, head);
#pragma unroll
        for (int c = 0; c < D / kAcross; ++c)
            to[tx + c * kAcross] = wb::to_element<T>(r_o[i][c] * factor);
    }
}
// #endregion v2-tile

// #region v2-forward
/// Rows of a tile, and keys: 32.
inline constexpr int kForwardRows = 32;

/// Shared memory of a block. k and v are never needed at once.
template <int D>
struct SharedForward {
    FloatTile<kForwardRows, D> q;
    FloatTile<kForwardRows, D> kv;
    float weights[kForwardRows][kForwardRows + 1];
    RowMask masks[kForwardRows];
};

/// hstu_attention_v2: 32 rows a block, over tiles of 32 keys. Those that no row of the
/// block sees are left out.
///
/// Launch   grid tile_grid<kForwardRows>(), block kTileThreads,
///          sizeof(SharedForward<D>)
template <class T, int D>
__global__ void __launch_bounds__(kTileThreads)
    hstu_attention_v2_kernel(const HstuCall<T> call) {
    constexpr int R = kForwardRows;
    extern __shared__ float4 s_memory[];
    auto& s = *reinterpret_cast<SharedForward<D>*>(s_memory);
    const int tid = static_cast<int>(threadIdx.x);
    const int head = static_cast<int>(blockIdx.y);
    const RowTile tile = find_tile<R>(call.cu_seqlens.device,
                                      static_cast<int>(call.batch),
                                      static_cast<int>(blockIdx.x));
    if (tile.first >= tile.length) return;
    const HeadBias bias(call.bias, tile, head);
    if (tid < R) s.masks[tid] = row_mask(call.mask, tile, tile.first + tid);
    s.q.load(call, call.q, tile, tile.first, head);
    float r_o[R / kDown][D / kAcross] = {};
    for (int key = 0; key < tile.length; key += R) {
        // Everybody is done with the tile before, too.
        const bool wanted = tid < R && s.masks[tid].sees_some(key, key + R);
        if (!__syncthreads_or(wanted)) continue;
        s.kv.load(call, call.k, tile, key, head);
        __syncthreads();
        float r_s[R / kDown][R / kAcross];
        multiply_rows(r_s, s.q, s.kv);
        for (int i = 0; i < R / kDown; ++i) {
            const int r = tid / kAcross + i * kDown;
            for (int j = 0; j < R / kAcross; ++j) {
                const int n = tid % kAcross + j * kAcross;
                float weight = 0.0f;
                if (s.masks[r].sees(key + n))
                    weight =
                        silu(call.alpha * r_s[i][j] + bias(tile.first + r, key + n));
                s.weights[r][n] = weight;
            }
        }
        __syncthreads();
        s.kv.load(call, call.v, tile, key, head);
        __syncthreads();
        add_rows(r_o, s.weights, s.kv);
    }
    store_tile<R, D>(
        call, call.o, tile, head, r_o, 1.0f / static_cast<float>(call.scaling_length));
}

template <class T>
void hstu_attention_v2(const HstuCall<T>& call, cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128, 256>(call.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        constexpr size_t kBytes = sizeof(SharedForward<D>);
        const auto kernel = hstu_attention_v2_kernel<T, D>;
        CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(kBytes)));
        kernel<<<tile_grid<kForwardRows>(call), kTileThreads, kBytes, stream>>>(call);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v2-forward

// #region v2-backward
/// Rows of a tile of the backward pass, of its own and of others.
template <int D>
inline constexpr int kBackwardRows = D > 128 ? 16 : 32;

/// Shared memory of a block: q and d_o of rows, or k and v of keys, of its own tile and
/// of the other one.
template <int D>
struct SharedBackward {
    static constexpr int R = kBackwardRows<D>;
    FloatTile<R, D> own_scores;
    FloatTile<R, D> own_values;
    FloatTile<R, D> other_scores;
    FloatTile<R, D> other_values;
    float ds[R][R + 1];
    float weights[R][R + 1];
    RowMask masks[R];  // of rows
};

/// hstu_backward_v2: a tile of rows a block, for dq and the bias, over tiles of keys;
/// or, of_keys, a tile of keys, for dk and dv, over tiles of rows. Scores are computed
/// in both: the price of sums that no two blocks add to.
///
/// Launch   grid tile_grid<kBackwardRows<D>>(), block kTileThreads,
///          sizeof(SharedBackward<D>)
template <class T, int D>
__global__ void __launch_bounds__(kTileThreads)
    hstu_backward_v2_kernel(const HstuCall<T> call,
                            const HstuGradients<T> out,
                            bool of_keys) {
    constexpr int R = kBackwardRows<D>;
    extern __shared__ float4 s_memory[];
    auto& s = *reinterpret_cast<SharedBackward<D>*>(s_memory);
    const int tid = static_cast<int>(threadIdx.x);
    const int head = static_cast<int>(blockIdx.y);
    const RowTile tile = find_tile<R>(call.cu_seqlens.device,
                                      static_cast<int>(call.batch),
                                      static_cast<int>(blockIdx.x));
    if (tile.first >= tile.length) return;
    const HeadBias bias(call.bias, tile, head);
    const float inverse = 1.0f / static_cast<float>(call.scaling_length);
    s.own_scores.load(call, of_keys ? call.k : call.q, tile, tile.first, head);
    s.own_values.load(call, of_keys ? call.v : out.d_o, tile, tile.first, head);
    if (!of_keys && tid < R) s.masks[tid] = row_mask(call.mask, tile, tile.first + tid);
    float r_ds[R / kDown][D / kAcross] = {};
    float r_weights[R / kDown][D / kAcross] = {};
    for (int first = 0; first < tile.length; first += R) {
        if (of_keys && tid < R) s.masks[tid] = row_mask(call.mask, tile, first + tid);
        const int keys = of_keys ? tile.first : first;
        const bool wanted = tid < R && s.masks[tid].sees_some(keys, keys + R);
        // Everybody is done with the tile before, too.
        if (!__syncthreads_or(wanted)) continue;
        s.other_scores.load(call, of_keys ? call.q : call.k, tile, first, head);
        s.other_values.load(call, of_keys ? out.d_o : call.v, tile, first, head);
        __syncthreads();
        float r_s[R / kDown][R / kAcross];
        float r_d[R / kDown][R / kAcross];  // of the weights
        multiply_rows(r_s, s.own_scores, s.other_scores);
        multiply_rows(r_d, s.own_values, s.other_values);
        for (int i = 0; i < R / kDown; ++i) {
            const int own = tid / kAcross + i * kDown;
            for (int j = 0; j < R / kAcross; ++j) {
                const int other = tid % kAcross + j * kAcross;
                const int row = of_keys ? first + other : tile.first + own;
                const int key = of_keys ? tile.first + own : first + other;
                float weight = 0.0f;
                float ds = 0.0f;
                if (s.masks[of_keys ? other : own].sees(key)) {
                    const float score = call.alpha * r_s[i][j] + bias(row, key);
                    weight = silu(score);
                    ds = r_d[i][j] * silu_slope(score);
                    if (!of_keys)
                        bias.add(ds * inverse, row, key, out.d_positions, out.d_times);
                }
                s.weights[own][other] = weight;
                s.ds[own][other] = ds;
            }
        }
        __syncthreads();  // all have used the masks, too
        add_rows(r_ds, s.ds, s.other_scores);
        if (of_keys) add_rows(r_weights, s.weights, s.other_values);
    }
    T* const of_scores = of_keys ? out.dk : out.dq;
    store_tile<R, D>(call, of_scores, tile, head, r_ds, call.alpha * inverse);
    if (of_keys) store_tile<R, D>(call, out.dv, tile, head, r_weights, inverse);
}

template <class T>
void hstu_backward_v2(const HstuCall<T>& call,
                      const HstuGradients<T>& gradients,
                      cudaStream_t stream) {
    clear_bias_gradients(call, gradients, stream);
    wb::with_head_dim<32, 64, 128, 256>(call.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        constexpr size_t kBytes = sizeof(SharedBackward<D>);
        const auto kernel = hstu_backward_v2_kernel<T, D>;
        CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(kBytes)));
        const dim3 grid = tile_grid<kBackwardRows<D>>(call);
        for (const bool of_keys : {false, true}) {
            kernel<<<grid, kTileThreads, kBytes, stream>>>(call, gradients, of_keys);
            CUDA_CHECK_LAUNCH();
        }
    });
}
// #endregion v2-backward
