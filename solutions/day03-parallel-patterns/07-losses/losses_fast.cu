// losses_fast.cu: v2: 16 bytes a load, each element once, and what all queries need is
// loaded once for four of them.
#include "losses.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/online_softmax.h>
#include <wb/philox.h>

#include "given.h"
#include "l2_rows.cuh"
#include "packs.h"
#include "refused.h"

// #region v2-log
/// log(1 + e) for e in [0, 1], to a few units in the last place: with s = e / (2 + e),
/// at most 1/3, it is 2 (s + s^3 / 3 + s^5 / 5 + ...), as the inverse of tanh is. There
/// is no 1 + e that would round a small e away.
__device__ __forceinline__ float log_one_plus(float e) {
    // TODO(learner): the sum up to s^13 / 13, from the last term to the first, in
    // powers of s * s: seven terms. __fdividef() is a division of two instructions
    // (about 9 lines)
    // #solution
    const float s = __fdividef(e, 2.0f + e);
    const float square = s * s;
    float sum = 1.0f / 13.0f;
    sum = sum * square + 1.0f / 11.0f;
    sum = sum * square + 1.0f / 9.0f;
    sum = sum * square + 1.0f / 7.0f;
    sum = sum * square + 1.0f / 5.0f;
    sum = sum * square + 1.0f / 3.0f;
    return 2.0f * s * (sum * square + 1.0f);
    // #end
    // #starter return e;
}
// #endregion v2-log

// #region v2-bce
/// Packs of a thread, of each array, in v2's forward pass; and those that are loaded
/// before the first one is used: 64 bytes of two arrays.
constexpr int kPacksOfThread = 8;
constexpr int kPacksAtOnce = 2;

/// Elements [i, i + V) of an array of n; `fill` where there is none.
template <int V>
__device__ __forceinline__ Pack<float, V> load_part(const float* array,
                                                    int64_t i,
                                                    int64_t n,
                                                    float fill) {
    if (i + V <= n) return Pack<float, V>::load(array + i);
    Pack<float, V> pack;
#pragma unroll  // registers have no index that is known at run time only
    for (int k = 0; k < V; ++k)
        pack.value[k] = i + k < n ? array[i + k] : fill;
    return pack;
}

/// bce_with_logits_v2: a block has a tile of neighbouring elements. What is behind the
/// last one is a logit of -200 with the answer no, whose loss is 0.
///
/// Launch   grid ceil_div(n, kThreads * kPacksOfThread * V), block kThreads
/// Traffic  reads each element once, 4 * V bytes a load
template <int V>
__global__ void __launch_bounds__(kThreads)
    bce_with_logits_v2_kernel(BceInput in, float* partials) {  // [gridDim.x]
    const int64_t tile = int64_t{blockIdx.x} * (kThreads * kPacksOfThread * V);
    float sum = 0.0f;
    for (int first = 0; first < kPacksOfThread; first += kPacksAtOnce) {
        Pack<float, V> r_x[kPacksAtOnce];
        Pack<float, V> r_t[kPacksAtOnce];
        Pack<float, V> r_w[kPacksAtOnce];
#pragma unroll
        for (int k = 0; k < kPacksAtOnce; ++k) {
            const int64_t i = tile + ((first + k) * kThreads + threadIdx.x) * V;
            r_x[k] = load_part<V>(in.logits, i, in.n, -200.0f);
            r_t[k] = load_part<V>(in.targets, i, in.n, 0.0f);
            r_w[k] = in.weights == nullptr ? Pack<float, V>::filled(1.0f)
                                           : load_part<V>(in.weights, i, in.n, 0.0f);
        }
        // TODO(learner): add the losses of all elements of all packs to sum; one expf()
        // and one log_one_plus() serve both softplus(x) and softplus(-x) (about 12
        // lines)
        // #solution
#pragma unroll
        for (int k = 0; k < kPacksAtOnce; ++k)
#pragma unroll
            for (int i = 0; i < V; ++i) {
                const float x = r_x[k].value[i];
                const float t = r_t[k].value[i];
                const float u = log_one_plus(expf(-fabsf(x)));
                const float yes = t * in.pos_weight * (fmaxf(-x, 0.0f) + u);
                const float no = (1.0f - t) * (fmaxf(x, 0.0f) + u);
                sum += r_w[k].value[i] * (yes + no);
            }
        // #end
        // #starter (void)r_x, (void)r_t, (void)r_w;
    }
    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

static void bce_with_logits_v2(const BceInput& in, float* loss, cudaStream_t stream) {
    with_width(are_aligned(in.logits, in.targets, in.weights), [&](auto v) {
        constexpr int V = decltype(v)::value;
        const int64_t blocks =
            wb::ceil_div(in.n, int64_t{kThreads * kPacksOfThread * V});
        const wb::Scratch<float> partials(blocks + 1, stream);  // n may be 0
        if (blocks > 0)
            bce_with_logits_v2_kernel<V>
                <<<count_blocks(blocks, 1), kThreads, 0, stream>>>(in, partials.data());
        CUDA_CHECK_LAUNCH();
        launch_mean(partials.data(), blocks, Count{in.n}, loss, stream);
    });
}

// #endregion v2-bce

// #region v2-known
/// What is known of some logits of a query: the largest, and the sum of the weights
/// below it, exp(logit - max).
struct MaxSum {
    float max = -INFINITY;
    float sum = 0.0f;

    /// V more logits: the sum is rescaled once for all of them.
    template <int V>
    __device__ __forceinline__ void add(const Pack<float, V>& logits) {
        // TODO(learner): the new maximum; the sum below it, and the weights of the new
        // logits; for both wb::softmax_rescale(value, maximum) is exp(value - maximum),
        // and 0 if the value is -inf (about 8 lines)
        // #solution
        float new_max = max;
#pragma unroll
        for (int i = 0; i < V; ++i)
            new_max = fmaxf(new_max, logits.value[i]);
        sum *= wb::softmax_rescale(max, new_max);
#pragma unroll
        for (int i = 0; i < V; ++i)
            sum += wb::softmax_rescale(logits.value[i], new_max);
        max = new_max;
        // #end
        // #starter (void)logits;
    }

    /// What all lanes of the warp know together; all of them get it.
    __device__ __forceinline__ MaxSum of_warp() const {
        const float all = warp_max(max);
        return {all, warp_sum(sum * wb::softmax_rescale(max, all))};
    }
};
// #endregion v2-known

// #region v2-sampled
/// Queries of a block. What the drawn items are, and log_q, is loaded once for them.
constexpr int kQueries = 4;

/// kQueries queries in a row, of which `real` are real.
struct BlockOfQueries {
    int64_t first;
    int real;
    int32_t r_ids[kQueries];  // of their own items
    float r_own[kQueries];    // their logits with them, corrected

    /// The queries of a group: those of a block, or of some of its warps.
    __device__ __forceinline__ BlockOfQueries(const SampledInput& in,
                                              int64_t num_real,
                                              int64_t group)
        : first(group * kQueries) {
        const int64_t left = num_real - first;
        real = left < 0 ? 0 : left < kQueries ? static_cast<int>(left) : kQueries;
#pragma unroll
        for (int q = 0; q < kQueries; ++q) {
            if (q >= real) break;
            r_ids[q] = in.positive_ids[first + q];
            const float log_q =
                in.positive_log_q == nullptr ? 0.0f : in.positive_log_q[first + q];
            r_own[q] = in.positive[first + q] - log_q;
        }
    }

    /// The corrected logits of all real queries with V drawn items, -inf for a hit. All
    /// loads are under way before the first logit is used.
    template <int V>
    __device__ __forceinline__ void load(const SampledInput& in,
                                         int64_t col,
                                         Pack<float, V> (&r_x)[kQueries]) const {
        // TODO(learner): packs of the ids and of log_q, if there is one, then of each
        // real query's logits; then correct and mask them (about 16 lines)
        // #solution
        const auto r_id = Pack<int32_t, V>::load(in.negative_ids + col);
        const auto r_q = in.negative_log_q == nullptr
                             ? Pack<float, V>::filled(0.0f)
                             : Pack<float, V>::load(in.negative_log_q + col);
#pragma unroll
        for (int q = 0; q < kQueries; ++q)
            if (q < real)
                r_x[q] = Pack<float, V>::load(in.negative + (first + q) * in.negatives +
                                              col);
#pragma unroll
        for (int q = 0; q < kQueries; ++q) {
            if (q >= real) break;
#pragma unroll
            for (int i = 0; i < V; ++i)
                r_x[q].value[i] = r_id.value[i] == r_ids[q]
                                      ? -INFINITY
                                      : r_x[q].value[i] - r_q.value[i];
        }
        // #end
        // #starter (void)in, (void)col, (void)r_x;
    }
};

/// sampled_softmax_v2: a block has four queries; each thread knows some logits of each.
///
/// Launch   grid ceil_div(queries, kQueries), block kThreads
/// Traffic  reads each logit once; ids and log_q once for four queries
template <int V>
__global__ void __launch_bounds__(kThreads)
    sampled_softmax_v2_kernel(SampledInput in,
                              Count count,
                              float* losses,      // [queries]
                              float* partials) {  // [gridDim.x]
    static_assert(kQueries <= kWarps && kWarps <= wb::kWarpSize,
                  "a warp merges a query");
    __shared__ MaxSum s_known[kQueries][kWarps];
    __shared__ float s_losses[kQueries];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const BlockOfQueries queries(in, count.value(), blockIdx.x);
    MaxSum r_known[kQueries];
    for (int64_t col = threadIdx.x * V; col < in.negatives; col += kThreads * V) {
        Pack<float, V> r_x[kQueries];
        queries.load<V>(in, col, r_x);
#pragma unroll
        for (int q = 0; q < kQueries; ++q)
            if (q < queries.real) r_known[q].add(r_x[q]);
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
        const MaxSum known = r_known[q].of_warp();
        if (lane == 0) s_known[q][warp] = known;
    }
    __syncthreads();
    if (warp < kQueries) {  // the whole warp
        const MaxSum all = (lane < kWarps ? s_known[warp][lane] : MaxSum{}).of_warp();
        float loss = 0.0f;
        if (warp < queries.real) {
            float own = 0.0f;  // registers have no index that a warp could choose
#pragma unroll
            for (int q = 0; q < kQueries; ++q)
                if (q == warp) own = queries.r_own[q];
            const float above = all.max - own + logf(all.sum);
            loss = fmaxf(above, 0.0f) + log_one_plus(expf(-fabsf(above)));
        }
        if (lane == 0) s_losses[warp] = loss;
        if (lane == 0 && queries.first + warp < in.queries)
            losses[queries.first + warp] = loss;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    float sum = 0.0f;
    for (const float loss : s_losses)
        sum += loss;
    partials[blockIdx.x] = sum;
}

// #endregion v2-sampled

// #region v2-sampled-launch
static bool has_packs(const SampledInput& in, const float* dnegative) {
    return in.negatives % 4 == 0 &&
           are_aligned(in.negative, in.negative_ids, in.negative_log_q, dnegative);
}

static void sampled_softmax_v2(const SampledInput& in,
                               float* losses,
                               float* loss,
                               cudaStream_t stream) {
    const unsigned blocks = count_blocks(in.queries, kQueries);
    const wb::Scratch<float> partials(int64_t{blocks} + 1, stream);  // blocks may be 0
    if (blocks > 0)
        with_width(has_packs(in, nullptr), [&](auto v) {
            sampled_softmax_v2_kernel<decltype(v)::value>
                <<<blocks, kThreads, 0, stream>>>(
                    in, Count::real(in), losses, partials.data());
        });
    CUDA_CHECK_LAUNCH();
    launch_mean(partials.data(), blocks, Count::real(in), loss, stream);
}

// #endregion v2-sampled-launch

#include "gradients.cuh"

// #solution
#ifndef WB_VERSION_ONLY  // losses.cu has all versions, and the contract
// #end
/// draw_negatives_v2: as v1, a thread an item.
///
/// Launch   grid ceil_div(count, kThreads), block kThreads
__global__ void draw_negatives_v2_kernel(
    uint64_t seed, uint64_t step, int32_t* ids, int64_t count, int32_t items) {
    const uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= static_cast<uint64_t>(count)) return;
    const wb::Words4 words = wb::philox({{static_cast<uint32_t>(i),
                                          static_cast<uint32_t>(i >> 32),
                                          static_cast<uint32_t>(step),
                                          static_cast<uint32_t>(step >> 32)}},
                                        seed);
    const uint64_t bits = uint64_t{words.word[1]} << 32 | words.word[0];
    ids[i] = static_cast<int32_t>(__umul64hi(bits, static_cast<uint64_t>(items)));
}

// #region contract
void l2_normalize(
    const float* x, float* y, float* norms, const L2Shape& shape, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line; this function is given
    if (check_l2_normalize(x, y, norms, shape))
        l2_normalize_v2(x, y, norms, shape, stream);
}

void l2_normalize_backward(const float* dy,
                           const float* y,
                           const float* norms,
                           float* dx,
                           const L2Shape& shape,
                           cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (check_l2_backward(dy, y, norms, dx, shape))
        l2_normalize_backward_v2(dy, y, norms, dx, shape, stream);
}

void bce_with_logits(const BceInput& in, float* loss, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when its TODOs are written
    if (check_bce_with_logits(in, loss)) bce_with_logits_v2(in, loss, stream);
}

void bce_with_logits_backward(const BceInput& in,
                              const float* grad_loss,
                              float* dlogits,
                              cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, which is given
    if (check_bce_backward(in, grad_loss, dlogits))
        bce_with_logits_backward_v2(in, grad_loss, dlogits, stream);
}

void draw_negatives(uint64_t seed,
                    uint64_t step,
                    int32_t* ids,
                    int64_t count,
                    int32_t items,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, which is given
    if (check_draw(ids, count, items))
        draw_negatives_v2_kernel<<<wb::grid_size(count, kThreads),
                                   kThreads,
                                   0,
                                   stream>>>(seed, step, ids, count, items);
}

void sampled_softmax(const SampledInput& in,
                     float* losses,
                     float* loss,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the TODOs behind it are
    if (check_sampled_softmax(in, losses, loss))
        sampled_softmax_v2(in, losses, loss, stream);
}

void sampled_softmax_backward(const SampledInput& in,
                              const float* losses,
                              const float* grad_loss,
                              float* dpositive,
                              float* dnegative,
                              cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when that of BlockOfQueries is
    if (check_sampled_backward(in, losses, grad_loss, dpositive, dnegative))
        sampled_softmax_backward_v2(
            in, losses, grad_loss, dpositive, dnegative, stream);
}
// #endregion contract
// #solution
#endif
// #end
