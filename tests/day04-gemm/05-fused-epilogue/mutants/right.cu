// The right functions that the .diff files edit.
#include "fused_epilogue.h"

#include <wb/check.h>

#include <algorithm>

#include "layers.h"

__device__ inline float sigmoid(float s) {
    return 1.0f / (1.0f + expf(-s));
}

__device__ inline float clamped(float z) {
    return z < -64.0f ? -64.0f : z > 64.0f ? 64.0f : z;
}

__device__ inline float activate(const Gate& gate, float z) {
    if (gate.is_none) return z;
    const float near = clamped(z);
    const float s = near * (gate.a + gate.b * near * near);
    return (z < -64.0f ? -64.0f : z) * sigmoid(s);
}

__device__ inline float slope(const Gate& gate, float z) {
    if (gate.is_none) return 1.0f;
    const float near = clamped(z);
    const float by = sigmoid(near * (gate.a + gate.b * near * near));
    return by + near * (gate.a + 3.0f * gate.b * near * near) * by * (1.0f - by);
}

__device__ inline Pair values_of(const Layer& layer, const PairPlace& to, Pair sum) {
    const int64_t place = to.row * layer.ld + to.col;
    Pair z = sum;
    if (layer.bias != nullptr) {
        const Pair bias = load_pair(layer.bias + to.col, to.is_whole, layer.pairs);
        z.left += bias.left;
        z.right += bias.right;
    }
    if (layer.z != nullptr) store_pair(layer.z + place, z, to.is_whole, layer.pairs);
    Pair v = {activate(layer.gate, z.left), activate(layer.gate, z.right)};
    if (layer.residual != nullptr) {
        const Pair more = load_pair(layer.residual + place, to.is_whole, layer.pairs);
        v.left += more.left;
        v.right += more.right;
    }
    return v;
}

template <class S>
__global__ void layer_kernel(const Product p, const Layer layer) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    for_pairs(sums, at, p.M, p.N, [&](const PairPlace& to, Pair sum) {
        const Pair v = values_of(layer, to, sum);
        const int64_t place = to.row * layer.ld + to.col;
        store_pair(layer.y + place, v, to.is_whole, layer.pairs);
    });
}

template <class S>
__global__ void narrow_kernel(const Product p, const Layer layer, const Narrow out) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    const float scale = *out.scale;
    float largest = 0.0f;
    for_pairs(sums, at, p.M, p.N, [&](const PairPlace& to, Pair sum) {
        const Pair v = values_of(layer, to, sum);
        largest = larger(largest, v.left);
        if (to.is_whole) largest = larger(largest, v.right);
        const Pair scaled = {v.left * scale, v.right * scale};
        const int64_t place = to.row * layer.ld + to.col;
        store_pair(out.y + place, scaled, to.is_whole, out.pairs);
    });
    raise_amax(out.amax, largest);
}

template <class S>
__global__ void gradient_kernel(const Product p, const Gradient g, float* g_parts) {
    extern __shared__ uint4 s_bytes[];
    const Place<S> at = place_of_block<S>(p);
    WarpSums<S> sums;
    multiply(sums, reinterpret_cast<Stage<S>*>(s_bytes), p, at);
    Pair columns[S::kTilesN] = {};
    for_pairs(sums, at, p.M, p.N, [&](const PairPlace& to, Pair sum) {
        const int64_t place = to.row * g.ld + to.col;
        const Pair z = load_pair(g.z + place, to.is_whole, g.pairs);
        Pair dz = {sum.left * slope(g.gate, z.left),
                   sum.right * slope(g.gate, z.right)};
        store_pair(g.dz + place, dz, to.is_whole, g.pairs);
        columns[to.slot].left += dz.left;
        columns[to.slot].right += dz.right;
    });
    if (g_parts != nullptr) store_part(columns, g_parts, at, p.M, p.N);
}

static void layer(const LinearInput& in, Layer told, cudaStream_t stream) {
    using S = ForwardTiles;
    const wb::GemmShape shape = forward_shape(in.shape);
    const Product p = Product::of(shape, in.x, in.w, nullptr);
    launch_tiles<S>(layer_kernel<S>, shape, stream, p, told);
}

void linear_act(const LinearInput& in,
                __nv_bfloat16* y,
                __nv_bfloat16* z,
                cudaStream_t stream) {
    if (!Checks("linear_act").has_work(in, y, z)) return;
    layer(in, Layer::of(in, y, z), stream);
}

void linear_act_fp8(const LinearInput& in,
                    const float* scale,
                    __nv_fp8_e4m3* y,
                    float* amax,
                    cudaStream_t stream) {
    using S = ForwardTiles;
    if (!Checks("linear_act_fp8").has_work(in, scale, y, amax)) return;
    CUDA_CHECK(cudaMemsetAsync(amax, 0, sizeof(float), stream));
    const wb::GemmShape shape = forward_shape(in.shape);
    const Product p = Product::of(shape, in.x, in.w, nullptr);
    const Layer told = Layer::of(in, nullptr, nullptr);
    const Narrow out = Narrow::of(in, scale, y, amax);
    launch_tiles<S>(narrow_kernel<S>, shape, stream, p, told, out);
}

void linear_act_backward(const LinearGradient& in,
                         __nv_bfloat16* dz,
                         float* dbias,
                         cudaStream_t stream) {
    using S = BackwardTiles;
    if (!Checks("linear_act_backward").has_work(in, dz, dbias)) return;
    const wb::GemmShape shape = backward_shape(in.shape);
    const Product p = Product::of(shape, in.dy, in.w, nullptr);
    with_parts(in.shape, S::WM, dbias, stream, [&](float* g_parts) {
        const Gradient told = Gradient::of(in, dz);
        launch_tiles<S>(gradient_kernel<S>, shape, stream, p, told, g_parts);
    });
}

void mlp(const MlpInput& in, __nv_bfloat16* y, cudaStream_t stream) {
    if (!Checks("mlp").has_work(in, y)) return;
    const int64_t at_a_time = std::min(in.M, int64_t{128});
    const int64_t count = std::max(at_a_time * in.H, int64_t{1});
    const wb::Scratch<__nv_bfloat16> hidden(count, stream);
    for (int64_t first = 0; first < in.M; first += at_a_time) {
        const int64_t rows = std::min(at_a_time, in.M - first);
        const LinearInput one = first_layer(in, first, rows);
        const LinearInput two = second_layer(in, hidden.data(), first, rows);
        if (in.H > 0) layer(one, Layer::of(one, hidden.data(), nullptr), stream);
        layer(two, Layer::of(two, y + first * in.N, nullptr), stream);
    }
}
