// train_a_gpt.cu: a step of training, made of this book's kernels.
#include "train_a_gpt.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include "01_tokens.cuh"
#include "02_heads.cuh"
#include "03_layers.cuh"
#include "04_adamw.cuh"

// #region v1-cross-entropy
/// losses[t] = log(sum over c of exp(logits[t, c])) - logits[t, target], and, if
/// wanted, logits becomes the gradient of the mean of all losses. A warp a row, whose
/// lanes have 8 logits each.
///
/// Launch   a warp for each row, block kElementThreads
/// Traffic  reads 1024 B a row, and writes as many for a gradient
__global__ void __launch_bounds__(kElementThreads)
    cross_entropy_kernel(float* logits,           // [tokens, 256]
                         const int32_t* targets,  // [tokens]
                         float* losses,           // [tokens]
                         int64_t tokens,
                         bool wants_gradient) {
    constexpr int kEach = int{wb::model::kVocabulary} / wb::kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int64_t row =
        (int64_t{blockIdx.x} * kElementThreads + threadIdx.x) / wb::kWarpSize;
    if (row >= tokens) return;  // the whole warp
    float* const mine = logits + row * wb::model::kVocabulary + lane;
    float r_logit[kEach];
    float most = -INFINITY;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        r_logit[i] = mine[i * wb::kWarpSize];
        most = fmaxf(most, r_logit[i]);
    }
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(wb::kAllLanes, most, step));
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i)
        sum += expf(r_logit[i] - most);
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(wb::kAllLanes, sum, step);
    const int target = targets[row];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        const bool is_target = i * wb::kWarpSize + lane == target;
        if (is_target) losses[row] = logf(sum) - (r_logit[i] - most);
        if (!wants_gradient) continue;
        // TODO(learner): the derivative of the mean loss of all tokens by this logit,
        // in its place. Where does is_target come in? (about 3 lines)
    }
}

/// Losses of all tokens, and their mean.
static void cross_entropy(const Step& s, bool wants_gradient) {
    cross_entropy_kernel<<<wb::grid_size(s.tokens() * wb::kWarpSize, kElementThreads),
                           kElementThreads,
                           0,
                           s.stream>>>(s.at(s.plan.logits),
                                       s.at<const int32_t>(s.plan.targets),
                                       s.at(s.plan.losses),
                                       s.tokens(),
                                       wants_gradient);
    CUDA_CHECK_LAUNCH();
    mean_loss(s);
}
// #endregion v1-cross-entropy

// #region v1-gelu-backward
/// d *= the derivative of GELU at z.
///
/// Launch   a thread for each element, block kElementThreads
/// Traffic  reads 8 B, writes 4 B an element
__global__ void __launch_bounds__(kElementThreads)
    gelu_backward_kernel(const float* z,  // [count] before the GELU, with the bias
                         float* d,        // [count] in: of what it gave. Out: of z
                         int64_t count) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= count) return;
    const float x = z[at];
    // TODO(learner): GELU is x * sigmoid(2 u), u = kGeluScale * (x + kGeluCube * x^3).
    // Its derivative by x, times d[at], to d[at] (about 5 lines)
    (void)x;
}

static void gelu_backward(const Step& s, int64_t z, int64_t d) {
    const int64_t count = s.tokens() * s.hidden();
    gelu_backward_kernel<<<wb::grid_size(count, kElementThreads),
                           kElementThreads,
                           0,
                           s.stream>>>(s.at(z), s.at(d), count);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-gelu-backward

// #region v1-forward
/// y of a layer, from its x.
static void forward_layer(const Step& s, int64_t i) {
    const LayerParameters& p = s.plan.parameters.layer[i];
    const LayerArrays& a = s.plan.layer[i];
    const int64_t width = s.width();
    normalise(s, p.norm1, a.x, a.norm1);
    product(s, a.norm1.y, p.qkv.weight, a.qkv, 3 * width, width);
    attend(s, a, p.qkv.bias);
    // parallel: y = x + attention + mlp(x). Sequential: middle = x + attention first
    if (s.is_parallel()) {
        begin_residual(s, a.x, p.out.bias, &p.down.bias, a.y);
        product(s, a.attended, p.out.weight, a.y, width, width, Result::is_added);
    } else {
        begin_residual(s, a.x, p.out.bias, nullptr, a.middle);
        product(s, a.attended, p.out.weight, a.middle, width, width, Result::is_added);
    }
    normalise(s, p.norm2, a.middle, a.norm2);
    product(s, a.norm2.y, p.up.weight, a.up, s.hidden(), width);
    bias_gelu(s, a.up, p.up.bias, a.hidden);
    if (!s.is_parallel()) begin_residual(s, a.middle, p.down.bias, nullptr, a.y);
    product(s, a.hidden, p.down.weight, a.y, width, s.hidden(), Result::is_added);
}

/// The loss, and logits, or their gradient.
static void forward(const Step& s, bool wants_gradient) {
    const StepPlan& plan = s.plan;
    const int64_t last = plan.layer[plan.shape.layers - 1].y;
    read_tokens(s);
    embed(s, plan.layer[0].x);
    for (int64_t i = 0; i < plan.shape.layers; ++i)
        forward_layer(s, i);
    normalise(s, plan.parameters.norm, last, plan.norm);
    product(s,
            plan.norm.y,
            plan.parameters.embed_out,
            plan.logits,
            wb::model::kVocabulary,
            s.width());
    cross_entropy(s, wants_gradient);
}
// #endregion v1-forward

// #region v1-backward
/// d, which is the gradient of the layer's y, becomes that of its x.
static void backward_layer(const Step& s, int64_t i) {
    const LayerParameters& p = s.plan.parameters.layer[i];
    const LayerArrays& a = s.plan.layer[i];
    const int64_t width = s.width();
    const int64_t hidden = s.hidden();
    const int64_t d = s.plan.d;
    // TODO(learner): forward_layer() from its last line to its first. Of y = x + f(x),
    // d goes both ways: through f, and past it. bias_backward() for each bias; in a
    // sequential layer d is that of middle before attention's turn (about 22 lines)
    (void)p, (void)a, (void)width, (void)hidden, (void)d;
    (void)gelu_backward;
}

/// All gradients, from that of the logits.
static void backward(const Step& s) {
    const StepPlan& plan = s.plan;
    const int64_t last = plan.layer[plan.shape.layers - 1].y;
    product_backward(s,
                     plan.logits,
                     plan.norm.y,
                     plan.parameters.embed_out,
                     plan.d_normed,
                     wb::model::kVocabulary,
                     s.width());
    normalise_backward(s, plan.parameters.norm, plan.d_normed, last, plan.norm, plan.d);
    for (int64_t i = plan.shape.layers - 1; i >= 0; --i)
        backward_layer(s, i);
    embed_backward(s, plan.d);
}
// #endregion v1-backward

// #region contract
void gpt_loss(const GptCall& call, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete these three lines when the TODOs are written
    check_call("gpt_loss", call, false);
    forward(Step(call, stream), false);
}

void gpt_gradients(const GptCall& call, cudaStream_t stream) {
    WB_NOT_SOLVED();
    check_call("gpt_gradients", call, true);
    // Between parameters there are gaps, which stay 0.
    const auto bytes =
        static_cast<size_t>(call.plan->parameters.elements) * sizeof(float);
    CUDA_CHECK(cudaMemsetAsync(call.gradients, 0, bytes, stream));
    const Step s(call, stream);
    forward(s, true);
    backward(s);
}

void adamw(const AdamW& call, cudaStream_t stream) {
    WB_NOT_SOLVED();
    if (!check_adamw(call)) {
        CUDA_CHECK(cudaMemsetAsync(call.norm, 0, sizeof(float), stream));
        return;
    }
    update(call, stream);
}
// #endregion contract
