// The right step that .diff files edit: its own short versions of what is wrong in one
// of them, and the given functions for all else. Other .diff files edit the solution.
#include <wb/check.h>

#include "01_tokens.cuh"
#include "02_heads.cuh"
#include "03_layers.cuh"
#include "04_adamw.cuh"
#include "train_a_gpt.h"

/// The index of this thread's element.
static __device__ int64_t right_index() {
    return int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
}

__global__ void right_tokens_kernel(const int32_t* tokens,
                                    int64_t batch,
                                    int64_t length,
                                    int64_t* inputs,
                                    int32_t* targets,
                                    unsigned long long* bad) {
    const int64_t at = right_index();
    if (at >= batch * (length + 1)) return;
    const int64_t i = at % (length + 1);
    const int64_t t = at / (length + 1) * length + i;
    int32_t token = tokens[at];
    if (token < 0 || token >= 256) {
        atomicAdd(bad, 1ull);
        token = 0;
    }
    if (i < length) inputs[t] = token;
    if (i > 0) targets[t - 1] = token;
}

__global__ void right_table_kernel(
    const float* d, const int64_t* inputs, int64_t tokens, int64_t width, float* to) {
    const int64_t at = right_index();
    if (at >= 256 * width) return;
    float sum = 0.0f;
    for (int64_t t = 0; t < tokens; ++t)
        if (inputs[t] == at / width) sum += d[t * width + at % width];
    to[at] = sum;
}

/// q, k and v: blockIdx.y says which.
__global__ void right_split_kernel(const Heads h,
                                   const float* qkv,
                                   const float* bias,
                                   const float2* angles,
                                   float* q,
                                   float* k,
                                   float* v) {
    const int64_t at = right_index();
    if (at >= h.elements()) return;
    const HeadElement e(h, at);
    float* const out = blockIdx.y == 0 ? q : blockIdx.y == 1 ? k : v;
    if (e.d >= h.head_dim) {
        out[at] = 0.0f;
        return;
    }
    const int64_t first = blockIdx.y * h.width() + e.head * h.head_dim;
    const float* const row = qkv + e.token * 3 * h.width() + first;
    float value = row[e.d] + bias[first + e.d];
    if (blockIdx.y < 2 && e.d < h.rotary) {
        const int64_t half = h.rotary / 2;
        const int64_t other = e.d < half ? e.d + half : e.d - half;
        const float partner = row[other] + bias[first + other];
        const float2 angle = angles[e.token % h.length * half + e.d % half];
        value = value * angle.x + (e.d < half ? -partner * angle.y : partner * angle.y);
    }
    out[at] = value;
}

__global__ void right_split_backward_kernel(const Heads h,
                                            const float* d_q,
                                            const float* d_k,
                                            const float* d_v,
                                            const float2* angles,
                                            float* d_qkv) {
    const int64_t at = right_index();
    if (at >= h.tokens() * h.width()) return;
    const int64_t token = at / h.width();
    const int64_t head = at % h.width() / h.head_dim;
    const int64_t d = at % h.head_dim;
    const float* const from = blockIdx.y == 0 ? d_q : blockIdx.y == 1 ? d_k : d_v;
    float value = from[h.place(token, head, d)];
    if (blockIdx.y < 2 && d < h.rotary) {
        const int64_t half = h.rotary / 2;
        const int64_t other = d < half ? d + half : d - half;
        const float partner = from[h.place(token, head, other)];
        const float2 angle = angles[token % h.length * half + d % half];
        const float sine = -angle.y;  // back
        value = value * angle.x + (d < half ? -partner * sine : partner * sine);
    }
    d_qkv[(token * 3 + blockIdx.y) * h.width() + at % h.width()] = value;
}

/// A thread a token.
__global__ void right_cross_entropy_kernel(float* logits,
                                           const int32_t* targets,
                                           float* losses,
                                           int64_t tokens,
                                           bool wants_gradient) {
    const int64_t t = right_index();
    if (t >= tokens) return;
    float* const row = logits + t * 256;
    float most = row[0];
    for (int i = 1; i < 256; ++i)
        most = fmaxf(most, row[i]);
    float sum = 0.0f;
    for (int i = 0; i < 256; ++i)
        sum += expf(row[i] - most);
    losses[t] = logf(sum) - (row[targets[t]] - most);
    for (int i = 0; wants_gradient && i < 256; ++i) {
        const float one = i == targets[t] ? 1.0f : 0.0f;
        row[i] = (expf(row[i] - most) / sum - one) / static_cast<float>(tokens);
    }
}

__global__ void right_gelu_kernel(const float* z, float* d, int64_t count) {
    const int64_t at = right_index();
    if (at >= count) return;
    const float x = z[at];
    const float u = kGeluScale * (x + kGeluCube * x * x * x);
    const float slope = kGeluScale * (1.0f + 3.0f * kGeluCube * x * x);
    const float yes = 1.0f / (1.0f + expf(-2.0f * u));
    const float no = 1.0f / (1.0f + expf(2.0f * u));
    d[at] *= yes + 2.0f * x * yes * no * slope;
}

__global__ void right_squares_kernel(const float* g, int64_t elements, double* parts) {
    double sum = 0.0;
    for (int64_t i = right_index(); i < elements; i += kNormParts * kElementThreads)
        sum += double{g[i]} * double{g[i]};
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void right_adamw_kernel(const AdamW a,
                                   float first_scale,
                                   float second_scale) {
    const int64_t at = right_index();
    const float norm = *a.norm;
    if (at >= a.elements || !isfinite(norm)) return;
    const float share = a.clip > 0.0f && norm > a.clip ? a.clip / norm : 1.0f;
    const float weight = a.weights[at];
    const float g = a.gradients[at] * share;
    const float first = a.beta1 * a.first[at] + (1.0f - a.beta1) * g;
    const float second = a.beta2 * a.second[at] + (1.0f - a.beta2) * g * g;
    const float decay = a.decays[at / 64] != 0 ? a.decay * weight : 0.0f;
    const float root = sqrtf(second * second_scale) + a.eps;
    a.first[at] = first;
    a.second[at] = second;
    a.weights[at] = weight - a.rate * (first * first_scale / root + decay);
}

static wb::AttentionShape right_attention(const Step& s) {
    wb::AttentionShape shape = attention_of(s);
    shape.scale = 1.0f / sqrtf(static_cast<float>(s.plan.shape.head_dim()));
    return shape;
}

static void right_attend(const Step& s, const LayerArrays& a, int64_t bias) {
    const Heads h = heads_of(s);
    const dim3 blocks(blocks_of(h.elements()), 3);
    right_split_kernel<<<blocks, kElementThreads, 0, s.stream>>>(
        h,
        s.at(a.qkv),
        s.weight(bias),
        s.at<const float2>(s.plan.angles),
        s.at(a.q),
        s.at(a.k),
        s.at(a.v));
    CUDA_CHECK_LAUNCH();
    flash_attention(right_attention(s),
                    s.at(a.q),
                    s.at(a.k),
                    s.at(a.v),
                    s.at(a.o),
                    s.at(a.lse),
                    s.stream);
    merge_heads_kernel<<<blocks.x, kElementThreads, 0, s.stream>>>(
        h, s.at(a.o), s.at(a.attended));
    CUDA_CHECK_LAUNCH();
}

static void right_attend_backward(const Step& s, const LayerArrays& a) {
    const Heads h = heads_of(s);
    const dim3 blocks(blocks_of(h.elements()), 3);
    merge_heads_backward_kernel<<<blocks.x, kElementThreads, 0, s.stream>>>(
        h, s.at(a.d_attended), s.at(a.d_o));
    CUDA_CHECK_LAUNCH();
    attention_backward_fp32({right_attention(s),
                             s.at(a.q),
                             s.at(a.k),
                             s.at(a.v),
                             s.at(a.o),
                             s.at(a.lse),
                             s.at(a.d_o),
                             s.at(a.d_q),
                             s.at(a.d_k),
                             s.at(a.d_v),
                             s.call.deterministic},
                            s.stream);
    right_split_backward_kernel<<<blocks, kElementThreads, 0, s.stream>>>(
        h,
        s.at(a.d_q),
        s.at(a.d_k),
        s.at(a.d_v),
        s.at<const float2>(s.plan.angles),
        s.at(a.d_qkv));
    CUDA_CHECK_LAUNCH();
}

static void right_layer(const Step& s, int64_t i) {
    const LayerParameters& p = s.plan.parameters.layer[i];
    const LayerArrays& a = s.plan.layer[i];
    const int64_t width = s.width();
    normalise(s, p.norm1, a.x, a.norm1);
    product(s, a.norm1.y, p.qkv.weight, a.qkv, 3 * width, width);
    right_attend(s, a, p.qkv.bias);
    const int64_t sum = s.is_parallel() ? a.y : a.middle;
    begin_residual(s, a.x, p.out.bias, s.is_parallel() ? &p.down.bias : nullptr, sum);
    product(s, a.attended, p.out.weight, sum, width, width, Result::is_added);
    normalise(s, p.norm2, a.middle, a.norm2);
    product(s, a.norm2.y, p.up.weight, a.up, s.hidden(), width);
    bias_gelu(s, a.up, p.up.bias, a.hidden);
    if (!s.is_parallel()) begin_residual(s, a.middle, p.down.bias, nullptr, a.y);
    product(s, a.hidden, p.down.weight, a.y, width, s.hidden(), Result::is_added);
}

static void right_forward(const Step& s, bool wants_gradient) {
    const StepPlan& p = s.plan;
    const unsigned blocks = blocks_of(p.batch * (p.length + 1));
    right_tokens_kernel<<<blocks, kElementThreads, 0, s.stream>>>(
        s.call.tokens,
        p.batch,
        p.length,
        s.at<int64_t>(p.inputs),
        s.at<int32_t>(p.targets),
        s.call.bad_tokens);
    CUDA_CHECK_LAUNCH();
    const int64_t pairs = p.length * (p.shape.rotary / 2);
    if (pairs > 0)
        angles_kernel<<<blocks_of(pairs), kElementThreads, 0, s.stream>>>(
            s.at<float2>(p.angles), p.length, p.shape.rotary);
    CUDA_CHECK_LAUNCH();
    embed(s, p.layer[0].x);
    for (int64_t i = 0; i < p.shape.layers; ++i)
        right_layer(s, i);
    normalise(s, p.parameters.norm, p.layer[p.shape.layers - 1].y, p.norm);
    product(s, p.norm.y, p.parameters.embed_out, p.logits, 256, s.width());
    right_cross_entropy_kernel<<<blocks_of(s.tokens()), kElementThreads, 0, s.stream>>>(
        s.at(p.logits),
        s.at<const int32_t>(p.targets),
        s.at(p.losses),
        s.tokens(),
        wants_gradient);
    CUDA_CHECK_LAUNCH();
    mean_loss(s);
}

static void right_backward_layer(const Step& s, int64_t i) {
    const LayerParameters& p = s.plan.parameters.layer[i];
    const LayerArrays& a = s.plan.layer[i];
    const int64_t width = s.width();
    const int64_t hidden = s.hidden();
    const int64_t d = s.plan.d;
    product_backward(s, d, a.hidden, p.down.weight, a.d_hidden, width, hidden);
    bias_backward(s, d, p.down.bias, width);
    const int64_t count = s.tokens() * hidden;
    right_gelu_kernel<<<blocks_of(count), kElementThreads, 0, s.stream>>>(
        s.at(a.up), s.at(a.d_hidden), count);
    CUDA_CHECK_LAUNCH();
    product_backward(s, a.d_hidden, a.norm2.y, p.up.weight, a.d_normed2, hidden, width);
    bias_backward(s, a.d_hidden, p.up.bias, hidden);
    normalise_backward(s, p.norm2, a.d_normed2, a.middle, a.norm2, a.d_middle);
    if (!s.is_parallel()) add(s, d, a.d_middle);
    product_backward(s, d, a.attended, p.out.weight, a.d_attended, width, width);
    bias_backward(s, d, p.out.bias, width);
    right_attend_backward(s, a);
    product_backward(
        s, a.d_qkv, a.norm1.y, p.qkv.weight, a.d_normed1, 3 * width, width);
    bias_backward(s, a.d_qkv, p.qkv.bias, 3 * width);
    normalise_backward(s, p.norm1, a.d_normed1, a.x, a.norm1, a.d_first);
    add(s, d, a.d_first, s.is_parallel() ? &a.d_middle : nullptr);
}

void gpt_loss(const GptCall& call, cudaStream_t stream) {
    check_call("gpt_loss", call, false);
    right_forward(Step(call, stream), false);
}

void gpt_gradients(const GptCall& call, cudaStream_t stream) {
    check_call("gpt_gradients", call, true);
    const StepPlan& p = *call.plan;
    const size_t bytes = static_cast<size_t>(p.parameters.elements) * sizeof(float);
    CUDA_CHECK(cudaMemsetAsync(call.gradients, 0, bytes, stream));
    const Step s(call, stream);
    right_forward(s, true);
    product_backward(
        s, p.logits, p.norm.y, p.parameters.embed_out, p.d_normed, 256, s.width());
    const int64_t last = p.layer[p.shape.layers - 1].y;
    normalise_backward(s, p.parameters.norm, p.d_normed, last, p.norm, p.d);
    for (int64_t i = p.shape.layers - 1; i >= 0; --i)
        right_backward_layer(s, i);
    right_table_kernel<<<blocks_of(256 * s.width()), kElementThreads, 0, stream>>>(
        s.at(p.d),
        s.at<const int64_t>(p.inputs),
        s.tokens(),
        s.width(),
        s.gradient(p.parameters.embed_in));
    CUDA_CHECK_LAUNCH();
}

void adamw(const AdamW& a, cudaStream_t stream) {
    if (!check_adamw(a)) {
        CUDA_CHECK(cudaMemsetAsync(a.norm, 0, sizeof(float), stream));
        return;
    }
    right_squares_kernel<<<kNormParts, kElementThreads, 0, stream>>>(
        a.gradients, a.elements, a.parts);
    CUDA_CHECK_LAUNCH();
    norm_kernel<<<1, kElementThreads, 0, stream>>>(a.parts, a.norm);
    CUDA_CHECK_LAUNCH();
    const auto correction = [&a](float beta) {
        return static_cast<float>(1.0 / (1.0 - std::pow(double{beta}, double(a.step))));
    };
    right_adamw_kernel<<<blocks_of(a.elements), kElementThreads, 0, stream>>>(
        a, correction(a.beta1), correction(a.beta2));
    CUDA_CHECK_LAUNCH();
}
