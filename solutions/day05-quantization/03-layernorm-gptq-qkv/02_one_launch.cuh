// 02_one_launch.cuh: v2: a LayerNorm, then one launch for the three products, on tensor
// cores.
#pragma once

#include "tiles.cuh"

// #region v2-norm
constexpr int kThreadsV2 = 256;

/// v2's LayerNorm: its rows have their columns in the order of the packed rows of W.
///
/// Launch   grid M, block kThreadsV2
/// Traffic  reads x twice, the second time from a cache; writes h
__global__ void __launch_bounds__(kThreadsV2)
    qkv_norm_v2_kernel(const QkvProblem p,
                       const int32_t* order,  // [ld], or null: column k is k
                       __half* h,             // [M, ld]
                       int64_t ld) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    const int64_t m = blockIdx.x;
    const __half* const x = p.rows + m * p.hidden;
    const wb::Moments mine = merge_lanes(moments_of(
        reinterpret_cast<const uint4*>(x), threadIdx.x, kThreadsV2, p.hidden / 8));
    const wb::Moments row = wb::merge_warps(mine, s_warps, p.hidden);
    const float rstd = wb::rstd_of(row, p.eps);
    for (int64_t i = threadIdx.x; i < ld; i += kThreadsV2) {
        const int64_t k = order != nullptr ? order[i] : i;
        float value = 0.0f;
        if (k >= 0) {
            value = (__half2float(x[k]) - row.mean) * rstd;
            if (p.weight != nullptr) value *= __half2float(p.weight[k]);
            if (p.bias != nullptr) value += __half2float(p.bias[k]);
        }
        h[m * ld + i] = __float2half(value);
    }
}

/// Rows of x, normalised, for the packed W. They live as long as this.
class NormalisedRows {
 public:
    NormalisedRows(const QkvShape& s,
                   const QkvNorm& norm,
                   const GptqTensors& t,
                   const uint4* packed,
                   const __half* x,
                   cudaStream_t stream)
        : w_(Packed::of(s.weights(), t.g_idx != nullptr, packed)),
          ld_(t.g_idx != nullptr ? int64_t{w_.tiles_down} * kTileRows : s.hidden),
          h_(s.rows() * ld_, stream) {
        p_ = {{w_, h_.data(), s.rows(), 3 * s.hidden, ld_},
              x,
              norm.weight,
              norm.bias,
              s.hidden,
              norm.eps};
        const unsigned blocks = wb::grid_size(s.rows(), 1);
        qkv_norm_v2_kernel<<<blocks, kThreadsV2, 0, stream>>>(
            p_, w_.rows, h_.data(), ld_);
        CUDA_CHECK_LAUNCH();
    }

    const QkvProblem& problem() const { return p_; }

 private:
    Packed w_;
    int64_t ld_;
    wb::Scratch<__half> h_;
    QkvProblem p_ = {};
};
// #endregion v2-norm

// #region v2-kernel
/// v2: the product of normalised rows, for all 3 hidden columns.
///
/// Launch   as v3
/// Traffic  reads W once for BM rows of h; h once for BN columns of W, from L2
///
/// @tparam T  __half, if there is one part, or float
/// @param to  [parts, 3, M, hidden]
template <class S, class T>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    qkv_v2_kernel(const QkvProblem p, T* to, unsigned blocks_down) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at(blockIdx.x % blocks_down,
                      blockIdx.x / blocks_down,
                      static_cast<int>(blockIdx.z),
                      static_cast<int>(gridDim.z),
                      p.product);
    auto* const s_ring = reinterpret_cast<Stage<S>*>(s_bytes) + at.warp_k * S::kStages;
    const int of_group = at.warp_k * S::KT;  // its first tile of each round
#pragma unroll
    for (int s = 0; s < S::kStages - 1; ++s) {
        const int tile = at.begin + s * S::kTilesK;
        if (tile < at.end) copy_stage(s_ring[s], p.product, at, tile + of_group);
        wb::ptx::cp_async_commit();
    }
    clear_missing_rows(s_ring, at);  // while the first stages are on their way
    Sums<S> sums;
    clear(sums);
    int used = 0;
    int free = S::kStages - 1;
    for (int tile = at.begin; tile < at.end; tile += S::kTilesK) {
        wb::ptx::cp_async_wait<S::kStages - 2>();
        meet<S>();
        const int ahead = tile + (S::kStages - 1) * S::kTilesK;
        if (ahead < at.end) copy_stage(s_ring[free], p.product, at, ahead + of_group);
        wb::ptx::cp_async_commit();
        multiply_tiles(sums, s_ring[used], at, [&](int row, int chunk) {
            return s_ring[used].x[row][Stage<S>::place(row, chunk)];
        });
        free = used;
        used = used + 1 == S::kStages ? 0 : used + 1;
    }
    if (S::WK > 1) __syncthreads();  // the ring becomes sums
    const int64_t of_part = p.product.M * p.product.N;
    store_sums_to(sums,
                  reinterpret_cast<float4*>(s_bytes),
                  ToQkv<T>{to + blockIdx.z * of_part, p.product.M, p.hidden},
                  p.product,
                  at);
}
// #endregion v2-kernel

// #region v2-launch
/// For launch_qkv().
struct HalfFused {
    template <class S>
    using StageOf = Stage<S>;
    template <class S, class T>
    static auto kernel() {
        return qkv_v2_kernel<S, T>;
    }
};

static void layernorm_gptq_qkv_v2(const QkvShape& shape,
                                  const QkvNorm& norm,
                                  const GptqTensors& tensors,
                                  const uint4* packed,
                                  const __half* input,
                                  __half* qkv,
                                  cudaStream_t stream) {
    const NormalisedRows rows(shape, norm, tensors, packed, input, stream);
    if (shape.rows() <= 8)
        launch_qkv<HalfFused, Sizes<1, 1, 1, 1, 8, 2, 3, 3>, true>(
            rows.problem(), qkv, stream);
    else
        launch_qkv<HalfFused, Sizes<8, 1, 1, 2, 2, 2, 3, 2>, false>(
            rows.problem(), qkv, stream);
}
// #endregion v2-launch
