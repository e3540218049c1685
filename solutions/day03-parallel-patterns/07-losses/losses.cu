// losses.cu: three losses, forward and backward, and the items that one of them draws.
// #solution
//
// v2 is in losses_fast.cu, the second stage; what of it is given, in the chapter's
// folder. v3 of the sampled softmax is in 03_groups.cuh.
//
// <Ladder of="l2_normalize" at="1048576 x 128">
//        GB/s  idea                      what limits it
//   v1  2,930  a warp a row, read twice  x is read twice, 4 bytes a load
//   v2  2,940  a row in registers        the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="l2_normalize_backward" at="1048576 x 128">
//        GB/s  idea                      what limits it
//   v1  3,020  a warp a row, read twice  both are read twice, 4 bytes a load
//   v2  3,010  rows in registers         the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="bce_with_logits" at="n = 67108864">
//        GB/s  idea                            what limits it
//   v1  2,260  a float a load                  instructions: two logarithms an element
//   v2  2,800  16 bytes a load, a shorter log  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="bce_with_logits_backward" at="n = 67108864">
//        GB/s  idea             what limits it
//   v1  2,030  a float a load   instructions, and 4 bytes a load
//   v2  2,980  16 bytes a load  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="sampled_softmax" at="65536 x 1024, 3 in 4 real">
//        GB/s  idea                             what limits it
//   v1  1,490  a warp a query, read twice       logits twice, ids for each query
//   v2  1,550  four queries a block, read once  what warps know is merged too often
//   v3  2,140  many queries: four a warp        the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="sampled_softmax_backward" at="8192 x 8192, 3 in 4 real">
//        GB/s  idea                  what limits it
//   v1  1,700  a warp a query        ids are read for each query, 4 bytes a load
//   v2  2,760  four queries a block  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "losses.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/philox.h>
// #solution
#include <wb/ladder.h>
// #end

#include <algorithm>

#include "given.h"
#include "refused.h"

// #region v1-l2
/// l2_normalize_v1: a warp has a row, and goes over it twice: for its length, for y.
///
/// Launch   grid ceil_div(rows, kWarps), block kThreads
/// Traffic  reads each element twice, writes it once
__global__ void l2_normalize_v1_kernel(const float* x,  // [rows, columns]
                                       float* y,        // [rows, columns]
                                       float* norms,    // [rows]
                                       L2Shape shape) {
    const auto [rows, columns, eps] = shape;
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= rows) return;  // the whole warp
    const float* const g_x = x + row * columns;
    float* const g_y = y + row * columns;
    // TODO(learner): lane, lane + 32, ... are this lane's columns. The sum of their
    // squares, with warp_sum() that of the row; its root, which lane 0 writes to norms;
    // then y: divide by the norm, or by eps where the norm is smaller. fmaxf(norm, eps)
    // would do for numbers, but what is it for NaN? (about 9 lines)
    // #solution
    float squares = 0.0f;
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        squares += g_x[col] * g_x[col];
    const float norm = sqrtf(warp_sum(squares));
    if (lane == 0) norms[row] = norm;
    const float length = norm < eps ? eps : norm;  // a NaN stays one
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        g_y[col] = g_x[col] / length;
    // #end
    // #starter (void)g_x, (void)g_y, (void)norms, (void)eps, (void)lane;
}
// #endregion v1-l2

// #region v1-l2-backward
/// l2_normalize_backward_v1: a warp has a row; first y * dy, then dx.
///
/// Launch   grid ceil_div(rows, kWarps), block kThreads
/// Traffic  reads each element of y and dy twice, writes dx once
__global__ void l2_normalize_backward_v1_kernel(const float* dy,     // [rows, columns]
                                                const float* y,      // [rows, columns]
                                                const float* norms,  // [rows]
                                                float* dx,           // [rows, columns]
                                                L2Shape shape) {
    const auto [rows, columns, eps] = shape;
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= rows) return;  // the whole warp
    const float* const g_dy = dy + row * columns;
    const float* const g_y = y + row * columns;
    float* const g_dx = dx + row * columns;
    // TODO(learner): the row's sum of y * dy, and dx from it. Where the row is shorter
    // than eps, y is x / eps: what is dx then? (about 8 lines)
    // #solution
    float dot = 0.0f;
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        dot += g_y[col] * g_dy[col];
    dot = warp_sum(dot);
    const float norm = norms[row];
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        g_dx[col] = norm < eps ? g_dy[col] / eps : (g_dy[col] - g_y[col] * dot) / norm;
    // #end
    // #starter (void)g_dy, (void)g_y, (void)g_dx, (void)norms, (void)eps, (void)lane;
}
// #endregion v1-l2-backward

static void l2_normalize_v1(
    const float* x, float* y, float* norms, const L2Shape& shape, cudaStream_t stream) {
    const unsigned blocks = count_blocks(shape.rows, kWarps);
    l2_normalize_v1_kernel<<<blocks, kThreads, 0, stream>>>(x, y, norms, shape);
    CUDA_CHECK_LAUNCH();
}

static void l2_normalize_backward_v1(const float* dy,
                                     const float* y,
                                     const float* norms,
                                     float* dx,
                                     const L2Shape& shape,
                                     cudaStream_t stream) {
    const unsigned blocks = count_blocks(shape.rows, kWarps);
    l2_normalize_backward_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        dy, y, norms, dx, shape);
    CUDA_CHECK_LAUNCH();
}

// #region v1-softplus
/// log(1 + exp(x)), finite for every finite x, with all digits where it is tiny.
__device__ inline float softplus(float x) {
    // TODO(learner): expf(x) is infinite from 89 on, and 1 + 1e-9f is 1. Use
    // softplus(x) = max(x, 0) + log(1 + exp(-|x|)), and log1pf() (1 line)
    // #solution
    return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)));
    // #end
    // #starter return x;
}
// #endregion v1-softplus

// #region v1-bce
/// bce_with_logits_v1: each thread adds up the losses of every (gridDim.x *
/// kThreads)-th element, the block those of its threads.
///
/// Launch   grid at most kMaxBlocks, block kThreads
/// Traffic  reads each element once
__global__ void bce_with_logits_v1_kernel(BceInput in,
                                          float* partials) {  // [gridDim.x]
    float sum = 0.0f;
    // TODO(learner): a grid-stride loop over the elements; add this one's loss, with
    // softplus(x) and softplus(-x). in.weights may be null (about 10 lines)
    // #solution
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < in.n;
         i += step) {
        const float x = in.logits[i];
        const float t = in.targets[i];
        const float yes = t * in.pos_weight * softplus(-x);
        const float no = (1.0f - t) * softplus(x);
        sum += (in.weights == nullptr ? 1.0f : in.weights[i]) * (yes + no);
    }
    // #end
    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}
// #endregion v1-bce

// #region v1-bce-backward
/// bce_with_logits_backward_v1: a thread an element.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
__global__ void bce_with_logits_backward_v1_kernel(BceInput in,
                                                   const float* grad_loss,  // [1]
                                                   float* dlogits) {        // [n]
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= in.n) return;
    // TODO(learner): dlogits[i]; sigmoid(x) is 1 / (1 + exp(-x)) (about 7 lines)
    // #solution
    const float x = in.logits[i];
    const float t = in.targets[i];
    const float no = (1.0f - t) / (1.0f + expf(-x));
    const float yes = t * in.pos_weight / (1.0f + expf(x));
    const float weight = in.weights == nullptr ? 1.0f : in.weights[i];
    dlogits[i] = *grad_loss / static_cast<float>(in.n) * weight * (no - yes);
    // #end
    // #starter (void)grad_loss, (void)dlogits;
}
// #endregion v1-bce-backward

// #region v1-bce-launch
/// The most blocks of v1. Fixed, so that the order of additions is the same on every
/// GPU.
constexpr int64_t kMaxBlocks = 1024;

static void bce_with_logits_v1(const BceInput& in, float* loss, cudaStream_t stream) {
    const int64_t blocks =
        std::clamp(wb::ceil_div(in.n, int64_t{kThreads}), int64_t{1}, kMaxBlocks);
    const wb::Scratch<float> partials(blocks, stream);
    bce_with_logits_v1_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
        in, partials.data());
    CUDA_CHECK_LAUNCH();
    launch_mean(partials.data(), blocks, Count{in.n}, loss, stream);
}
// #endregion v1-bce-launch

static void bce_with_logits_backward_v1(const BceInput& in,
                                        const float* grad_loss,
                                        float* dlogits,
                                        cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(in.n, kThreads);
    bce_with_logits_backward_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        in, grad_loss, dlogits);
    CUDA_CHECK_LAUNCH();
}

// #region v1-draw
/// draw_negatives_v1: a thread an item.
///
/// Launch   grid ceil_div(count, kThreads), block kThreads
__global__ void draw_negatives_v1_kernel(
    uint64_t seed, uint64_t step, int32_t* ids, int64_t count, int32_t items) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    // TODO(learner): wb::philox() of the counter made of i and step. Two of its words
    // are 64 random bits; __umul64hi(bits, items) has the bits of their product above
    // 64 (about 7 lines)
    // #solution
    const auto place = static_cast<uint64_t>(i);
    const wb::Words4 words = wb::philox({{static_cast<uint32_t>(place),
                                          static_cast<uint32_t>(place >> 32),
                                          static_cast<uint32_t>(step),
                                          static_cast<uint32_t>(step >> 32)}},
                                        seed);
    const uint64_t bits = uint64_t{words.word[1]} << 32 | words.word[0];
    ids[i] = static_cast<int32_t>(__umul64hi(bits, static_cast<uint64_t>(items)));
    // #end
    // #starter (void)seed, (void)step, (void)ids, (void)items;
}
// #endregion v1-draw

static void draw_negatives_v1(uint64_t seed,
                              uint64_t step,
                              int32_t* ids,
                              int64_t count,
                              int32_t items,
                              cudaStream_t stream) {
    draw_negatives_v1_kernel<<<wb::grid_size(count, kThreads), kThreads, 0, stream>>>(
        seed, step, ids, count, items);
    CUDA_CHECK_LAUNCH();
}

// #region v1-logit
/// The logit of a query with its own item, corrected.
__device__ inline float positive_logit(const SampledInput& in, int64_t row) {
    const float log_q = in.positive_log_q == nullptr ? 0.0f : in.positive_log_q[row];
    return in.positive[row] - log_q;
}

/// The logit of a query with a drawn item, corrected; -inf if that is its own item.
__device__ inline float negative_logit(const SampledInput& in,
                                       int64_t row,
                                       int64_t col) {
    // TODO(learner): -INFINITY for an accidental hit; else the logit less log_q, which
    // may be null (about 4 lines)
    // #solution
    if (in.negative_ids[col] == in.positive_ids[row]) return -INFINITY;
    const float log_q = in.negative_log_q == nullptr ? 0.0f : in.negative_log_q[col];
    return in.negative[row * in.negatives + col] - log_q;
    // #end
    // #starter (void)in, (void)row, (void)col;
    // #starter return 0.0f;
}
// #endregion v1-logit

// #region v1-sampled
/// sampled_softmax_v1: a warp has a query, and goes over its logits twice: for the
/// largest one, and for the sum.
///
/// Launch   grid ceil_div(queries, kWarps), block kThreads
/// Traffic  reads each logit twice
__global__ void sampled_softmax_v1_kernel(SampledInput in,
                                          Count real,
                                          float* losses) {  // [queries]
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= in.queries) return;  // the whole warp
    float loss = 0.0f;
    if (row < real.value()) {
        // TODO(learner): the largest negative_logit() of the row, with warp_max().
        // Below it, or below 0 if it is -inf, the sum of all expf(), with warp_sum().
        // The loss is softplus() of how far log(sum of the negatives) is above the
        // positive logit (about 8 lines)
        // #solution
        float max = -INFINITY;
        for (int64_t col = lane; col < in.negatives; col += wb::kWarpSize)
            max = fmaxf(max, negative_logit(in, row, col));
        max = warp_max(max);
        if (max == -INFINITY) max = 0.0f;  // nothing can be subtracted from -inf
        float sum = 0.0f;
        for (int64_t col = lane; col < in.negatives; col += wb::kWarpSize)
            sum += expf(negative_logit(in, row, col) - max);
        sum = warp_sum(sum);
        loss = softplus(max - positive_logit(in, row) + logf(sum));
        // #end
    }
    if (lane == 0) losses[row] = loss;
}
// #endregion v1-sampled

// #region v1-sampled-backward
/// sampled_softmax_backward_v1: a warp has a query.
///
/// Launch   grid ceil_div(queries, kWarps), block kThreads
/// Traffic  reads each logit once, writes its gradient once
__global__ void sampled_softmax_backward_v1_kernel(
    SampledInput in,
    Count real,
    const float* losses,     // [queries]
    const float* grad_loss,  // [1]
    float* dpositive,        // [queries]
    float* dnegative) {      // [queries, negatives]
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= in.queries) return;  // the whole warp
    float* const g_dnegative = dnegative + row * in.negatives;
    if (row >= real.value()) {
        for (int64_t col = lane; col < in.negatives; col += wb::kWarpSize)
            g_dnegative[col] = 0.0f;
        if (lane == 0) dpositive[row] = 0.0f;
        return;
    }
    // TODO(learner): *grad_loss divided by how many queries are real; times
    // expm1f(-loss), exp(-loss) - 1 with all its digits, it is the gradient by the
    // positive logit, which lane 0 writes. Then those by the negatives (about 8 lines)
    // #solution
    const float scale = *grad_loss / static_cast<float>(real.value());
    const float loss = losses[row];
    if (lane == 0) dpositive[row] = scale * expm1f(-loss);
    const float all = positive_logit(in, row) + loss;  // log of the sum of all exp()
    for (int64_t col = lane; col < in.negatives; col += wb::kWarpSize)
        g_dnegative[col] = scale * expf(negative_logit(in, row, col) - all);
    // #end
    // #starter (void)losses, (void)grad_loss;
}
// #endregion v1-sampled-backward

// #region v1-sampled-launch
static void sampled_softmax_v1(const SampledInput& in,
                               float* losses,
                               float* loss,
                               cudaStream_t stream) {
    if (in.queries > 0) {
        const unsigned blocks = count_blocks(in.queries, kWarps);
        sampled_softmax_v1_kernel<<<blocks, kThreads, 0, stream>>>(
            in, Count::real(in), losses);
        CUDA_CHECK_LAUNCH();
    }
    // TODO(learner): launch_mean() of the losses. Of how many: of those that there is
    // room for, or of the real ones? given.h has both counts (1 line)
    // #solution
    launch_mean(losses, in.queries, Count::real(in), loss, stream);
    // #end
    // #starter (void)loss;
}

static void sampled_softmax_backward_v1(const SampledInput& in,
                                        const float* losses,
                                        const float* grad_loss,
                                        float* dpositive,
                                        float* dnegative,
                                        cudaStream_t stream) {
    const unsigned blocks = count_blocks(in.queries, kWarps);
    sampled_softmax_backward_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        in, Count::real(in), losses, grad_loss, dpositive, dnegative);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-sampled-launch

// #solution
WB_RUNG(l2_normalize, l2_normalize_v1, "a warp a row, read twice");
WB_RUNG(l2_normalize_backward, l2_normalize_backward_v1, "a warp a row, read twice");
WB_RUNG(bce_with_logits, bce_with_logits_v1, "a float a load");
WB_RUNG(bce_with_logits_backward, bce_with_logits_backward_v1, "a float a load");
WB_RUNG(sampled_softmax, sampled_softmax_v1, "a warp a query, read twice");
WB_RUNG(sampled_softmax_backward, sampled_softmax_backward_v1, "a warp a query");

// #end
// #solution
#define WB_VERSION_ONLY
#include "losses_fast.cu"

#include "03_groups.cuh"

WB_RUNG(l2_normalize, l2_normalize_v2, "a row in registers");
WB_RUNG(l2_normalize_backward, l2_normalize_backward_v2, "rows in registers");
WB_RUNG(bce_with_logits, bce_with_logits_v2, "16 bytes a load, a shorter log");
WB_RUNG(bce_with_logits_backward, bce_with_logits_backward_v2, "16 bytes a load");
WB_RUNG(sampled_softmax, sampled_softmax_v2, "four queries a block, read once");
WB_RUNG(sampled_softmax, sampled_softmax_v3, "many queries: four a warp");
WB_RUNG(sampled_softmax_backward, sampled_softmax_backward_v2, "four queries a block");

// #end
// #region contract
void l2_normalize(
    const float* x, float* y, float* norms, const L2Shape& shape, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (!check_l2_normalize(x, y, norms, shape)) return;
    // #solution
    l2_normalize_v2(x, y, norms, shape, stream);
    // #end
    // #starter l2_normalize_v1(x, y, norms, shape, stream);
}

void l2_normalize_backward(const float* dy,
                           const float* y,
                           const float* norms,
                           float* dx,
                           const L2Shape& shape,
                           cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // this one, when the next is written, and so on
    if (!check_l2_backward(dy, y, norms, dx, shape)) return;
    // #solution
    l2_normalize_backward_v2(dy, y, norms, dx, shape, stream);
    // #end
    // #starter l2_normalize_backward_v1(dy, y, norms, dx, shape, stream);
}

void bce_with_logits(const BceInput& in, float* loss, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_bce_with_logits(in, loss)) return;
    // #solution
    bce_with_logits_v2(in, loss, stream);
    // #end
    // #starter bce_with_logits_v1(in, loss, stream);
}

void bce_with_logits_backward(const BceInput& in,
                              const float* grad_loss,
                              float* dlogits,
                              cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_bce_backward(in, grad_loss, dlogits)) return;
    // #solution
    bce_with_logits_backward_v2(in, grad_loss, dlogits, stream);
    // #end
    // #starter bce_with_logits_backward_v1(in, grad_loss, dlogits, stream);
}

void draw_negatives(uint64_t seed,
                    uint64_t step,
                    int32_t* ids,
                    int64_t count,
                    int32_t items,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (check_draw(ids, count, items))
        draw_negatives_v1(seed, step, ids, count, items, stream);
}

void sampled_softmax(const SampledInput& in,
                     float* losses,
                     float* loss,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_sampled_softmax(in, losses, loss)) return;
    // #solution
    sampled_softmax_v3(in, losses, loss, stream);
    // #end
    // #starter sampled_softmax_v1(in, losses, loss, stream);
}

void sampled_softmax_backward(const SampledInput& in,
                              const float* losses,
                              const float* grad_loss,
                              float* dpositive,
                              float* dnegative,
                              cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_sampled_backward(in, losses, grad_loss, dpositive, dnegative)) return;
    // #solution
    sampled_softmax_backward_v2(in, losses, grad_loss, dpositive, dnegative, stream);
    // #end
    // #starter sampled_softmax_backward_v1(
    // #starter     in, losses, grad_loss, dpositive, dnegative, stream);
}
// #endregion contract
