// The right functions that the .diff files edit.
#include "losses.h"

#include <cuda_fp16.h>
#include <wb/check.h>
#include <wb/philox.h>

#include "given.h"
#include "refused.h"

__device__ inline float softplus(float x) {
    const float u = log1pf(expf(-fabsf(x)));
    return fmaxf(x, 0.0f) + u;
}

__device__ inline float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

__global__ void l2_kernel(const float* x, float* y, float* norms, L2Shape shape) {
    const int64_t first = int64_t{blockIdx.x} * shape.columns;
    const int64_t end = first + shape.columns;
    float squares = 0.0f;
    for (int64_t i = first + threadIdx.x; i < end; i += wb::kWarpSize)
        squares += x[i] * x[i];
    const float norm = sqrtf(warp_sum(squares));
    const float length = norm < shape.eps ? shape.eps : norm;
    if (threadIdx.x == 0) norms[blockIdx.x] = norm;
    for (int64_t i = first + threadIdx.x; i < end; i += wb::kWarpSize)
        y[i] = x[i] / length;
}

__global__ void l2_backward_kernel(
    const float* dy, const float* y, const float* norms, float* dx, L2Shape shape) {
    const int64_t first = int64_t{blockIdx.x} * shape.columns;
    const int64_t end = first + shape.columns;
    float dot = 0.0f;
    for (int64_t i = first + threadIdx.x; i < end; i += wb::kWarpSize)
        dot += y[i] * dy[i];
    dot = warp_sum(dot);
    const float norm = norms[blockIdx.x];
    const bool is_short = norm < shape.eps;
    for (int64_t i = first + threadIdx.x; i < end; i += wb::kWarpSize)
        dx[i] = is_short ? dy[i] / shape.eps : (dy[i] - y[i] * dot) / norm;
}

__global__ void bce_kernel(BceInput in, float* partials) {
    float sum = 0.0f;
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < in.n;
         i += step) {
        const float x = in.logits[i];
        const float t = in.targets[i];
        const float weight = in.weights == nullptr ? 1.0f : in.weights[i];
        const float yes = t * in.pos_weight * softplus(-x);
        const float no = (1.0f - t) * softplus(x);
        sum += weight * (yes + no);
    }
    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ void bce_backward_kernel(BceInput in, const float* grad_loss, float* dx) {
    const int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x;
    if (i >= in.n) return;
    const float x = in.logits[i];
    const float t = in.targets[i];
    const float weight = in.weights == nullptr ? 1.0f : in.weights[i];
    const float scale = *grad_loss / static_cast<float>(in.n) * weight;
    dx[i] = scale * ((1.0f - t) * sigmoid(x) - t * in.pos_weight * sigmoid(-x));
}

__global__ void draw_kernel(
    uint64_t seed, uint64_t step, int32_t* ids, int64_t count, int32_t items) {
    const uint64_t i = blockIdx.x * uint64_t{kThreads} + threadIdx.x;
    if (i >= static_cast<uint64_t>(count)) return;
    const wb::Words4 words = wb::philox({{static_cast<uint32_t>(i),
                                          static_cast<uint32_t>(i >> 32),
                                          static_cast<uint32_t>(step),
                                          static_cast<uint32_t>(step >> 32)}},
                                        seed);
    const uint64_t bits = uint64_t{words.word[1]} << 32 | words.word[0];
    ids[i] = static_cast<int32_t>(__umul64hi(bits, static_cast<uint64_t>(items)));
}

__device__ inline float own_logit(const SampledInput& in, int64_t row) {
    float logit = in.positive[row];
    if (in.positive_log_q != nullptr) logit -= in.positive_log_q[row];
    return logit;
}

__device__ inline float other_logit(const SampledInput& in, int64_t row, int64_t col) {
    const bool is_hit = in.negative_ids[col] == in.positive_ids[row];
    float logit = in.negative[row * in.negatives + col];
    if (in.negative_log_q != nullptr) logit -= in.negative_log_q[col];
    return is_hit ? -INFINITY : logit;
}

__global__ void sampled_kernel(SampledInput in, Count real, float* losses) {
    const int64_t row = blockIdx.x;
    const int lane = threadIdx.x;
    if (row >= real.value()) {
        if (lane == 0) losses[row] = 0.0f;
        return;
    }
    float max = -INFINITY;
    for (int64_t col = lane; col < in.negatives; col += wb::kWarpSize)
        max = fmaxf(max, other_logit(in, row, col));
    max = warp_max(max);
    const float below = max == -INFINITY ? 0.0f : max;
    float sum = 0.0f;
    for (int64_t col = lane; col < in.negatives; col += wb::kWarpSize)
        sum += expf(other_logit(in, row, col) - below);
    sum = warp_sum(sum);
    const float loss = softplus(below - own_logit(in, row) + logf(sum));
    if (lane == 0) losses[row] = loss;
}

__global__ void sampled_backward_kernel(SampledInput in,
                                        Count real,
                                        const float* losses,
                                        const float* grad_loss,
                                        float* dpositive,
                                        float* dnegative) {
    const int64_t row = blockIdx.x;
    const bool is_real = row < real.value();
    const float scale = *grad_loss / static_cast<float>(real.value());
    const float loss = losses[row];
    const float own = own_logit(in, row);
    if (threadIdx.x == 0) dpositive[row] = is_real ? scale * expm1f(-loss) : 0.0f;
    for (int64_t col = threadIdx.x; col < in.negatives; col += wb::kWarpSize) {
        const float share = expf(other_logit(in, row, col) - (own + loss));
        dnegative[row * in.negatives + col] = is_real ? scale * share : 0.0f;
    }
}

void l2_normalize(
    const float* x, float* y, float* norms, const L2Shape& shape, cudaStream_t s) {
    if (!check_l2_normalize(x, y, norms, shape)) return;
    l2_kernel<<<count_blocks(shape.rows, 1), wb::kWarpSize, 0, s>>>(x, y, norms, shape);
    CUDA_CHECK_LAUNCH();
}

void l2_normalize_backward(const float* dy,
                           const float* y,
                           const float* norms,
                           float* dx,
                           const L2Shape& shape,
                           cudaStream_t s) {
    if (!check_l2_backward(dy, y, norms, dx, shape)) return;
    const unsigned blocks = count_blocks(shape.rows, 1);
    l2_backward_kernel<<<blocks, wb::kWarpSize, 0, s>>>(dy, y, norms, dx, shape);
    CUDA_CHECK_LAUNCH();
}

void bce_with_logits(const BceInput& in, float* loss, cudaStream_t s) {
    if (!check_bce_with_logits(in, loss)) return;
    const int64_t blocks = wb::ceil_div(in.n, int64_t{4} * kThreads) + 1;
    const wb::Scratch<float> partials(blocks, s);
    bce_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, s>>>(in, partials.data());
    CUDA_CHECK_LAUNCH();
    launch_mean(partials.data(), blocks, Count{in.n}, loss, s);
}

void bce_with_logits_backward(const BceInput& in,
                              const float* grad_loss,
                              float* dlogits,
                              cudaStream_t s) {
    if (!check_bce_backward(in, grad_loss, dlogits)) return;
    const unsigned blocks = wb::grid_size(in.n, kThreads);
    bce_backward_kernel<<<blocks, kThreads, 0, s>>>(in, grad_loss, dlogits);
    CUDA_CHECK_LAUNCH();
}

void draw_negatives(uint64_t seed,
                    uint64_t step,
                    int32_t* ids,
                    int64_t count,
                    int32_t items,
                    cudaStream_t s) {
    if (!check_draw(ids, count, items)) return;
    const unsigned blocks = wb::grid_size(count, kThreads);
    draw_kernel<<<blocks, kThreads, 0, s>>>(seed, step, ids, count, items);
    CUDA_CHECK_LAUNCH();
}

void sampled_softmax(const SampledInput& in,
                     float* losses,
                     float* loss,
                     cudaStream_t s) {
    if (!check_sampled_softmax(in, losses, loss)) return;
    const Count real = Count::real(in);
    if (in.queries > 0) {
        const unsigned blocks = count_blocks(in.queries, 1);
        sampled_kernel<<<blocks, wb::kWarpSize, 0, s>>>(in, real, losses);
        CUDA_CHECK_LAUNCH();
    }
    launch_mean(losses, in.queries, real, loss, s);
}

void sampled_softmax_backward(const SampledInput& in,
                              const float* losses,
                              const float* grad_loss,
                              float* dpositive,
                              float* dnegative,
                              cudaStream_t s) {
    if (!check_sampled_backward(in, losses, grad_loss, dpositive, dnegative)) return;
    const unsigned blocks = count_blocks(in.queries, 1);
    sampled_backward_kernel<<<blocks, wb::kWarpSize, 0, s>>>(
        in, Count::real(in), losses, grad_loss, dpositive, dnegative);
    CUDA_CHECK_LAUNCH();
}
