/// layers.h: given with this exercise: what an epilogue is told. There is nothing to
/// write here.
#pragma once

#include "pairs.h"

// #region layer
/// What becomes of the sums of a layer.
struct Layer {
    Gate gate;
    const __nv_bfloat16* bias;      ///< [N], or null
    const __nv_bfloat16* residual;  ///< [M, N], rows ld apart, or null
    __nv_bfloat16* y;               ///< [M, N], rows ld apart
    __nv_bfloat16* z;               ///< [M, N], rows ld apart, or null
    int64_t ld;
    bool pairs;    ///< all of these begin at multiples of two elements, rows as well
    bool vectors;  ///< of eight
    // #endregion layer

    static Layer of(const LinearInput& in, __nv_bfloat16* y, __nv_bfloat16* z) {
        const int64_t ld = in.shape.ldy;
        return {Gate::of(in.activation),
                in.bias,
                in.residual,
                y,
                z,
                ld,
                begin_at<2>(in, y, z),
                begin_at<8>(in, y, z)};
    }

 private:
    template <int kElements>
    static bool begin_at(const LinearInput& in,
                         const __nv_bfloat16* y,
                         const __nv_bfloat16* z) {
        const int64_t ld = in.shape.ldy;
        return rows_begin_at<kElements>(in.bias, 0) &&
               rows_begin_at<kElements>(in.residual, ld) &&
               rows_begin_at<kElements>(y, ld) && rows_begin_at<kElements>(z, ld);
    }
};

// #region narrow
/// Where sums go that are stored in 8 bits; y and z of the layer are null then.
struct Narrow {
    const float* scale;  ///< [1]
    __nv_fp8_e4m3* y;    ///< [M, N], rows ld apart
    float* amax;         ///< [1], 0 before the launch
    bool pairs;          ///< y begins at multiples of two elements, rows as well
    bool vectors;        ///< of eight
    // #endregion narrow

    static Narrow of(const LinearInput& in,
                     const float* scale,
                     __nv_fp8_e4m3* y,
                     float* amax) {
        const int64_t ld = in.shape.ldy;
        return {scale, y, amax, rows_begin_at<2>(y, ld), rows_begin_at<8>(y, ld)};
    }
};

// #region gradient
/// What becomes of the sums of a backward pass.
struct Gradient {
    Gate gate;
    const __nv_bfloat16* z;  ///< [M, K], rows ld apart
    __nv_bfloat16* dz;       ///< [M, K], rows ld apart
    int64_t ld;
    bool pairs;    ///< both begin at multiples of two elements, rows as well
    bool vectors;  ///< of eight
    // #endregion gradient

    static Gradient of(const LinearGradient& in, __nv_bfloat16* dz) {
        const int64_t ld = in.shape.ldx;
        return {Gate::of(in.activation),
                in.z,
                dz,
                ld,
                rows_begin_at<2>(in.z, ld) && rows_begin_at<2>(dz, ld),
                rows_begin_at<8>(in.z, ld) && rows_begin_at<8>(dz, ld)};
    }
};

// #region mlp-layers
/// Elements of memory for hidden rows: one at least, as wb::Scratch wants it.
inline int64_t hidden_elements(int64_t rows, int64_t H) {
    return rows * H > 0 ? rows * H : 1;
}

/// The first layer of rows `first` to `first + rows - 1`. Its output is [rows, H].
inline LinearInput first_layer(const MlpInput& in, int64_t first, int64_t rows) {
    return {{rows, in.H, in.K, in.K, in.K, in.H},
            in.activation,
            in.x + first * in.K,
            in.w1,
            in.bias1,
            nullptr};
}

/// The second one.
/// @param g_hidden  [rows, H], its input
inline LinearInput second_layer(const MlpInput& in,
                                const __nv_bfloat16* g_hidden,
                                int64_t first,
                                int64_t rows) {
    const auto* residual = in.residual;
    return {{rows, in.N, in.H, in.H, in.H, in.N},
            Activation::none,
            g_hidden,
            in.w2,
            in.bias2,
            residual == nullptr ? nullptr : residual + first * in.N};
}
// #endregion mlp-layers
