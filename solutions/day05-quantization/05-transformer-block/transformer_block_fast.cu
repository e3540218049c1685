// transformer_block_fast.cu: v3 of a step of decoding: five kernels, of which four are
// one that normalises, multiplies and does the rest, for up to eight rows.
#include "transformer_block.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "few_rows.cuh"

constexpr int kAttendThreads = 512;

// #region v3-norm
/// Rows of x to shared memory, normalised if there is a norm: warp m has row m.
///
/// @param s_rows  [rows, K]
__device__ __forceinline__ void stage_rows(const FewRows& p, __nv_bfloat16* s_rows) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int m = threadIdx.x / wb::kWarpSize;
    if (m >= p.rows) return;
    const __nv_bfloat16* const row = p.x + m * p.K;
    float mean = 0.0f;
    float rstd = 1.0f;
    float values[8];
    if (p.gamma != nullptr) {
        // TODO(learner): the mean of the row, then 1 / sqrt(mean of squared distances
        // + eps). A lane takes eight numbers at 8 lane, 8 lane + 256, ...:
        // Vector::load() and unpack() (about 16 lines)
        // #solution
        for (int k = 8 * lane; k < p.K; k += 8 * wb::kWarpSize) {
            Vector::load(row + k).unpack(values);
            for (const float value : values)
                mean += value;
        }
        mean = few_sum(mean) / static_cast<float>(p.K);
        float squares = 0.0f;
        for (int k = 8 * lane; k < p.K; k += 8 * wb::kWarpSize) {
            Vector::load(row + k).unpack(values);
            for (const float value : values)
                squares += (value - mean) * (value - mean);
        }
        rstd = rsqrtf(few_sum(squares) / static_cast<float>(p.K) + p.eps);
        // #end
    }
    for (int k = 8 * lane; k < p.K; k += 8 * wb::kWarpSize) {
        Vector x = Vector::load(row + k);
        if (p.gamma != nullptr) {
            float gamma[8];
            float beta[8];
            x.unpack(values);
            Vector::load(p.gamma + k).unpack(gamma);
            Vector::load(p.beta + k).unpack(beta);
            for (int i = 0; i < 8; ++i)
                values[i] = (values[i] - mean) * rstd * gamma[i] + beta[i];
            x = Vector::pack(values);
            if (p.normed != nullptr && blockIdx.x == 0) x.store(p.normed + m * p.K + k);
        }
        x.store(s_rows + m * p.K + k);
    }
}
// #endregion v3-norm

#include "few_rows_int4.cuh"

// #region v3-product
/// Adds eight products of a row of W with each row of x.
///
/// @param s_x  row 0 of x, at the column of w
template <int ROWS>
__device__ __forceinline__ void add_products(float (&sums)[ROWS],
                                             const Vector& w,
                                             const __nv_bfloat16* s_x,
                                             const FewRows& p) {
    float weights[8];
    w.unpack(weights);
#pragma unroll
    for (int m = 0; m < ROWS; ++m) {
        if (m >= p.rows) break;
        // TODO(learner): (about 4 lines)
        // #solution
        float values[8];
        Vector::load(s_x + m * p.K).unpack(values);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            sums[m] += weights[i] * values[i];
        // #end
        // #starter sums[m] += weights[0] * __bfloat162float(s_x[m * p.K]);
    }
}
// #endregion v3-product

// #region v3-kernel
/// v3: a warp for each column of y, after its block has normalised x.
///
/// Launch   grid ceil_div(N, kFewWarps), block kFewThreads, rows * K * 2 B of shared
///          memory
/// Traffic  reads W once, and x in each block, from L2
template <int ROWS, WeightKind KIND>
__global__ void __launch_bounds__(kFewThreads) few_rows_kernel(const FewRows p) {
    extern __shared__ uint4 s_bytes[];
    auto* const s_rows = reinterpret_cast<__nv_bfloat16*>(s_bytes);  // [rows, K]
    const int lane = threadIdx.x % wb::kWarpSize;
    const int n =
        static_cast<int>(blockIdx.x) * kFewWarps + threadIdx.x / wb::kWarpSize;
    const bool is_there = n < p.N;
    float sums[ROWS] = {};
    if constexpr (KIND == WeightKind::bf16) {
        // The first weights are on their way while the rows are normalised.
        const __nv_bfloat16* const w = p.dense + int64_t{is_there ? n : 0} * p.K;
        Vector ahead[kAhead];
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int k = 8 * (lane + i * wb::kWarpSize);
            if (k < p.K) ahead[i] = Vector::stream(w + k);
        }
        stage_rows(p, s_rows);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int k = 8 * (lane + i * wb::kWarpSize);
            if (k < p.K) add_products(sums, ahead[i], s_rows + k, p);
        }
#pragma unroll 4
        for (int k = 8 * (lane + kAhead * wb::kWarpSize); k < p.K;
             k += 8 * wb::kWarpSize)
            add_products(sums, Vector::stream(w + k), s_rows + k, p);
    } else {
        const uint8_t* const w = p.fp4.values + int64_t{is_there ? n : 0} * (p.K / 2);
        stage_rows(p, s_rows);
        __syncthreads();
#pragma unroll 4
        for (int k = 16 * lane; k < p.K; k += 16 * wb::kWarpSize)
            add_fp4(sums,
                    *reinterpret_cast<const uint2*>(w + k / 2),
                    p.fp4.scale(is_there ? n : 0, k),
                    s_rows + k,
                    p);
    }
    grow_lengths(p);
    // TODO(learner): add the lanes' sums of each row: few_sum(). Lane m, if the column
    // is there and m < rows, adds the bias, applies activated(), adds the residual and
    // stores y[m, n] (about 14 lines)
    // #solution
    float mine = 0.0f;
#pragma unroll
    for (int m = 0; m < ROWS; ++m) {
        const float sum = few_sum(sums[m]);
        if (lane == m) mine = sum;
    }
    if (!is_there || lane >= p.rows) return;
    if (p.bias != nullptr) mine += __bfloat162float(p.bias[n]);
    mine = activated(mine, p.activation);
    const int64_t place = int64_t{lane} * p.N + n;
    if (p.residual != nullptr) mine += __bfloat162float(p.residual[place]);
    p.y[place] = __float2bfloat16(mine);
    // #end
    // #starter (void)is_there;
}
// #endregion v3-kernel

// #region v3-launch
template <int ROWS, WeightKind KIND>
void launch_few_rows(const FewRows& p, cudaStream_t stream) {
    const auto kernel = few_rows_kernel<ROWS, KIND>;
    const int bytes = p.rows * p.K * int{sizeof(__nv_bfloat16)};
    kernel<<<wb::grid_size(p.N, kFewWarps),
             kFewThreads,
             static_cast<size_t>(bytes),
             stream>>>(p);
    CUDA_CHECK_LAUNCH();
}

static void few_rows(const Call& c,
                     const BlockLinear& layer,
                     const __nv_bfloat16* x,
                     const Around& around,
                     __nv_bfloat16* y) {
    const FewRows p = few_rows_of(c, layer, x, around, y);
    if (layer.kind == WeightKind::int4) {
        if (p.rows == 1) return launch_few_rows_int4<1>(p, c.stream);
        return launch_few_rows_int4<kFewRows>(p, c.stream);
    }
    const auto launch = [&](auto kind) {
        if (p.rows == 1) return launch_few_rows<1, kind()>(p, c.stream);
        launch_few_rows<kFewRows, kind()>(p, c.stream);
    };
    if (layer.kind == WeightKind::bf16)
        launch(std::integral_constant<WeightKind, WeightKind::bf16>());
    else
        launch(std::integral_constant<WeightKind, WeightKind::fp4>());
}
// #endregion v3-launch

// #region v3-attend
/// What a group of lanes knows of the keys that it has seen: eight columns of o each.
struct Seen {
    float max = -INFINITY;
    float sum = 0.0f;
    float o[8] = {};

    /// One more key, with its score.
    __device__ __forceinline__ void add(float score, const Vector& v) {
        float values[8];
        v.unpack(values);
        // TODO(learner): the new maximum; what was summed, times exp(old - new); and
        // the key's weight (about 7 lines)
        // #solution
        const float larger = fmaxf(max, score);
        const float factor = expf(max - larger);
        const float weight = expf(score - larger);
        max = larger;
        sum = sum * factor + weight;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            o[i] = o[i] * factor + weight * values[i];
        // #end
        // #starter sum += score + values[0];
    }
};

/// v3: appends the new key and value of one head of one sequence, and attends to all.
/// D / 8 lanes have a key together, and each group of lanes every GROUPS-th of them.
///
/// Launch   grid batch * heads, block kAttendThreads
/// Traffic  reads keys and values once
template <int D>
__global__ void __launch_bounds__(kAttendThreads) append_attend_kernel(const Attend p) {
    constexpr int LANES = D / 8;
    constexpr int GROUPS = kAttendThreads / LANES;
    constexpr int kUnder = 4;  // keys of a group under way
    __shared__ alignas(16) __nv_bfloat16 s_q[D];
    __shared__ float s_max[GROUPS];
    __shared__ float s_sum[GROUPS];
    __shared__ float s_o[GROUPS][D + 4];
    const wb::PagedCache& cache = p.cache;
    const int heads = static_cast<int>(cache.kv_heads);
    const int sequence = static_cast<int>(blockIdx.x) / heads;
    const int head = static_cast<int>(blockIdx.x) % heads;
    const int tid = threadIdx.x;
    const int last = cache.lengths[sequence];  // the new token's position
    const bool has_place = wb::checked_place(cache, sequence, last, sequence, p.status);
    const int page_size = static_cast<int>(cache.page_size);
    const auto place = [&](int position) {
        const int64_t page =
            wb::checked_page(cache, sequence, position / page_size, p.status);
        if (page < 0) return int64_t{-1};
        return ((page * heads + head) * page_size + position % page_size) * D;
    };
    const int64_t own = has_place ? place(last) : -1;
    __nv_bfloat16* const attended = p.attended + int64_t{blockIdx.x} * D;
    if (own < 0) {
        if (tid < D) attended[tid] = __float2bfloat16(0.0f);
        return;
    }
    if (tid < D) {
        const __nv_bfloat16* const q =
            p.qkv + (int64_t{sequence} * 3 * heads + head) * D;
        const __nv_bfloat16* const k = q + int64_t{heads} * D;
        const float2* const angles = p.angles + int64_t{last} * (p.rotary_dim / 2);
        s_q[tid] = turned(q, tid, angles, p.rotary_dim);
        cache.k[own + tid] = turned(k, tid, angles, p.rotary_dim);
        cache.v[own + tid] = k[int64_t{heads} * D + tid];
    }
    __syncthreads();  // the new key is a key as all others
    const int part = tid % LANES;
    const int group = tid / LANES;
    float q[8];
    Vector::load(s_q + 8 * part).unpack(q);
    Seen seen;
    for (int first = 0; first <= last; first += kUnder * GROUPS) {
        Vector k[kUnder];
        Vector v[kUnder];
        bool is_seen[kUnder];
#pragma unroll
        for (int u = 0; u < kUnder; ++u) {
            const int position = first + u * GROUPS + group;
            const int64_t at = position <= last ? place(position) : -1;
            is_seen[u] = at >= 0;
            if (at < 0) continue;
            k[u] = Vector::load(cache.k + at + 8 * part);
            v[u] = Vector::load(cache.v + at + 8 * part);
        }
#pragma unroll
        for (int u = 0; u < kUnder; ++u) {
            float score = 0.0f;
            if (is_seen[u]) {
                float keys[8];
                k[u].unpack(keys);
#pragma unroll
                for (int i = 0; i < 8; ++i)
                    score += q[i] * keys[i];
            }
            for (int apart = LANES / 2; apart > 0; apart /= 2)
                score += __shfl_xor_sync(wb::kAllLanes, score, apart);
            if (is_seen[u]) seen.add(score * p.scale, v[u]);
        }
    }
    if (part == 0) {
        s_max[group] = seen.max;
        s_sum[group] = seen.sum;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
        s_o[group][8 * part + i] = seen.o[i];
    __syncthreads();
    if (tid >= D) return;
    // TODO(learner): merge the groups for column tid: the largest maximum; then sums
    // and o of each group, times exp(its maximum - the largest). Store their quotient
    // (about 12 lines)
    // #solution
    float max = s_max[0];
    for (int g = 1; g < GROUPS; ++g)
        max = fmaxf(max, s_max[g]);
    float sum = 0.0f;
    float o = 0.0f;
    for (int g = 0; g < GROUPS; ++g) {
        const float factor = expf(s_max[g] - max);
        sum += s_sum[g] * factor;
        o += s_o[g][tid] * factor;
    }
    attended[tid] = __float2bfloat16(o / sum);
    // #end
    // #starter attended[tid] = s_q[tid];
}

static void append_attend(const Call& c) {
    const BlockShape& s = c.shape();
    const Attend p = attend_of(c);
    const auto kernel =
        s.head_dim() == 64 ? append_attend_kernel<64> : append_attend_kernel<128>;
    kernel<<<wb::grid_size(c.rows() * s.heads, 1), kAttendThreads, 0, c.stream>>>(p);
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-attend

// #region v3-block
/// Whether a step is for decode_few_rows().
static bool suits_few_rows(const Call& c) {
    const int64_t widest = std::max(c.shape().d_model, c.shape().d_ff);
    return c.rows() <= kFewRows && c.rows() * widest * 2 <= kFewShared;
}

/// A step in five launches; post has a norm behind them. `out` is the first kernel in
/// which nobody reads lengths any more.
static void decode_few_rows(const Call& c) {
    const Block& b = c.block;
    const BlockPlan& p = c.plan;
    const __nv_bfloat16* const x = c.tokens.x;
    const bool pre = c.is_pre();
    __nv_bfloat16* const middle = c.at(p.middle);
    __nv_bfloat16* const sum = pre ? middle : c.at(p.queries);  // before norm1
    Around around;
    around.norm = pre ? &b.norm1 : nullptr;
    few_rows(c, b.qkv, x, around, c.at(p.qkv));
    append_attend(c);
    around = {};
    around.residual = x;
    around.grows = true;
    few_rows(c, b.out, c.at(p.attended), around, sum);
    around = {};
    around.norm = pre ? &b.norm2 : &b.norm1;
    around.normed = pre ? nullptr : middle;
    around.activation = c.shape().activation;
    few_rows(c, b.up, sum, around, c.at(p.hidden));
    around = {};
    around.residual = middle;
    few_rows(c, b.down, c.at(p.hidden), around, c.tokens.y);
    if (!pre) norm(c, b.norm2, c.tokens.y, c.tokens.y);
}
// #endregion v3-block

// #solution
#ifndef WB_VERSION_ONLY  // transformer_block.cu has all versions, and the contract
// #end
// #region contract
#include "plan.cuh"

BlockPlan plan_block(const BlockShape& shape,
                     bool is_quantized,
                     int64_t tokens,
                     bool keep) {
    // #starter WB_NOT_SOLVED();  // delete this line, too: the plan is given here
    return planned_arrays(shape, is_quantized, tokens, keep);
}

void block_forward(const Block& block,
                   const BlockTokens& tokens,
                   const BlockCache* cache,
                   const BlockWorkspace& work,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line, too: whole sequences are given
    forward_checked(block, tokens, cache, work, stream, run_block_v2);
}

void block_decode(const Block& block,
                  const BlockCache& cache,
                  const __nv_bfloat16* x,
                  __nv_bfloat16* y,
                  const BlockWorkspace& work,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    decode_checked(block, cache, x, y, work, stream, [](const Call& c) {
        if (suits_few_rows(c)) return decode_few_rows(c);
        run_block_v2(c);
    });
}
// #endregion contract
// #solution
#endif
// #end
