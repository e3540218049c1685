// bf16_step.cu: given with this exercise: the step of bf16_step.h, in its order. What it
// launches is in bf16_launches.cuh and bf16_attend.cuh.
#include "bf16_step.h"

#include <wb/arguments.h>
#include <wb/device.h>

#include "bf16_attend.cuh"
#include "bf16_launches.cuh"

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

/// Weights in bf16, x of the first layer, targets, which token has which byte, and the
/// angles of all positions.
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
    one_hot_kernel<<<blocks_of(wb::model::kVocabulary * s.tokens() / 8),
                     kBf16Threads,
                     0,
                     s.stream>>>(s.call.tokens, s.at(m.one_hot), rows, length);
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
    const int64_t hidden = s.hidden();
    if (s.is_parallel())
        normalise(s, a.x, {{p.norm1, a.norm1}, {p.norm2, a.norm2}});
    else
        normalise(s, a.x, {{p.norm1, a.norm1}});
    layer(s, a.norm1.y, p.qkv.weight, s.shared.qkv, 3 * width, width, p.qkv.bias);
    attend(s, a);
    layer(s, a.attended, p.out.weight, a.middle, width, width, p.out.bias, a.x);
    if (!s.is_parallel()) normalise(s, a.middle, {{p.norm2, a.norm2}});
    layer(s, a.norm2.y, p.up.weight, a.up, hidden, width, p.up.bias);
    gelu(s, a.up, a.hidden);
    layer(s, a.hidden, p.down.weight, a.y, width, hidden, p.down.bias, a.middle);
}
// #endregion forward

/// The loss, and the gradient of the logits.
void forward(const Bf16Step& s) {
    const Bf16Plan& plan = s.plan;
    const Bf16SharedArrays& m = s.shared;
    const auto rows = static_cast<uint32_t>(s.tokens());
    for (int64_t i = 0; i < plan.shape.layers; ++i)
        forward_layer(s, i);
    normalise(s, plan.layer[plan.shape.layers - 1].y, {{plan.parameters.norm, m.norm}});
    layer(s,
          m.norm.y,
          plan.parameters.embed_out,
          m.logits,
          wb::model::kVocabulary,
          s.width(),
          -1);
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
/// Where d goes, turned, that is the gradient of layer i's y; and its columns' sums,
/// which are the gradients of the biases that were added to y.
Turned turned_for(const Bf16Step& s, int64_t i) {
    if (i < 0) return turned_of(s, -1, s.width(), -1);
    const LayerSums sums = LayerSums::of(s.plan.shape, i);
    return turned_of(s,
                     s.shared.turned_d[i % 2],
                     s.width(),
                     sums.down,
                     s.is_parallel() ? sums.out : -1);
}

/// d, which is the gradient of the layer's y, becomes that of its x. It is turned
/// already: what makes a gradient turns it, too.
void backward_layer(const Bf16Step& s, int64_t i) {
    const LayerParameters& p = s.plan.parameters.layer[i];
    const Bf16LayerArrays& a = s.plan.layer[i];
    const Bf16SharedArrays& m = s.shared;
    const LayerSums sums = LayerSums::of(s.plan.shape, i);
    const int64_t width = s.width();
    const int64_t hidden = s.hidden();
    // The MLP.
    to_inputs(s, m.d, p.down.weight, m.d_hidden, width, hidden);
    turn(s,
         ThroughGelu{s.at(m.d_hidden), s.at(a.up)},
         turned_of(s, m.turned_up, hidden, sums.up));
    to_inputs(s, m.d_hidden, p.up.weight, m.d_normed2, hidden, width);
    const NormOf norm2 = {p.norm2, a.norm2, m.d_normed2, sums.norm2};
    // Attention of a parallel layer is given the same d: what comes through norm2 is
    // added where norm1's comes, of the same x.
    if (!s.is_parallel())
        normalise_backward(s,
                           a.middle,
                           {norm2},
                           m.d,
                           m.d,
                           turned_of(s, m.turned_middle, width, sums.out));
    // Attention.
    to_inputs(s, m.d, p.out.weight, m.d_normed, width, width);
    attend_backward(s, i, m.d_normed);
    to_inputs(s, m.qkv, p.qkv.weight, m.d_normed, 3 * width, width);
    const NormOf norm1 = {p.norm1, a.norm1, m.d_normed, sums.norm1};
    const Turned below = turned_for(s, i - 1);
    if (s.is_parallel())
        normalise_backward(s, a.x, {norm1, norm2}, m.d, m.d, below);
    else
        normalise_backward(s, a.x, {norm1}, m.d, m.d, below);
    // All matrices.
    WeightGradients gradients(s);
    const int64_t turned_d = m.turned_d[i % 2];
    gradients.add(turned_d, a.hidden, p.down.weight, width, hidden);
    gradients.add(m.turned_up, a.norm2.y, p.up.weight, hidden, width);
    gradients.add(s.is_parallel() ? turned_d : m.turned_middle,
                  a.attended,
                  p.out.weight,
                  width,
                  width);
    gradients.add(m.turned_qkv, a.norm1.y, p.qkv.weight, 3 * width, width);
    constexpr int64_t kVocabulary = wb::model::kVocabulary;
    const ParameterPlaces& all = s.plan.parameters;
    if (i == s.plan.shape.layers - 1)
        gradients.add(m.turned_logits, m.norm.y, all.embed_out, kVocabulary, width);
    // Of the table, row r is the sum of d over the tokens that have byte r.
    if (i == 0) gradients.add(m.one_hot, m.d, all.embed_in, kVocabulary, width);
    gradients.launch();
}
// #endregion backward

/// All gradients, from that of the logits.
void backward(const Bf16Step& s) {
    const Bf16Plan& plan = s.plan;
    const Bf16SharedArrays& m = s.shared;
    const int64_t layers = plan.shape.layers;
    constexpr int64_t kVocabulary = wb::model::kVocabulary;
    turn(s, Stored{s.at(m.logits)}, turned_of(s, m.turned_logits, kVocabulary, -1));
    to_inputs(
        s, m.logits, plan.parameters.embed_out, m.d_normed, kVocabulary, s.width());
    const int64_t sums = LayerSums::of(plan.shape, layers).norm1;
    normalise_backward(s,
                       plan.layer[layers - 1].y,
                       {{plan.parameters.norm, m.norm, m.d_normed, sums}},
                       -1,
                       m.d,
                       turned_for(s, layers - 1));
    for (int64_t i = layers - 1; i >= 0; --i)
        backward_layer(s, i);
    add_sums(s);
}

/// Whether there are places between parameters that belong to none: each begins at a
/// multiple of 64.
bool has_gaps(const Bf16Plan& plan) {
    const int64_t width = plan.shape.width;
    const int64_t hidden = plan.shape.hidden;
    const int64_t of_layer =
        4 * width * width + 2 * width * hidden + sums_of_layer(plan.shape);
    const int64_t all =
        plan.shape.layers * of_layer + 2 * wb::model::kVocabulary * width + 2 * width;
    return all != plan.parameters.elements;
}

}  // namespace

void gpt_gradients_bf16(const Bf16Call& call, cudaStream_t stream) {
    check_call(call);
    const Bf16Step s(call, stream);
    const auto elements = static_cast<size_t>(call.plan->parameters.elements);
    if (has_gaps(*call.plan))  // which stay 0; all else is written
        CUDA_CHECK(
            cudaMemsetAsync(call.gradients, 0, elements * sizeof(float), stream));
    begin(s);
    forward(s);
    backward(s);
}
