// fusion_case_study.cu: which steps of a decoder may be one launch, and a step that has
// them so.
// #solution
//
// v4 is the second stage, fusion_case_study_fast.cu.
//
// <Ladder of="decode_step" at="8 x 320" in="us">
//              us  idea                        what limits it
//   v1        413  each operation by itself    the GPU; 10 launches a layer
//   v2        353  sum and norm fused          8 launches a layer
//   v3        344  and q, k, v into the cache  7 launches a layer
//   v4        280  no norm or sum by itself    5 launches a layer
//   v1_graph  301  v1 as a graph               84 kernels, one by one
//   v2_graph  291  v2 as a graph               as v1_graph
//   v3_graph  292  v3 as a graph               as v1_graph
//   v4_graph  243  v4 as a graph               attention in 5 blocks
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-29
// #end
#include "fusion_case_study.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <algorithm>

#include "block_sums.cuh"
#include "checks.h"
#include "step.h"

// #region chain
/// Whether a step between first and second hangs on first, directly or over others, and
/// second hangs on it.
static bool has_chain(const StepInfo* steps, int first, int second) {
    // What the steps of the chain so far read and write: at first, that of first alone.
    uint32_t reads = steps[first].reads;
    uint32_t writes = steps[first].writes;
    uint32_t between_reads = 0;  // without first
    uint32_t between_writes = 0;
    // TODO(learner): go through the steps between the two. Each that hangs_on() the
    // chain belongs to it, and so do its arrays. Then: does second hang on one that is
    // between? (about 8 lines)
    // #solution
    for (int i = first + 1; i < second; ++i) {
        if (!hangs_on(steps[i], reads, writes)) continue;
        reads |= steps[i].reads;
        writes |= steps[i].writes;
        between_reads |= steps[i].reads;
        between_writes |= steps[i].writes;
    }
    return hangs_on(steps[second], between_reads, between_writes);
    // #end
    // #starter (void)second, (void)reads, (void)writes;
    // #starter (void)between_reads, (void)between_writes;
    // #starter return false;
}
// #endregion chain

// #region blocks
/// The table of the contract: what the blocks of one launch for both would have to do.
static Verdict verdict_of(Spread first, Spread second) {
    // TODO(learner): which blocks have computed what a block of second needs? (about 6
    // lines)
    // #solution
    const bool is_shared_out = first == Spread::head || first == Spread::rows;
    if (second == Spread::element) return Verdict::fuses;
    if (second == Spread::head)
        return first == Spread::whole ? Verdict::repeats : Verdict::fuses;
    if (is_shared_out) return Verdict::waits;
    return second == Spread::rows ? Verdict::repeats : Verdict::fuses;
    // #end
    // #starter (void)first, (void)second;
    // #starter return Verdict::unrelated;
}
// #endregion blocks

// #region stores
/// Those of `arrays` that somebody reads behind step `second`.
static uint32_t read_later(
    const StepInfo* steps, int count, uint32_t kept, int second, uint32_t arrays) {
    uint32_t wanted = 0;
    // TODO(learner): step by step: what is read is wanted; what is overwritten without
    // having been read is not asked about any more. At the end `kept` is read (about 5
    // lines)
    // #solution
    for (int i = second + 1; i < count; ++i) {
        wanted |= arrays & steps[i].reads;
        arrays &= ~steps[i].writes;
    }
    wanted |= arrays & kept;
    // #end
    // #starter (void)steps, (void)count, (void)kept, (void)second, (void)arrays;
    return wanted;
}
// #endregion stores

Diagnosis diagnose(
    const StepInfo* steps, int count, uint32_t kept, int first, int second) {
    // #starter WB_NOT_SOLVED();
    check_steps(steps, count, first, second);
    const StepInfo& a = steps[first];
    const StepInfo& b = steps[second];
    if ((a.writes & b.reads) == 0) return {Verdict::unrelated, 0};
    if (has_chain(steps, first, second)) return {Verdict::between, 0};
    const Verdict verdict = verdict_of(a.spread, b.spread);
    if (verdict == Verdict::waits) return {verdict, 0};
    return {verdict, read_later(steps, count, kept, second, a.writes | b.writes)};
}

// #region add-norm
/// Numbers of the row that each thread holds, at most.
constexpr int kMostEach = 8;

/// x = x + delta, n = LayerNorm of x. The row stays in registers.
///
/// Launch   one block, threads_of(width) threads
/// Traffic  reads width * 16 B, writes width * 8 B
static __global__ void __launch_bounds__(1024) add_norm_kernel(AddNorm a) {
    const auto tid = static_cast<int64_t>(threadIdx.x);
    const auto columns = static_cast<float>(a.width);
    float r_x[kMostEach];
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < kMostEach; ++i) {
        const int64_t c = tid + int64_t{i} * blockDim.x;
        r_x[i] = 0.0f;
        if (c >= a.width) continue;
        // TODO(learner): the sum of x and delta: keep it in r_x[i], store it, and add
        // it to part (about 3 lines)
        // #solution
        r_x[i] = a.x[c] + a.delta[c];
        a.x[c] = r_x[i];
        part += r_x[i];
        // #end
    }
    const float mean = block_sum(part) / columns;
    part = 0.0f;
#pragma unroll
    for (int i = 0; i < kMostEach; ++i) {
        const int64_t c = tid + int64_t{i} * blockDim.x;
        if (c >= a.width) continue;
        // TODO(learner): the square of the distance from the mean, to part (1 line)
        // #solution
        part += (r_x[i] - mean) * (r_x[i] - mean);
        // #end
    }
    const float rstd = 1.0f / sqrtf(block_sum(part) / columns + a.eps);
#pragma unroll
    for (int i = 0; i < kMostEach; ++i) {
        const int64_t c = tid + int64_t{i} * blockDim.x;
        if (c >= a.width) continue;
        // TODO(learner): n of the contract (1 line)
        // #solution
        a.n[c] = (r_x[i] - mean) * rstd * a.gamma[c] + a.beta[c];
        // #end
        // #starter (void)r_x[i], (void)mean, (void)rstd;
    }
    // TODO(learner): one thread adds 1 to *a.calls, unless that is null (about 2 lines)
    // #solution
    if (tid == 0 && a.calls != nullptr) atomicAdd(a.calls, 1);
    // #end
}

/// Threads of the block: one for each number as far as a block has so many, in whole
/// warps.
static int threads_of(int64_t width) {
    const int64_t warps = wb::ceil_div(width, int64_t{wb::kWarpSize});
    return static_cast<int>(std::min<int64_t>(warps, 32)) * wb::kWarpSize;
}

void add_norm(const AddNorm& call, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    check_add_norm(call);
    add_norm_kernel<<<1, threads_of(call.width), 0, stream>>>(call);
    CUDA_CHECK_LAUNCH();
}
// #endregion add-norm
// #solution

static void decode_step_v1(Step& step) {
    unfused_step(step);
}
WB_RUNG(decode_step, decode_step_v1, "each operation by itself");

// #region v2
/// Two neighbours are one launch: the sum and the norm behind it.
static void decode_step_v2(Step& step) {
    step.embed();
    step.norm(0);
    for (int64_t layer = 0; layer < step.layers(); ++layer) {
        const int64_t attention = 2 * layer, mlp = attention + 1;
        step.qkv(layer);
        step.rotate_append(layer);
        step.attend(layer);
        step.out(layer);
        if (step.is_parallel())
            step.norm(mlp);
        else
            step.add_then_norm(attention, mlp);
        step.up(layer);
        step.down(layer);
        if (step.is_parallel()) step.add(attention);
        step.add_then_norm(mlp, mlp + 1);
    }
    step.logits();
    step.pick();
}
// #endregion v2
WB_RUNG(decode_step, decode_step_v2, "sum and norm fused");
// #end

// #region v3
/// And the product that gives q, k and v takes them to where attention reads them.
static void decode_step_v3(Step& step) {
    step.embed();
    step.norm(0);
    for (int64_t layer = 0; layer < step.layers(); ++layer) {
        const int64_t attention = 2 * layer, mlp = attention + 1;
        // TODO(learner): the launches of the layer, as the contract counts them. The
        // norm before attention has been computed already, here or in the layer before
        // (about 9 lines)
        // #solution
        step.qkv_append(layer);
        step.attend(layer);
        step.out(layer);
        if (step.is_parallel())
            step.norm(mlp);
        else
            step.add_then_norm(attention, mlp);
        step.up(layer);
        step.down(layer);
        if (step.is_parallel()) step.add(attention);
        step.add_then_norm(mlp, mlp + 1);
        // #end
        // #starter (void)mlp;
        // #starter WB_NOT_SOLVED();
    }
    step.logits();
    step.pick();
}
// #endregion v3
// #solution
WB_RUNG(decode_step, decode_step_v3, "and q, k, v into the cache");

#define WB_VERSION_ONLY
#include "fusion_case_study_fast.cu"
WB_RUNG(decode_step, decode_step_v4, "no norm or sum by itself");
// #end

void decode_step(Step& step) {
    decode_step_v3(step);
}
