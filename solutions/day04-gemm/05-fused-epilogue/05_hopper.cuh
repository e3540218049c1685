// 05_hopper.cuh: v5: the same, done to the sums of chapter 04's kernel: TMA, wgmma, a
// persistent block for each multiprocessor.
#pragma once

#include <algorithm>

#include "hopper_tiles.h"
#include "layers.h"

// #region v5-rows
/// Two neighbouring bf16 as they are stored, as floats: the upper half of a float is a
/// bf16.
__device__ __forceinline__ float2 pair_of(uint32_t bits) {
    return {__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u)};
}

/// The two rows that a thread has of a tile of 64, 8 apart, and what is there.
struct TwoRows {
    int64_t place[2];  ///< of their first elements, rows ld apart
    bool exists[2];
    int N;

    __device__ __forceinline__ TwoRows(const hopper::Problem& p, int row, int64_t ld)
        : N(p.N) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            place[i] = (row + 8 * i) * ld;
            exists[i] = row + 8 * i < p.M;
        }
    }
    /// The pair of a row as it is stored; 0 where the matrix has none.
    __device__ __forceinline__ uint32_t fetch(const __nv_bfloat16* from,
                                              int i,
                                              int col) const {
        if (!exists[i] || col >= N) return 0;
        return *reinterpret_cast<const uint32_t*>(from + place[i] + col);
    }
};
// #endregion v5-rows

// #region v5-layer
/// What becomes of a layer's sums.
///
/// @tparam kActivates  it is not none
/// @tparam kMore       there may be a residual, or a z to be stored
template <bool kActivates, bool kMore>
struct LayerEpilogue {
    using Params = Layer;

    const Layer& layer;
    TwoRows rows;

    __device__ __forceinline__ LayerEpilogue(const Layer& layer_,
                                             const hopper::Problem& p,
                                             int row)
        : layer(layer_), rows(p, row, layer_.ld) {}

    struct Ahead {
        uint32_t bias;  // pairs: arrays of a class call its constructor, unoptimised
        uint32_t residual[2];
    };
    __device__ __forceinline__ Ahead fetch(int col) const {
        Ahead ahead = {};
        if (layer.bias != nullptr && col < rows.N)
            ahead.bias = *reinterpret_cast<const uint32_t*>(layer.bias + col);
        if constexpr (kMore) {
            if (layer.residual == nullptr) return ahead;
#pragma unroll
            for (int i = 0; i < 2; ++i)
                ahead.residual[i] = rows.fetch(layer.residual, i, col);
        }
        return ahead;
    }

    /// @param x  columns col and col + 1 of the upper row, then of the lower one
    __device__ __forceinline__ void apply(float (&x)[4],
                                          int col,
                                          const Ahead& ahead) const {
        const float2 bias = pair_of(ahead.bias);
        x[0] += bias.x;
        x[1] += bias.y;
        x[2] += bias.x;
        x[3] += bias.y;
        if constexpr (kMore) {
            if (layer.z != nullptr) store_z(x, col);
        }
        if constexpr (kActivates) {
            activate_two(layer.gate, x[0], x[1]);
            activate_two(layer.gate, x[2], x[3]);
        }
        if constexpr (kMore) {
            if (layer.residual != nullptr) add_residual(x, ahead);
        }
    }
    __device__ __forceinline__ void finish() const {}

 private:
    __device__ __forceinline__ void store_z(const float (&x)[4], int col) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            if (!rows.exists[i] || col >= rows.N) continue;
            *reinterpret_cast<__nv_bfloat162*>(layer.z + rows.place[i] + col) =
                __floats2bfloat162_rn(x[2 * i], x[2 * i + 1]);
        }
    }
    __device__ __forceinline__ void add_residual(float (&x)[4],
                                                 const Ahead& ahead) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const float2 more = pair_of(ahead.residual[i]);
            x[2 * i] += more.x;
            x[2 * i + 1] += more.y;
        }
    }
};
// #endregion v5-layer

// #region v5-launch
/// @tparam kTransposed  as shape.transpose_b
template <bool kTransposed, class Epilogue>
static void launch_hopper(const wb::GemmShape& shape,
                          const __nv_bfloat16* A,
                          const __nv_bfloat16* B,
                          __nv_bfloat16* C,
                          const typename Epilogue::Params& params,
                          cudaStream_t stream) {
    using Factors = hopper::Product<__nv_bfloat16, __nv_bfloat16>;
    hopper::launch<HopperTiles<kTransposed>, Epilogue>(
        Factors::of(shape, A, B, C, stream), params, {});
}

template <bool kActivates, bool kMore>
static void launch_layer(const LinearInput& in,
                         const Layer& layer,
                         cudaStream_t stream) {
    launch_hopper<true, LayerEpilogue<kActivates, kMore>>(
        forward_shape(in.shape), in.x, in.w, layer.y, layer, stream);
}

/// v5, or v4 where arrays do not begin where TMA wants them, and on other GPUs.
static void linear_act_v5(const LinearInput& in,
                          __nv_bfloat16* y,
                          __nv_bfloat16* z,
                          cudaStream_t stream) {
    const Layer layer = Layer::of(in, y, z);
    if (!suits_hopper(in.shape, layer.vectors, in.x, in.w))
        return linear_act_v4(in, y, z, stream);
    const bool has_more = in.residual != nullptr || z != nullptr;
    if (layer.gate.is_none) {
        if (has_more) return launch_layer<false, true>(in, layer, stream);
        return launch_layer<false, false>(in, layer, stream);
    }
    if (has_more) return launch_layer<true, true>(in, layer, stream);
    launch_layer<true, false>(in, layer, stream);
}
// #endregion v5-launch

// #region v5-fp8
/// What becomes of a layer's sums if y has 8 bits.
template <bool kActivates>
struct NarrowEpilogue {
    struct Params {
        Layer layer;
        Narrow out;
    };
    const Params& params;
    LayerEpilogue<kActivates, true> inner;
    float scale;
    float largest = 0.0f;  // of this thread's numbers so far

    __device__ __forceinline__ NarrowEpilogue(const Params& params_,
                                              const hopper::Problem& p,
                                              int row)
        : params(params_), inner(params_.layer, p, row), scale(*params_.out.scale) {}

    using Ahead = typename LayerEpilogue<kActivates, true>::Ahead;
    __device__ __forceinline__ Ahead fetch(int col) const { return inner.fetch(col); }

    __device__ __forceinline__ void apply(float (&x)[4], int col, const Ahead& ahead) {
        inner.apply(x, col, ahead);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            if (inner.rows.exists[e / 2] && col < inner.rows.N)
                largest = larger(largest, x[e]);
            x[e] *= scale;
        }
    }
    __device__ __forceinline__ void finish() const {
        raise_amax(params.out.amax, largest);
    }
};

template <bool kActivates>
static void launch_narrow(const LinearInput& in,
                          const Layer& layer,
                          const Narrow& out,
                          cudaStream_t stream) {
    using Factors = hopper::Product<__nv_bfloat16, __nv_fp8_e4m3>;
    const wb::GemmShape shape = forward_shape(in.shape);
    hopper::launch<NarrowHopperTiles, NarrowEpilogue<kActivates>>(
        Factors::of(shape, in.x, in.w, out.y, stream), {layer, out}, {});
}

/// v5 for an output of 8 bits.
static void linear_act_fp8_v5(const LinearInput& in,
                              const float* scale,
                              __nv_fp8_e4m3* y,
                              float* amax,
                              cudaStream_t stream) {
    const Layer layer = Layer::of(in, nullptr, nullptr);
    const Narrow out = Narrow::of(in, scale, y, amax);
    // The map of y, which nobody uses, has to be one: rows at multiples of 16 bytes.
    const bool suits_y =
        reinterpret_cast<uintptr_t>(y) % 16 == 0 && in.shape.ldy % 16 == 0;
    if (!suits_y || !suits_hopper(in.shape, layer.vectors, in.x, in.w))
        return linear_act_fp8_v4(in, scale, y, amax, stream);
    CUDA_CHECK(cudaMemsetAsync(amax, 0, sizeof(float), stream));
    if (layer.gate.is_none) return launch_narrow<false>(in, layer, out, stream);
    launch_narrow<true>(in, layer, out, stream);
}
// #endregion v5-fp8

// #region v5-backward
/// What becomes of the sums of a backward pass.
struct GradientEpilogue {
    struct Params {
        Gradient gradient;
        float* g_parts;  ///< [ceil_div(M, 16), N] sums over a warp's rows; or null
    };
    const Params& params;
    TwoRows rows;
    int part;

    __device__ __forceinline__ GradientEpilogue(const Params& params_,
                                                const hopper::Problem& p,
                                                int row)
        : params(params_), rows(p, row, params_.gradient.ld), part(row / 16) {}

    struct Ahead {
        uint32_t z[2];
    };
    __device__ __forceinline__ Ahead fetch(int col) const {
        return {{rows.fetch(params.gradient.z, 0, col),
                 rows.fetch(params.gradient.z, 1, col)}};
    }

    __device__ __forceinline__ void apply(float (&x)[4],
                                          int col,
                                          const Ahead& ahead) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const float2 z = pair_of(ahead.z[i]);
            x[2 * i] *= slope_v4(params.gradient.gate, z.x);
            x[2 * i + 1] *= slope_v4(params.gradient.gate, z.y);
            if (rows.exists[i]) continue;
            x[2 * i] = 0.0f;  // and not 0 times infinity
            x[2 * i + 1] = 0.0f;
        }
        if (params.g_parts == nullptr) return;
        const float left = sum_over_rows(x[0] + x[2]);
        const float right = sum_over_rows(x[1] + x[3]);
        if (threadIdx.x % wb::kWarpSize < 4 && rows.exists[0] && col < rows.N)
            *reinterpret_cast<float2*>(params.g_parts + int64_t{part} * rows.N + col) =
                make_float2(left, right);
    }
    __device__ __forceinline__ void finish() const {}
};

static void linear_act_backward_v5(const LinearGradient& in,
                                   __nv_bfloat16* dz,
                                   float* dbias,
                                   cudaStream_t stream) {
    const LinearShape& s = in.shape;
    const Gradient gradient = Gradient::of(in, dz);
    if (!suits_hopper(s, gradient.vectors, in.dy, in.w))
        return linear_act_backward_v4(in, dz, dbias, stream);
    with_parts(s, 16, dbias, stream, [&](float* g_parts) {
        launch_hopper<false, GradientEpilogue>(
            backward_shape(s), in.dy, in.w, dz, {gradient, g_parts}, stream);
    });
}
// #endregion v5-backward

// #region v5-mlp
static void mlp_v5(const MlpInput& in, __nv_bfloat16* y, cudaStream_t stream) {
    const int64_t at_a_time = std::min(rows_at_a_time_v5(in), in.M);
    const wb::Scratch<__nv_bfloat16> hidden(hidden_elements(at_a_time, in.H), stream);
    for (int64_t first = 0; first < in.M; first += at_a_time) {
        const int64_t rows = std::min(at_a_time, in.M - first);
        if (in.H > 0)
            linear_act_v5(first_layer(in, first, rows), hidden.data(), nullptr, stream);
        hidden.note_written(hidden_elements(rows, in.H));
        linear_act_v5(second_layer(in, hidden.data(), first, rows),
                      y + first * in.N,
                      nullptr,
                      stream);
    }
}
// #endregion v5-mlp
