// fused_epilogue.cu: what is done to sums is done while they are in registers.
// #solution
//
// v1 and v2 are in 01_unfused.cuh; v3, which you write first, is in this file; v4 is in
// fused_epilogue_fast.cu, the second stage; v5 is in 05_hopper.cuh.
//
// <Ladder of="linear_act" at="4096 x 4096 x 4096, silu">
//       TFLOP/s  idea                                   what limits it
//   v1      222  a kernel for each thing                memory, six times
//   v2      272  one kernel behind the product          memory, twice
//   v3      291  in the registers of the product        the product of chapter 03
//   v4      310  rows of 16 bytes, half a reciprocal    the product of chapter 03
//   v5      737  in chapter 04's kernel: TMA and wgmma  sigmoids: nothing else runs
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="linear_act_fp8" at="4096 x 4096 x 4096, silu">
//       TFLOP/s  idea                                what limits it
//   v2      163  one kernel behind the product       memory, twice
//   v3      289  in the registers of the product     the product of chapter 03
//   v4      308  rows of 8 bytes, half a reciprocal  the product of chapter 03
//   v5      679  in chapter 04's kernel              sigmoids: nothing else runs
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="linear_act_backward" at="4096 x 4096 x 4096, silu">
//       TFLOP/s  idea                             what limits it
//   v2      177  kernels behind the product       memory, twice
//   v3      286  in the registers of the product  the product of chapter 03
//   v4      315  rows of 16 bytes                 the product of chapter 03
//   v5      582  in chapter 04's kernel           slopes: nothing else runs then
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="mlp" at="8192 x 4096 x 16384 x 4096, silu">
//       TFLOP/s  idea                                  what limits it
//   v3      272  all hidden rows, then all outputs     the product of chapter 03
//   v4      264  as many rows as half of L2 holds      the product of chapter 03
//   v5      705  chapter 04's kernel, rounds of tiles  the products, and launches
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "fused_epilogue.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include "layers.h"

// #region v3-activate
/// act(z).
__device__ __forceinline__ float activate(const Gate& gate, float z) {
    if (gate.is_none) return z;
    // TODO(learner): z sigmoid(s), with s = z (a + b z^2). Beyond Gate::kFar s may be
    // infinity times 0, and z may be -infinity times 0, where the result is 0:
    // Gate::near() is for one of them, Gate::not_below() for the other (about 4 lines)
    // #solution
    const float near = Gate::near(z);
    const float s = near * (gate.a + gate.b * near * near);
    const float sigmoid = 1.0f / (1.0f + expf(-s));
    return Gate::not_below(z) * sigmoid;
    // #end
    // #starter return z;
}

/// act'(z).
__device__ __forceinline__ float slope(const Gate& gate, float z) {
    if (gate.is_none) return 1.0f;
    // TODO(learner): the derivative of z sigmoid(s). That of sigmoid is sigmoid (1 -
    // sigmoid), that of s is a + 3 b z^2. Gate::near() makes it 1 for infinity and 0
    // for -infinity (about 5 lines)
    // #solution
    const float near = Gate::near(z);
    const float square = gate.b * near * near;
    const float sigmoid = 1.0f / (1.0f + expf(-near * (gate.a + square)));
    const float s_slope = gate.a + 3.0f * square;
    return sigmoid + near * s_slope * sigmoid * (1.0f - sigmoid);
    // #end
    // #starter return 1.0f;
}
// #endregion v3-activate

// #region v3-layer
/// act(z) + residual of a pair of sums; stores z if it is wanted.
__device__ __forceinline__ Pair layer_pair(const Layer& layer,
                                           const PairPlace& to,
                                           Pair sum) {
    // TODO(learner): add the bias of both columns, if there is one; store z, if it is
    // wanted; activate; add the residual, if there is one. In z and in the residual the
    // pair is at row * ld + col. Nothing is rounded but what is stored (about 17 lines)
    // #solution
    const int64_t place = to.row * layer.ld + to.col;
    if (layer.bias != nullptr) {
        const Pair bias = load_pair(layer.bias + to.col, to.is_whole, layer.pairs);
        sum.left += bias.left;
        sum.right += bias.right;
    }
    if (layer.z != nullptr) store_pair(layer.z + place, sum, to.is_whole, layer.pairs);
    Pair v = {activate(layer.gate, sum.left), activate(layer.gate, sum.right)};
    if (layer.residual != nullptr) {
        const Pair residual =
            load_pair(layer.residual + place, to.is_whole, layer.pairs);
        v.left += residual.left;
        v.right += residual.right;
    }
    return v;
    // #end
    // #starter return sum;
}

/// v3: a layer whose sums never leave the registers of their lanes before they are y.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kSharedBytes<S>
/// Traffic  the product's; y, z and residual are M N * 2 B each
template <class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    linear_act_v3_kernel(const Product p, const Layer layer) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    for_pairs(sums, at, p.M, p.N, [&](const PairPlace& to, Pair sum) {
        const Pair v = layer_pair(layer, to, sum);
        store_pair(layer.y + to.row * layer.ld + to.col, v, to.is_whole, layer.pairs);
    });
}
// #endregion v3-layer

// #region v3-launch
static void linear_act_v3(const LinearInput& in,
                          __nv_bfloat16* y,
                          __nv_bfloat16* z,
                          cudaStream_t stream) {
    using S = ForwardTiles;
    const wb::GemmShape shape = forward_shape(in.shape);
    launch_tiles<S>(linear_act_v3_kernel<S>,
                    shape,
                    stream,
                    Product::of(shape, in.x, in.w, nullptr),
                    Layer::of(in, y, z));
}
// #endregion v3-launch

// #region v3-fp8
/// v3 for an output of 8 bits.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kSharedBytes<S>
/// Traffic  the product's; y is M N B; one atomic operation a warp
template <class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    linear_act_fp8_v3_kernel(const Product p, const Layer layer, const Narrow out) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    [[maybe_unused]] const float scale = *out.scale;
    float largest = 0.0f;  // of this lane
    for_pairs(sums, at, p.M, p.N, [&](const PairPlace& to, Pair sum) {
        // TODO(learner): the pair's values, from layer_pair(); the largest of them and
        // of those before, with larger(); the values times scale, to out.y. If the pair
        // is not whole, does its right value count? (about 7 lines)
        // #solution
        const Pair v = layer_pair(layer, to, sum);
        largest = larger(largest, v.left);
        if (to.is_whole) largest = larger(largest, v.right);
        store_pair(out.y + to.row * layer.ld + to.col,
                   {v.left * scale, v.right * scale},
                   to.is_whole,
                   out.pairs);
        // #end
    });
    raise_amax(out.amax, largest);
}

static void linear_act_fp8_v3(const LinearInput& in,
                              const float* scale,
                              __nv_fp8_e4m3* y,
                              float* amax,
                              cudaStream_t stream) {
    using S = ForwardTiles;
    const wb::GemmShape shape = forward_shape(in.shape);
    CUDA_CHECK(cudaMemsetAsync(amax, 0, sizeof(float), stream));
    launch_tiles<S>(linear_act_fp8_v3_kernel<S>,
                    shape,
                    stream,
                    Product::of(shape, in.x, in.w, nullptr),
                    Layer::of(in, nullptr, nullptr),
                    Narrow::of(in, scale, y, amax));
}
// #endregion v3-fp8

// #region v3-backward
/// dz of a pair of sums, before it is rounded; stores it.
__device__ __forceinline__ Pair gradient_pair(const Gradient& gradient,
                                              const PairPlace& to,
                                              Pair sum) {
    // TODO(learner): the pair's z, at row * ld + col; the slopes there, the products;
    // store them to dz, at the same place, and return them (about 6 lines)
    // #solution
    const int64_t place = to.row * gradient.ld + to.col;
    const Pair z = load_pair(gradient.z + place, to.is_whole, gradient.pairs);
    const Pair dz = {sum.left * slope(gradient.gate, z.left),
                     sum.right * slope(gradient.gate, z.right)};
    store_pair(gradient.dz + place, dz, to.is_whole, gradient.pairs);
    return dz;
    // #end
    // #starter return sum;
}

/// v3 of the backward pass. The columns of dz are added up on the way.
///
/// @param g_parts  [ceil_div(M, WM), N] sums of dz over the rows of a warp; or null
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kSharedBytes<S>
/// Traffic  the product's; z and dz are M N * 2 B each, g_parts M N / 16 B
template <class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    linear_act_backward_v3_kernel(const Product p,
                                  const Gradient gradient,
                                  float* g_parts) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    Pair columns[S::kTilesN] = {};
    for_pairs(sums, at, p.M, p.N, [&](const PairPlace& to, Pair sum) {
        const Pair dz = gradient_pair(gradient, to, sum);
        columns[to.slot].left += dz.left;
        columns[to.slot].right += dz.right;
    });
    if (g_parts != nullptr) store_part(columns, g_parts, at, p.M, p.N);
}

static void linear_act_backward_v3(const LinearGradient& in,
                                   __nv_bfloat16* dz,
                                   float* dbias,
                                   cudaStream_t stream) {
    using S = BackwardTiles;
    const wb::GemmShape shape = backward_shape(in.shape);
    with_parts(in.shape, S::WM, dbias, stream, [&](float* g_parts) {
        launch_tiles<S>(linear_act_backward_v3_kernel<S>,
                        shape,
                        stream,
                        Product::of(shape, in.dy, in.w, nullptr),
                        Gradient::of(in, dz),
                        g_parts);
    });
}
// #endregion v3-backward

// #region v3-mlp
static void mlp_v3(const MlpInput& in, __nv_bfloat16* y, cudaStream_t stream) {
    // TODO(learner): memory for hidden_elements() numbers, from wb::Scratch; then two
    // layers. first_layer() and second_layer() say what goes in. If H is 0 the first
    // layer has no output, and must not be launched (about 4 lines)
    // #solution
    const wb::Scratch<__nv_bfloat16> hidden(hidden_elements(in.M, in.H), stream);
    if (in.H > 0)
        linear_act_v3(first_layer(in, 0, in.M), hidden.data(), nullptr, stream);
    linear_act_v3(second_layer(in, hidden.data(), 0, in.M), y, nullptr, stream);
    // #end
}
// #endregion v3-mlp

// #solution
#define WB_VERSION_ONLY
#include "fused_epilogue_fast.cu"

#include "01_unfused.cuh"
#include "05_hopper.cuh"

WB_RUNG(linear_act, linear_act_v1, "a kernel for each thing");
WB_RUNG(linear_act, linear_act_v2, "one kernel behind the product");
WB_RUNG(linear_act, linear_act_v3, "in the registers of the product");
WB_RUNG(linear_act, linear_act_v4, "rows of 16 bytes, half a reciprocal");
WB_RUNG(linear_act, linear_act_v5, "in chapter 04's kernel: TMA and wgmma");
WB_RUNG(linear_act_fp8, linear_act_fp8_v2, "one kernel behind the product");
WB_RUNG(linear_act_fp8, linear_act_fp8_v3, "in the registers of the product");
WB_RUNG(linear_act_fp8, linear_act_fp8_v4, "rows of 8 bytes, half a reciprocal");
WB_RUNG(linear_act_fp8, linear_act_fp8_v5, "in chapter 04's kernel");
WB_RUNG(linear_act_backward, linear_act_backward_v2, "kernels behind the product");
WB_RUNG(linear_act_backward, linear_act_backward_v3, "in the registers of the product");
WB_RUNG(linear_act_backward, linear_act_backward_v4, "rows of 16 bytes");
WB_RUNG(linear_act_backward, linear_act_backward_v5, "in chapter 04's kernel");
WB_RUNG(mlp, mlp_v3, "all hidden rows, then all outputs");
WB_RUNG(mlp, mlp_v4, "as many rows as half of L2 holds");
WB_RUNG(mlp, mlp_v5, "chapter 04's kernel, rounds of tiles");

// #end
// #region contract
void linear_act(const LinearInput& in,
                __nv_bfloat16* y,
                __nv_bfloat16* z,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs above are written
    if (!Checks("linear_act").has_work(in, y, z)) return;
    // #solution
    linear_act_v5(in, y, z, stream);
    // #end
    // #starter linear_act_v3(in, y, z, stream);
}

void linear_act_fp8(const LinearInput& in,
                    const float* scale,
                    __nv_fp8_e4m3* y,
                    float* amax,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // this one, when the next is written, and so on
    if (!Checks("linear_act_fp8").has_work(in, scale, y, amax)) return;
    // #solution
    linear_act_fp8_v5(in, scale, y, amax, stream);
    // #end
    // #starter linear_act_fp8_v3(in, scale, y, amax, stream);
}

void linear_act_backward(const LinearGradient& in,
                         __nv_bfloat16* dz,
                         float* dbias,
                         cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!Checks("linear_act_backward").has_work(in, dz, dbias)) return;
    // #solution
    linear_act_backward_v5(in, dz, dbias, stream);
    // #end
    // #starter linear_act_backward_v3(in, dz, dbias, stream);
}

void mlp(const MlpInput& in, __nv_bfloat16* y, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!Checks("mlp").has_work(in, y)) return;
    // #solution
    mlp_v5(in, y, stream);
    // #end
    // #starter mlp_v3(in, y, stream);
}
// #endregion contract
