// step.cu: given with this exercise: the launches of a step. There is nothing to write
// here.
#include "step.h"

#include <wb/check.h>
#include <wb/launch.h>

#include "../../day03-parallel-patterns/04-layernorm/layernorm.h"
#include "heads.h"
#include "products.h"
#include "tokens.cuh"

// #region product
/// out = weights in + bias, or gelu of that. A warp a row.
///
/// Launch   a warp for each row, block kThreads
/// Traffic  reads outputs * inputs * 4 B, and the vectors
static __global__ void __launch_bounds__(kThreads)
    product_kernel(const float* weights,  // [outputs, inputs], 16-byte aligned
                   const float* in,       // [inputs]
                   const float* bias,     // [outputs], or null: nothing is added
                   float* out,            // [outputs]
                   int64_t inputs,        // a multiple of 4
                   int64_t outputs,
                   bool is_gelu) {
    const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / wb::kWarpSize;
    if (row >= outputs) return;  // the whole warp
    float value = row_times(weights + row * inputs, in, inputs);
    if (threadIdx.x % wb::kWarpSize != 0) return;
    if (bias != nullptr) value += bias[row];
    out[row] = is_gelu ? gelu(value) : value;
}
// #endregion product

// #region rotate-append
/// q turns in place, k turns on its way into the cache, v goes there as it is.
///
/// Launch   a thread for each pair, block kThreads
static __global__ void __launch_bounds__(kThreads) rotate_append_kernel(Heads h) {
    const int64_t pairs = h.width() / 2;
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= 3 * pairs) return;
    const auto part = static_cast<int>(i / pairs);
    const int64_t head = i % pairs / (h.head_dim / 2), p = i % (h.head_dim / 2);
    const float* const from = h.qkv + part * h.width() + head * h.head_dim;
    const int2 at = h.pair(p);
    put_pair(h, part, head, p, {from[at.x], from[at.y]});
}
// #endregion rotate-append

// #region qkv-append
/// product_kernel and rotate_append_kernel in one: a warp computes the two rows whose
/// results turn together. k and v are not stored anywhere but in the cache.
///
/// Launch   a warp for each pair, block kThreads
static __global__ void __launch_bounds__(kThreads)
    qkv_append_kernel(Heads h,
                      const float* weights,  // [3 width, width]
                      const float* bias,     // [3 width]
                      const float* n) {      // [width]
    const int64_t width = h.width(), pairs = width / 2;
    const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / wb::kWarpSize;
    if (i >= 3 * pairs) return;  // the whole warp
    const auto part = static_cast<int>(i / pairs);
    const int64_t head = i % pairs / (h.head_dim / 2), p = i % (h.head_dim / 2);
    const int2 at = h.pair(p);
    const int64_t first = part * width + head * h.head_dim;
    const float a = row_times(weights + (first + at.x) * width, n, width);
    const float b = row_times(weights + (first + at.y) * width, n, width);
    if (threadIdx.x % wb::kWarpSize == 0)
        put_pair(h, part, head, p, {a + bias[first + at.x], b + bias[first + at.y]});
}
// #endregion qkv-append

// #region attend
inline constexpr int kAttendThreads = 512;
inline constexpr int kAttendWarps = kAttendThreads / wb::kWarpSize;
inline constexpr int kColumns =
    2 * wb::kWarpSize;  // of a head, that a warp has at once

/// mixed = the mean of the cached v, weighted by the softmax of q . k / sqrt(D). A warp
/// a slot: each warp multiplies its share of the keys, and adds up its share of the
/// values. A lane has two neighbouring columns; loads of several slots are on their way
/// at once.
///
/// Launch   a block for each head, block kAttendThreads, a float of dynamic shared
///          memory for each slot
/// Traffic  reads each key and each value that the cache has once
static __global__ void __launch_bounds__(kAttendThreads)
    attend_kernel(Heads h, float* mixed) {  // [width]
    extern __shared__ float s_weights[];
    __shared__ float s_most[kAttendWarps];
    __shared__ float2 s_parts[kAttendWarps][wb::kWarpSize];
    const int64_t head = blockIdx.x;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
    const int64_t seen = int64_t{*h.position} + 1, slots = h.sinks + h.window;
    const auto count = static_cast<int>(seen < slots ? seen : slots);
    const auto columns = static_cast<int>(h.head_dim);
    const float* const q = h.qkv + head * h.head_dim;
    const float scale = 1.0f / sqrtf(static_cast<float>(h.head_dim));
    float largest = -INFINITY;
#pragma unroll 4
    for (int t = warp; t < count; t += kAttendWarps) {
        const float* const k = h.k + h.row(head, t);
        float score = 0.0f;
        for (int c = 2 * lane; c < columns; c += kColumns) {
            const auto a = *reinterpret_cast<const float2*>(q + c);
            const auto b = *reinterpret_cast<const float2*>(k + c);
            score += a.x * b.x + a.y * b.y;
        }
        score = warp_sum(score) * scale;
        if (lane == 0) s_weights[t] = score;
        largest = fmaxf(largest, score);
    }
    if (lane == 0) s_most[warp] = largest;
    __syncthreads();
    for (int i = 0; i < kAttendWarps; ++i)
        largest = fmaxf(largest, s_most[i]);
    float part = 0.0f;
    for (int t = static_cast<int>(threadIdx.x); t < count; t += kAttendThreads) {
        s_weights[t] = expf(s_weights[t] - largest);
        part += s_weights[t];
    }
    const float sum = block_sum(part);  // a barrier, too: all see all weights
    for (int first = 0; first < columns; first += kColumns) {
        const int c = first + 2 * lane;
        float2 mean = {0.0f, 0.0f};
        if (c < columns) {
#pragma unroll 8
            for (int t = warp; t < count; t += kAttendWarps) {
                const auto v =
                    *reinterpret_cast<const float2*>(h.v + h.row(head, t) + c);
                mean.x += s_weights[t] * v.x;
                mean.y += s_weights[t] * v.y;
            }
        }
        s_parts[warp][lane] = mean;
        __syncthreads();
        if (warp == 0 && c < columns) {
            for (int i = 1; i < kAttendWarps; ++i) {
                mean.x += s_parts[i][lane].x;
                mean.y += s_parts[i][lane].y;
            }
            float* const to = mixed + head * h.head_dim + c;
            to[0] = mean.x / sum;
            to[1] = mean.y / sum;
        }
        __syncthreads();
    }
}
// #endregion attend

static unsigned blocks_of(int64_t threads) {
    return wb::grid_size(threads, kThreads);
}

Pair Step::of_layer(const Pair& first, int64_t layer) const {
    const int64_t stride = layer * d_.places.layer_stride;
    return {first.weight + stride, first.bias + stride};
}

Pair Step::norm_pair(int64_t norm) const {
    if (norm == 2 * layers()) return d_.places.norm;
    return of_layer(norm % 2 == 0 ? d_.places.norm1 : d_.places.norm2, norm / 2);
}

float* Step::delta(int64_t sub_layer) const {
    return d_.deltas + sub_layer % 2 * d_.shape.gpt.width;
}

void Step::launched(int64_t numbers) {
    CUDA_CHECK_LAUNCH();
    ++counts_.launches;
    counts_.bytes += 4 * numbers;
}

void Step::keep_trace(int64_t place) {
    if (d_.trace == nullptr) return;
    const int64_t width = d_.shape.gpt.width;
    CUDA_CHECK(cudaMemcpyAsync(d_.trace + place * width,
                               d_.x,
                               static_cast<size_t>(width) * sizeof(float),
                               cudaMemcpyDeviceToDevice,
                               stream_));
}

void Step::product(const float* in,
                   int64_t inputs,
                   const Pair& pair,
                   int64_t outputs,
                   bool is_gelu,
                   float* out) {
    const float* const bias = pair.bias < 0 ? nullptr : weight(pair.bias);
    product_kernel<<<blocks_of(outputs * wb::kWarpSize), kThreads, 0, stream_>>>(
        weight(pair.weight), in, bias, out, inputs, outputs, is_gelu);
    launched(outputs * inputs + inputs + (bias == nullptr ? 1 : 2) * outputs);
}

void Step::embed() {
    const int64_t width = d_.shape.gpt.width;
    embed_kernel<<<blocks_of(width), kThreads, 0, stream_>>>(
        weight(d_.places.embed_in), d_.text, d_.position, d_.x, width);
    launched(2 * width);
    keep_trace(0);
}

void Step::norm(int64_t norm) {
    const int64_t width = d_.shape.gpt.width;
    const Pair pair = norm_pair(norm);
    layer_norm({d_.x,
                weight(pair.weight),
                weight(pair.bias),
                d_.n,
                nullptr,
                nullptr,
                1,
                width,
                static_cast<float>(d_.shape.gpt.eps)},
               stream_);
    launched(4 * width);
}

void Step::qkv(int64_t layer) {
    const int64_t width = d_.shape.gpt.width;
    product(d_.n, width, of_layer(d_.places.qkv, layer), 3 * width, false, d_.qkv);
}

void Step::rotate_append(int64_t layer) {
    const int64_t width = d_.shape.gpt.width;
    rotate_append_kernel<<<blocks_of(3 * width / 2), kThreads, 0, stream_>>>(
        heads_of(d_, layer));
    launched(6 * width + d_.shape.gpt.rotary);
}

void Step::qkv_append(int64_t layer) {
    const int64_t width = d_.shape.gpt.width;
    const Pair pair = of_layer(d_.places.qkv, layer);
    qkv_append_kernel<<<blocks_of(3 * width / 2 * wb::kWarpSize),
                        kThreads,
                        0,
                        stream_>>>(
        heads_of(d_, layer), weight(pair.weight), weight(pair.bias), d_.n);
    launched(3 * width * width + 7 * width + d_.shape.gpt.rotary);
}

void Step::attend(int64_t layer) {
    const DecoderShape& s = d_.shape;
    // In whole pieces of 16 bytes: ptxas may read more of the weights than it uses.
    const auto shared = static_cast<size_t>((s.slots() + 3) / 4 * 16);
    attend_kernel<<<static_cast<unsigned>(s.gpt.heads),
                    kAttendThreads,
                    shared,
                    stream_>>>(heads_of(d_, layer), d_.mixed);
    launched(2 * s.slots() * s.gpt.width + 2 * s.gpt.width);
}

void Step::out(int64_t layer) {
    const int64_t width = d_.shape.gpt.width;
    product(d_.mixed,
            width,
            of_layer(d_.places.out, layer),
            width,
            false,
            delta(2 * layer));
}

void Step::up(int64_t layer) {
    const wb::model::GptShape& gpt = d_.shape.gpt;
    const Pair pair = of_layer(d_.places.up, layer);
    product(d_.n, gpt.width, pair, gpt.hidden, true, d_.hidden);
}

void Step::down(int64_t layer) {
    const wb::model::GptShape& gpt = d_.shape.gpt;
    const Pair pair = of_layer(d_.places.down, layer);
    product(d_.hidden, gpt.hidden, pair, gpt.width, false, delta(2 * layer + 1));
}

void Step::add(int64_t sub_layer) {
    const int64_t width = d_.shape.gpt.width;
    add_kernel<<<blocks_of(width), kThreads, 0, stream_>>>(
        delta(sub_layer), d_.x, width);
    launched(3 * width);
    keep_trace(sub_layer + 1);
}

void Step::add_then_norm(int64_t sub_layer, int64_t norm) {
    const Pair pair = norm_pair(norm);
    add_norm({d_.x,
              delta(sub_layer),
              weight(pair.weight),
              weight(pair.bias),
              d_.n,
              d_.shape.gpt.width,
              static_cast<float>(d_.shape.gpt.eps),
              d_.add_norm_calls},
             stream_);
    launched(6 * d_.shape.gpt.width);
    keep_trace(sub_layer + 1);
}

void Step::logits() {
    const Pair pair = {d_.places.embed_out, -1};
    product(d_.n, d_.shape.gpt.width, pair, wb::model::kVocabulary, false, d_.logits);
}

void Step::pick() {
    pick_kernel<<<1, kThreads, 0, stream_>>>(
        d_.logits, d_.text, d_.position, d_.given, d_.losses, d_.picks);
    launched(wb::model::kVocabulary);
}

// ---- S0 ----------------------------------------------------------------------------

void launch_layernorm_residual(const LayerNormResidual& call, cudaStream_t stream) {
    layernorm_residual_kernel<<<static_cast<unsigned>(call.rows),
                                kThreads,
                                0,
                                stream>>>(call);
    CUDA_CHECK_LAUNCH();
}

void Step::layernorm_residual(int64_t sub_layer, int64_t norm) {
    const int64_t width = d_.shape.gpt.width;
    const Pair pair = norm_pair(norm);
    launch_layernorm_residual({delta(sub_layer),
                               d_.x,
                               weight(pair.weight),
                               weight(pair.bias),
                               d_.x,
                               d_.n,
                               1,
                               width,
                               static_cast<float>(d_.shape.gpt.eps),
                               d_.add_norm_calls},
                              stream_);
    launched(6 * width);
    keep_trace(sub_layer + 1);
}
