// bf16_step.cu: given with this exercise: the step of bf16_step.h. Products that
// a bias, a GELU or a residual follows are those of chapter 04/05, all others those of
// chapter 04/04.
#include "bf16_step.h"

#include <wb/arguments.h>
#include <wb/attention.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/row_sums.h>

#include <cmath>

#include "../../day03-parallel-patterns/04-layernorm/layernorm.h"
#include "../../day04-gemm/04-wgmma-tma/wgmma_tma.h"
#include "../../day04-gemm/05-fused-epilogue/fused_epilogue.h"
#include "../../day06-llm-attention/08-hopper-attention/hopper_attention.h"
#include "../../day06-llm-attention/12-attention-backward/attention_backward.h"
#include "bf16_kernels.cuh"
#include "library.h"

namespace {

void check_call(const Bf16Call& call) {
    const wb::Arguments arguments("gpt_gradients_bf16");
    arguments.require(call.plan != nullptr, "plan", 0, "must not be null");
    const Bf16Plan& plan = *call.plan;
    arguments.require(
        plan.bytes > 0, "plan->bytes", plan.bytes, "must be > 0: see plan_bf16_step()");
    arguments.require(
        call.bytes >= plan.bytes, "bytes", call.bytes, "must be plan->bytes or more");
    const int64_t elements = plan.parameters.elements;
    const int64_t tokens = plan.batch * (plan.length + 1);
    arguments.device("weights", call.weights, elements)
        .device("tokens", call.tokens, tokens)
        .device("memory", static_cast<const char*>(call.memory), call.bytes)
        .device("loss", call.loss, 1)
        .device("gradients", call.gradients, elements)
        .device("bad_tokens", call.bad_tokens, 1);
    check_cublas_kinds("gpt_gradients_bf16", call.cublas);
    const auto past = [&](const char* name, const void* address, int64_t of) {
        arguments.require(
            reinterpret_cast<uintptr_t>(address) % of == 0,
            name,
            static_cast<int64_t>(reinterpret_cast<uintptr_t>(address)),
            of == 256 ? "must be a multiple of 256" : "must be a multiple of 16");
    };
    past("memory", call.memory, 256);
    past("weights", call.weights, 16);
    past("gradients", call.gradients, 16);
    arguments.apart({{"weights", call.weights, elements * 4, false},
                     {"tokens", call.tokens, tokens * 4, false},
                     {"memory", call.memory, call.bytes, true},
                     {"loss", call.loss, 4, true},
                     {"gradients", call.gradients, elements * 4, true},
                     {"bad_tokens", call.bad_tokens, 8, true}});
#if !defined(SIMT_CPU)
    const int capability = wb::compute_capability();
    arguments.require(capability == 90,
                      "the GPU's compute capability, times 10",
                      capability,
                      "must be 90 (H100, H200, GH200): a step in float runs anywhere");
#endif
}

// #region step
/// A call, checked: where its arrays are.
struct Bf16Step {
    const Bf16Call& call;
    const Bf16Plan& plan;
    const Bf16SharedArrays& shared;
    cudaStream_t stream;

    Bf16Step(const Bf16Call& of, cudaStream_t on)
        : call(of), plan(*of.plan), shared(of.plan->shared), stream(on) {}

    template <class T = Bf16>
    T* at(int64_t offset) const {
        return reinterpret_cast<T*>(static_cast<char*>(call.memory) + offset);
    }
    const Bf16* weight(int64_t place) const { return at(shared.weights) + place; }
    /// Where the gradient of a matrix or of a norm goes.
    Bf16* gradient(int64_t place) const { return at(shared.gradients) + place; }

    int64_t tokens() const { return plan.tokens(); }
    int64_t width() const { return plan.shape.width; }
    int64_t hidden() const { return plan.shape.hidden; }
    bool is_parallel() const { return plan.shape.is_parallel; }
};

/// Blocks for a thread for each of so many.
unsigned blocks_of(int64_t count) {
    return wb::grid_size(count, kBf16Threads);
}
// #endregion step

/// out.y = norm of x.
void normalise(const Bf16Step& s,
               const ParameterPair& p,
               int64_t x,
               const Bf16NormArrays& out) {
    layer_norm_bf16({s.at(x),
                     s.weight(p.weight),
                     s.weight(p.bias),
                     s.at(out.y),
                     s.at<float>(out.mean),
                     s.at<float>(out.rstd),
                     s.tokens(),
                     s.width(),
                     static_cast<float>(s.plan.shape.eps)},
                    s.stream);
}

/// dx, and the gradients of the norm's parameters, from dy.
void normalise_backward(const Bf16Step& s,
                        const ParameterPair& p,
                        int64_t dy,
                        int64_t x,
                        const Bf16NormArrays& out,
                        int64_t dx) {
    layer_norm_backward_bf16({s.at(dy),
                              s.at(x),
                              s.weight(p.weight),
                              s.at<float>(out.mean),
                              s.at<float>(out.rstd),
                              s.at(dx),
                              s.gradient(p.weight),
                              s.gradient(p.bias),
                              s.tokens(),
                              s.width()},
                             s.stream);
}

// #region layer
/// What follows a product.
struct Ending {
    int64_t bias = -1;      ///< of it; -1: none
    int64_t residual = -1;  ///< added to it; -1: none
    int64_t z = -1;         ///< where it is kept before the GELU; -1: there is none
};

/// y = act(x w^T + bias) + residual, one kernel of chapter 04/05. x is [tokens,
/// inputs], w [outputs, inputs], y [tokens, outputs].
void layer(const Bf16Step& s,
           int64_t x,
           int64_t w,
           int64_t y,
           int64_t outputs,
           int64_t inputs,
           const Ending& end) {
    LinearInput in = {};
    in.shape = {s.tokens(), outputs, inputs, inputs, inputs, outputs};
    in.activation = end.z < 0 ? Activation::none : Activation::gelu;
    in.x = s.at(x);
    in.w = s.weight(w);
    in.bias = end.bias < 0 ? nullptr : s.weight(end.bias);
    in.residual = end.residual < 0 ? nullptr : s.at(end.residual);
    linear_act(in, s.at(y), end.z < 0 ? nullptr : s.at(end.z), s.stream);
}

/// dx = dy w: chapter 04/04.
void to_inputs(const Bf16Step& s,
               int64_t dy,
               int64_t w,
               int64_t dx,
               int64_t outputs,
               int64_t inputs) {
    const wb::GemmShape shape = {s.tokens(), inputs, outputs};
    if ((s.call.cublas & kInputGradients) != 0)
        return cublas_product(
            shape.packed(), s.at(dy), s.weight(w), s.at(dx), s.stream);
    wgmma_tma_bf16(shape.packed(), s.at(dy), s.weight(w), s.at(dx), s.stream);
}

/// shared.transposed = dy turned, and if bias is not -1, dbias = the sums of dy's
/// columns.
void turn(const Bf16Step& s, int64_t dy, int64_t columns, int64_t bias) {
    const int64_t rows = s.tokens();
    const auto down = static_cast<unsigned>(wb::ceil_div(rows, int64_t{kTurn}));
    const auto across = static_cast<unsigned>(wb::ceil_div(columns, int64_t{kTurn}));
    float* const parts = bias < 0 ? nullptr : s.at<float>(s.shared.parts);
    turn_kernel<<<dim3(across, down), kBf16Threads, 0, s.stream>>>(
        s.at(dy),
        static_cast<uint32_t>(rows),
        static_cast<uint32_t>(columns),
        s.at(s.shared.transposed),
        parts);
    CUDA_CHECK_LAUNCH();
    if (bias < 0) return;
    const auto blocks =
        static_cast<unsigned>(wb::ceil_div(columns, int64_t{wb::kWarpSize}));
    wb::part_sums_kernel<float>
        <<<dim3(blocks), dim3(wb::kWarpSize, wb::kWarpSize), 0, s.stream>>>(
            parts, int64_t{down}, columns, s.call.gradients + bias, nullptr);
    CUDA_CHECK_LAUNCH();
}

/// dw = dy^T x, of the dy that turn() has turned: chapter 04/04 takes no factor whose
/// rows lie across.
void to_weights(const Bf16Step& s,
                const Bf16* dy,
                int64_t x,
                int64_t w,
                int64_t outputs,
                int64_t inputs) {
    const wb::GemmShape shape = {outputs, inputs, s.tokens()};
    if ((s.call.cublas & kWeightGradients) != 0)
        return cublas_product(shape.packed(), dy, s.at(x), s.gradient(w), s.stream);
    wgmma_tma_bf16(shape.packed(), dy, s.at(x), s.gradient(w), s.stream);
}
// #endregion layer

Bf16Heads heads_of(const Bf16Step& s) {
    const Bf16Plan& p = s.plan;
    return {static_cast<uint32_t>(p.batch),
            static_cast<uint32_t>(p.shape.heads),
            static_cast<uint32_t>(p.length),
            static_cast<uint32_t>(p.shape.head_dim()),
            static_cast<uint32_t>(p.head_dim),
            static_cast<uint32_t>(p.shape.rotary)};
}

wb::AttentionShape attention_of(const Bf16Step& s) {
    wb::AttentionShape shape;
    shape.batch = s.plan.batch;
    shape.query_heads = shape.kv_heads = s.plan.shape.heads;
    shape.queries = shape.keys = s.plan.length;
    shape.head_dim = s.plan.head_dim;
    shape.causal = true;
    shape.scale = 1.0f / sqrtf(static_cast<float>(s.plan.shape.head_dim()));
    return shape;
}

/// Blocks for a thread for each vector of an array by heads.
unsigned head_blocks(const Bf16Step& s) {
    return blocks_of(s.tokens() * s.plan.shape.heads * (s.plan.head_dim / 8));
}

/// attended = attention(qkv).
void attend(const Bf16Step& s, const Bf16LayerArrays& a) {
    const Bf16Heads h = heads_of(s);
    bf16_split_heads_kernel<<<dim3(head_blocks(s), 3), kBf16Threads, 0, s.stream>>>(
        h,
        s.at(s.shared.qkv),
        s.at<const float2>(s.shared.angles),
        s.at(a.q),
        s.at(a.k),
        s.at(a.v));
    CUDA_CHECK_LAUNCH();
    hopper_attention(attention_of(s),
                     s.at(a.q),
                     s.at(a.k),
                     s.at(a.v),
                     s.at(a.o),
                     s.at<float>(a.lse),
                     s.stream);
    bf16_merge_heads_kernel<false>
        <<<head_blocks(s), kBf16Threads, 0, s.stream>>>(h, s.at(a.o), s.at(a.attended));
    CUDA_CHECK_LAUNCH();
}

/// shared.qkv = the gradient of qkv, from that of attended.
void attend_backward(const Bf16Step& s, const Bf16LayerArrays& a, int64_t d_attended) {
    const Bf16Heads h = heads_of(s);
    const Bf16SharedArrays& m = s.shared;
    bf16_merge_heads_kernel<true><<<head_blocks(s), kBf16Threads, 0, s.stream>>>(
        h, s.at(d_attended), s.at(m.d_o));
    CUDA_CHECK_LAUNCH();
    attention_backward_bf16({attention_of(s),
                             s.at(a.q),
                             s.at(a.k),
                             s.at(a.v),
                             s.at(a.o),
                             s.at<float>(a.lse),
                             s.at(m.d_o),
                             s.at(m.d_q),
                             s.at(m.d_k),
                             s.at(m.d_v),
                             s.call.deterministic},
                            s.stream);
    bf16_split_heads_backward_kernel<<<dim3(head_blocks(s), 3),
                                       kBf16Threads,
                                       0,
                                       s.stream>>>(h,
                                                   s.at(m.d_q),
                                                   s.at(m.d_k),
                                                   s.at(m.d_v),
                                                   s.at<const float2>(m.angles),
                                                   s.at(m.qkv));
    CUDA_CHECK_LAUNCH();
}

/// d += a, or a + b.
void add(const Bf16Step& s, int64_t d, int64_t a, const int64_t* b = nullptr) {
    const int64_t count = s.tokens() * s.width() / 8;
    bf16_add_kernel<<<blocks_of(count), kBf16Threads, 0, s.stream>>>(
        s.at(d),
        s.at(a),
        b == nullptr ? nullptr : s.at(*b),
        static_cast<uint32_t>(count));
    CUDA_CHECK_LAUNCH();
}

/// Weights in bf16, x of the first layer, targets, and the angles of all positions.
void begin(const Bf16Step& s) {
    const Bf16Plan& p = s.plan;
    const Bf16SharedArrays& m = s.shared;
    const auto rows = static_cast<uint32_t>(s.tokens());
    const auto length = static_cast<uint32_t>(p.length);
    const int64_t vectors = p.parameters.elements / 8;
    narrow_kernel<<<blocks_of(vectors), kBf16Threads, 0, s.stream>>>(
        s.call.weights, s.at(m.weights), static_cast<uint32_t>(vectors));
    CUDA_CHECK_LAUNCH();
    embed_kernel<<<blocks_of(s.tokens() * s.width() / 8), kBf16Threads, 0, s.stream>>>(
        s.call.tokens,
        s.weight(p.parameters.embed_in),
        s.at(p.layer[0].x),
        s.at<int32_t>(m.targets),
        rows,
        length,
        static_cast<uint32_t>(s.width()),
        s.call.bad_tokens);
    CUDA_CHECK_LAUNCH();
    const int64_t pairs = p.length * (p.shape.rotary / 2);
    if (pairs == 0) return;
    bf16_angles_kernel<<<blocks_of(pairs), kBf16Threads, 0, s.stream>>>(
        s.at<float2>(m.angles), length, static_cast<uint32_t>(p.shape.rotary / 2));
    CUDA_CHECK_LAUNCH();
}

// #region forward
/// y of a layer, from its x. Residuals are added where the products end.
void forward_layer(const Bf16Step& s, int64_t i) {
    const LayerParameters& p = s.plan.parameters.layer[i];
    const Bf16LayerArrays& a = s.plan.layer[i];
    const int64_t width = s.width();
    normalise(s, p.norm1, a.x, a.norm1);
    layer(s,
          a.norm1.y,
          p.qkv.weight,
          s.shared.qkv,
          3 * width,
          width,
          {.bias = p.qkv.bias});
    attend(s, a);
    layer(s,
          a.attended,
          p.out.weight,
          a.middle,
          width,
          width,
          {.bias = p.out.bias, .residual = a.x});
    normalise(s, p.norm2, s.is_parallel() ? a.x : a.middle, a.norm2);
    layer(s,
          a.norm2.y,
          p.up.weight,
          a.hidden,
          s.hidden(),
          width,
          {.bias = p.up.bias, .z = a.up});
    layer(s,
          a.hidden,
          p.down.weight,
          a.y,
          width,
          s.hidden(),
          {.bias = p.down.bias, .residual = a.middle});
}
// #endregion forward

/// The loss, and the gradient of the logits.
void forward(const Bf16Step& s) {
    const Bf16Plan& plan = s.plan;
    const Bf16SharedArrays& m = s.shared;
    const auto rows = static_cast<uint32_t>(s.tokens());
    for (int64_t i = 0; i < plan.shape.layers; ++i)
        forward_layer(s, i);
    normalise(s, plan.parameters.norm, plan.layer[plan.shape.layers - 1].y, m.norm);
    layer(s,
          m.norm.y,
          plan.parameters.embed_out,
          m.logits,
          wb::model::kVocabulary,
          s.width(),
          {});
    bf16_cross_entropy_kernel<<<blocks_of(s.tokens() * wb::kWarpSize),
                                kBf16Threads,
                                0,
                                s.stream>>>(
        s.at(m.logits), s.at<const int32_t>(m.targets), s.at<float>(m.losses), rows);
    CUDA_CHECK_LAUNCH();
    bf16_mean_kernel<<<1, kBf16Threads, 0, s.stream>>>(
        s.at<float>(m.losses), rows, s.call.loss);
    CUDA_CHECK_LAUNCH();
}

// #region backward
/// d, which is the gradient of the layer's y, becomes that of its x.
void backward_layer(const Bf16Step& s, int64_t i) {
    const LayerParameters& p = s.plan.parameters.layer[i];
    const Bf16LayerArrays& a = s.plan.layer[i];
    const Bf16SharedArrays& m = s.shared;
    const Bf16* const turned_dy = s.at(m.transposed);
    const int64_t width = s.width();
    const int64_t hidden = s.hidden();
    // The MLP: the slope of the GELU is taken where the product with w ends.
    turn(s, m.d, width, p.down.bias);
    to_weights(s, turned_dy, a.hidden, p.down.weight, width, hidden);
    if (s.is_parallel()) {  // the same d reaches attention: it is turned already
        CUDA_CHECK(cudaMemcpyAsync(s.call.gradients + p.out.bias,
                                   s.call.gradients + p.down.bias,
                                   static_cast<size_t>(width) * sizeof(float),
                                   cudaMemcpyDeviceToDevice,
                                   s.stream));
        to_weights(s, turned_dy, a.attended, p.out.weight, width, width);
    }
    LinearGradient down = {};
    down.shape = {s.tokens(), width, hidden, hidden, hidden, width};
    down.activation = Activation::gelu;
    down.dy = s.at(m.d);
    down.w = s.weight(p.down.weight);
    down.z = s.at(a.up);
    linear_act_backward(down, s.at(m.d_hidden), s.call.gradients + p.up.bias, s.stream);
    turn(s, m.d_hidden, hidden, -1);
    to_weights(s, turned_dy, a.norm2.y, p.up.weight, hidden, width);
    to_inputs(s, m.d_hidden, p.up.weight, m.d_normed, hidden, width);
    normalise_backward(
        s, p.norm2, m.d_normed, s.is_parallel() ? a.x : a.middle, a.norm2, m.d_middle);
    // Attention.
    if (!s.is_parallel()) {
        add(s, m.d, m.d_middle);
        turn(s, m.d, width, p.out.bias);
        to_weights(s, turned_dy, a.attended, p.out.weight, width, width);
    }
    to_inputs(s, m.d, p.out.weight, m.d_normed, width, width);
    attend_backward(s, a, m.d_normed);
    turn(s, m.qkv, 3 * width, p.qkv.bias);
    to_weights(s, turned_dy, a.norm1.y, p.qkv.weight, 3 * width, width);
    to_inputs(s, m.qkv, p.qkv.weight, m.d_normed, 3 * width, width);
    normalise_backward(s, p.norm1, m.d_normed, a.x, a.norm1, m.d_first);
    add(s, m.d, m.d_first, s.is_parallel() ? &m.d_middle : nullptr);
}
// #endregion backward

/// All gradients, from that of the logits.
void backward(const Bf16Step& s) {
    const Bf16Plan& plan = s.plan;
    const Bf16SharedArrays& m = s.shared;
    const int64_t last = plan.layer[plan.shape.layers - 1].y;
    constexpr int64_t kVocabulary = wb::model::kVocabulary;
    turn(s, m.logits, kVocabulary, -1);
    to_weights(s,
               s.at(m.transposed),
               m.norm.y,
               plan.parameters.embed_out,
               kVocabulary,
               s.width());
    to_inputs(
        s, m.logits, plan.parameters.embed_out, m.d_normed, kVocabulary, s.width());
    normalise_backward(s, plan.parameters.norm, m.d_normed, last, m.norm, m.d);
    for (int64_t i = plan.shape.layers - 1; i >= 0; --i)
        backward_layer(s, i);
    // The table: row r is the sum of d over the tokens that have byte r.
    one_hot_kernel<<<blocks_of(kVocabulary * s.tokens() / 8),
                     kBf16Threads,
                     0,
                     s.stream>>>(s.call.tokens,
                                 s.at(m.one_hot),
                                 static_cast<uint32_t>(s.tokens()),
                                 static_cast<uint32_t>(plan.length));
    CUDA_CHECK_LAUNCH();
    to_weights(
        s, s.at(m.one_hot), m.d, plan.parameters.embed_in, kVocabulary, s.width());
}

}  // namespace

void gpt_gradients_bf16(const Bf16Call& call, cudaStream_t stream) {
    check_call(call);
    const Bf16Step s(call, stream);
    const auto elements = static_cast<size_t>(call.plan->parameters.elements);
    // Between parameters there are gaps, which stay 0.
    CUDA_CHECK(cudaMemsetAsync(call.gradients, 0, elements * sizeof(float), stream));
    CUDA_CHECK(
        cudaMemsetAsync(s.at(s.shared.gradients), 0, elements * sizeof(Bf16), stream));
    begin(s);
    forward(s);
    backward(s);
    const int64_t vectors = call.plan->parameters.elements / 8;
    widen_kernel<<<blocks_of(vectors), kBf16Threads, 0, stream>>>(
        s.gradient(0), call.gradients, static_cast<uint32_t>(vectors));
    CUDA_CHECK_LAUNCH();
}
