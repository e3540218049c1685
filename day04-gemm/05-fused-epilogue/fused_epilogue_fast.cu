// fused_epilogue_fast.cu: v4: sums cross shared memory, so that lanes have rows of 16
// bytes; two sigmoids share a reciprocal; hidden rows stay in L2.
#include "fused_epilogue.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/rcp.h>

#include <algorithm>

#include "rows.h"

// #region v4-activate
constexpr float kLog2E = 1.4426950408889634f;

/// 1 + exp(-s) for z, with s = z (a + b z^2): at most 2^60, so that the product of two
/// is a float. Where s is NaN, because z is or because it is 0 times infinity, it is
/// 2^60, too: z itself decides then.
__device__ __forceinline__ float one_and_power(const Gate& gate, float z) {
    const float s = z * (gate.a + gate.b * z * z);
    return 1.0f + wb::ptx::exp2_approx(fminf(-s * kLog2E, 60.0f));
}

/// act(z) of two numbers. 1 / (1 + exp(-s)) takes two instructions of the unit for
/// special functions, which does 16 a clock: exp2_approx() and rcp_approx().
__device__ __forceinline__ void activate_two(const Gate& gate, float& z, float& other) {
    // TODO(learner): p = one_and_power() of z, q = that of other; z / p and other / q
    // with a single rcp_approx(). Gate::not_below() keeps -infinity out (about 5 lines)
}

__device__ __forceinline__ void activate_row(const Gate& gate, float (&z)[kRowPart]) {
    if (gate.is_none) return;
#pragma unroll
    for (int e = 0; e < kRowPart; e += 2)
        activate_two(gate, z[e], z[e + 1]);
}

/// act'(z).
__device__ __forceinline__ float slope_v4(const Gate& gate, float z) {
    if (gate.is_none) return 1.0f;
    const float near = Gate::near(z);
    const float square = gate.b * near * near;
    const float s = near * (gate.a + square);
    const float sigmoid = wb::ptx::rcp_approx(1.0f + wb::ptx::exp2_approx(-s * kLog2E));
    const float s_slope = gate.a + 3.0f * square;
    return sigmoid + near * s_slope * sigmoid * (1.0f - sigmoid);
}
// #endregion v4-activate

// #region v4-stage
/// A warp's 32 rows of 32 sums in shared memory: rows of 128 bytes, which go through
/// all banks, in chunks of 16 bytes.
struct Staged {
    static constexpr int kRows = 32;
    static constexpr int kRowBytes = 128;
    static constexpr int kBytes = kRows * kRowBytes;

    /// Where a chunk is, in bytes from the beginning.
    static __device__ __forceinline__ int offset(int row, int chunk) {
        // TODO(learner): chunk ^ x. Half a warp stores pairs of four rows at a time:
        // chunks 2 j and 2 j + 1 of each. A quarter loads chunks 0, 2, 4 and 6 of two
        // rows at a time. Which x has each of four rows? (about 2 lines)
        return row * kRowBytes + chunk * 16;
    }
};

/// Gives each part of a row of sums to apply(row, RowPart): lane l has columns 8 (l %
/// 4) to 8 (l % 4) + 7 of row l / 4, and of each 8th row below it.
///
/// @param s_bytes  of the block; a warp has Staged::kBytes of them
template <class S, class Function>
__device__ __forceinline__ void for_rows(const WarpSums<S>& sums,
                                         char* s_bytes,
                                         const Place<S>& at,
                                         int64_t M,
                                         const Function& apply) {
    static_assert(S::WN * sizeof(float) == Staged::kRowBytes, "a row of a warp");
    static_assert(S::kThreads / wb::kWarpSize * Staged::kBytes <= kSharedBytes<S>,
                  "all warps at once");
    constexpr int kTiles = Staged::kRows / kTileM;  // of 16 rows, at a time
    [[maybe_unused]] const int lane = threadIdx.x % wb::kWarpSize;
    [[maybe_unused]] char* const s_warp =
        s_bytes + threadIdx.x / wb::kWarpSize * Staged::kBytes;
    __syncthreads();  // all warps have used the stages of the product
#pragma unroll
    for (int i = 0; i < S::kTilesM; i += kTiles) {
        // TODO(learner): store the pairs of tiles i to i + kTiles - 1: where pairs are,
        // is in for_pairs() of pairs.h. Then load row lane / 4, its chunks 2 (lane % 4)
        // and the next one, and apply; the same for each 8th row below, if the matrix
        // has it. What must lie between stores and loads, and what before the stores of
        // the next round? All loops are unrolled (about 27 lines)
    }
}
// #endregion v4-stage

// #region v4-layer
/// act(z) + residual of a part of a row; stores z if it is wanted. What you wrote in
/// stage 1, for eight columns; their bias has been loaded before.
__device__ __forceinline__ void layer_row(const Layer& layer,
                                          const Columns& columns,
                                          const RowPart& bias,
                                          int64_t row,
                                          RowPart& v) {
    const int64_t place = row * layer.ld + columns.col;  // in y, z and residual
    for_row_part([&](int e) { v.at[e] += bias.at[e]; });
    if (layer.z != nullptr) store_row(layer.z + place, v, columns.count, layer.vectors);
    activate_row(layer.gate, v.at);
    if (layer.residual == nullptr) return;
    const RowPart residual =
        load_row(layer.residual + place, columns.count, layer.vectors);
    for_row_part([&](int e) { v.at[e] += residual.at[e]; });
}

/// The bias of a lane's columns: loaded once, it serves all rows of a tile.
__device__ __forceinline__ RowPart load_bias(const Layer& layer,
                                             const Columns& columns) {
    if (layer.bias == nullptr) return {};
    return load_row(layer.bias + columns.col, columns.count, layer.vectors);
}

/// v4: sums go to lanes that have eight columns of a row.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kSharedBytes<S>
/// Traffic  as v3, in whole sectors; the sums cross shared memory once
template <class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    linear_act_v4_kernel(const Product p, const Layer layer) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    const Columns columns = Columns::of(at, p.N);
    const RowPart bias = load_bias(layer, columns);
    for_rows(sums,
             reinterpret_cast<char*>(s_bytes),
             at,
             p.M,
             [&](int64_t row, RowPart part) {
                 layer_row(layer, columns, bias, row, part);
                 store_row(layer.y + row * layer.ld + columns.col,
                           part,
                           columns.count,
                           layer.vectors);
             });
}

static void linear_act_v4(const LinearInput& in,
                          __nv_bfloat16* y,
                          __nv_bfloat16* z,
                          cudaStream_t stream) {
    using S = ForwardTiles;
    const wb::GemmShape shape = forward_shape(in.shape);
    launch_tiles<S>(linear_act_v4_kernel<S>,
                    shape,
                    stream,
                    Product::of(shape, in.x, in.w, nullptr),
                    Layer::of(in, y, z));
}
// #endregion v4-layer

// #region v4-fp8
/// v4 for an output of 8 bits.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kSharedBytes<S>
template <class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    linear_act_fp8_v4_kernel(const Product p, const Layer layer, const Narrow out) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    const Columns columns = Columns::of(at, p.N);
    const RowPart bias = load_bias(layer, columns);
    const float scale = *out.scale;
    float largest = 0.0f;
    for_rows(
        sums,
        reinterpret_cast<char*>(s_bytes),
        at,
        p.M,
        [&](int64_t row, RowPart part) {
            layer_row(layer, columns, bias, row, part);
            for_row_part([&](int e) {
                if (e < columns.count) largest = larger(largest, part.at[e]);
                part.at[e] *= scale;
            });
            store_row(
                out.y + row * layer.ld + columns.col, part, columns.count, out.vectors);
        });
    raise_amax(out.amax, largest);
}

static void linear_act_fp8_v4(const LinearInput& in,
                              const float* scale,
                              __nv_fp8_e4m3* y,
                              float* amax,
                              cudaStream_t stream) {
    using S = ForwardTiles;
    const wb::GemmShape shape = forward_shape(in.shape);
    CUDA_CHECK(cudaMemsetAsync(amax, 0, sizeof(float), stream));
    launch_tiles<S>(linear_act_fp8_v4_kernel<S>,
                    shape,
                    stream,
                    Product::of(shape, in.x, in.w, nullptr),
                    Layer::of(in, nullptr, nullptr),
                    Narrow::of(in, scale, y, amax));
}
// #endregion v4-fp8

// #region v4-backward
/// v4 of the backward pass.
///
/// @param g_parts  [ceil_div(M, WM), N] sums of dz over the rows of a warp; or null
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kSharedBytes<S>
template <class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    linear_act_backward_v4_kernel(const Product p,
                                  const Gradient gradient,
                                  float* g_parts) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    const Columns columns = Columns::of(at, p.N);
    RowPart of_columns = {};
    for_rows(sums,
             reinterpret_cast<char*>(s_bytes),
             at,
             p.M,
             [&](int64_t row, RowPart part) {
                 const int64_t place = row * gradient.ld + columns.col;
                 const RowPart z =
                     load_row(gradient.z + place, columns.count, gradient.vectors);
                 for_row_part([&](int e) {
                     part.at[e] *= slope_v4(gradient.gate, z.at[e]);
                     of_columns.at[e] += part.at[e];
                 });
                 store_row(gradient.dz + place, part, columns.count, gradient.vectors);
             });
    if (g_parts != nullptr) store_part(of_columns, columns, g_parts, at, p.M, p.N);
}

static void linear_act_backward_v4(const LinearGradient& in,
                                   __nv_bfloat16* dz,
                                   float* dbias,
                                   cudaStream_t stream) {
    using S = BackwardTiles;
    const wb::GemmShape shape = backward_shape(in.shape);
    with_parts(in.shape, S::WM, dbias, stream, [&](float* g_parts) {
        launch_tiles<S>(linear_act_backward_v4_kernel<S>,
                        shape,
                        stream,
                        Product::of(shape, in.dy, in.w, nullptr),
                        Gradient::of(in, dz),
                        g_parts);
    });
}
// #endregion v4-backward

// #region v4-mlp
/// How many rows are hidden at a time: whole tiles, as many as half of the L2 cache
/// holds; the other half is for weights on their way. One row of tiles at least.
static int64_t rows_at_a_time(int64_t H) {
    // TODO(learner): rows of H bf16 in half of the bytes that
    // wb::device_attribute(cudaDevAttrL2CacheSize) tells, rounded down to a multiple of
    // ForwardTiles::BM, but at least that; H may be 0 (about 4 lines)
    return ForwardTiles::BM;
}

/// v4: both layers for some rows, then for the next ones: the second layer finds the
/// hidden rows in the L2 cache, and the next hidden rows take the same memory.
static void mlp_v4(const MlpInput& in, __nv_bfloat16* y, cudaStream_t stream) {
    const int64_t at_a_time = std::min(rows_at_a_time(in.H), in.M);
    const wb::Scratch<__nv_bfloat16> hidden(hidden_elements(at_a_time, in.H), stream);
    // TODO(learner): for each at_a_time rows, the last ones may be fewer: the first
    // layer, unless H is 0, then the second one. Both take rows of their own of x, y
    // and residual (about 8 lines)
}
// #endregion v4-mlp

// #region contract
void linear_act(const LinearInput& in,
                __nv_bfloat16* y,
                __nv_bfloat16* z,
                cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs above are written
    if (!Checks("linear_act").has_work(in, y, z)) return;
    linear_act_v4(in, y, z, stream);
}

void linear_act_fp8(const LinearInput& in,
                    const float* scale,
                    __nv_fp8_e4m3* y,
                    float* amax,
                    cudaStream_t stream) {
    WB_NOT_SOLVED();  // this one, and the next two as well
    if (!Checks("linear_act_fp8").has_work(in, scale, y, amax)) return;
    linear_act_fp8_v4(in, scale, y, amax, stream);
}

void linear_act_backward(const LinearGradient& in,
                         __nv_bfloat16* dz,
                         float* dbias,
                         cudaStream_t stream) {
    WB_NOT_SOLVED();
    if (!Checks("linear_act_backward").has_work(in, dz, dbias)) return;
    linear_act_backward_v4(in, dz, dbias, stream);
}

void mlp(const MlpInput& in, __nv_bfloat16* y, cudaStream_t stream) {
    WB_NOT_SOLVED();
    if (!Checks("mlp").has_work(in, y)) return;
    mlp_v4(in, y, stream);
}
// #endregion contract
