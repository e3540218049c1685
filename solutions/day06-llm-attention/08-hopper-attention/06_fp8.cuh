// 06_fp8.cuh: v6: the loop of v2 in the kernel of v5, on e4m3 numbers, which tensor
// cores multiply twice as fast: kernel and launch. What limits it:
// three warpgroups that wait for products and exponentials in turn; see the lesson.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/scratch.h>

#include <cstdint>

#include "05_persistent.cuh"
#include "06_rounding.cuh"
#include "tiles.h"
#include "warpgroups.h"

/// Weights are 2^8 times as large as they would be: up to 256, of the 448 that there
/// are. The smallest one that is not lost is then 2^-17 of the largest, and not 2^-9.
inline constexpr int kWeightShift = 8;

/// What the numbers were divided by.
struct Fp8Scales {
    const float* q;  ///< [heads, blocks of 64 queries]
    const float* k;  ///< [kv_heads, blocks of 128 keys]
    const float* v;  ///< [kv_heads]
    int q_blocks;
    int k_blocks;
};

// #region products
/// Starts sums = P V of one block, V transposed: D rows of 128 keys, 32 keys at a time.
__device__ __forceinline__ void start_output_fp8(float (&sums)[64],
                                                 const uint32_t (&p)[4][4],
                                                 const unsigned char* v) {
    using namespace wb::ptx;
    const uint64_t v_tile = wgmma_descriptor(shared_address(v));
#pragma unroll
    for (int i = 0; i < 4; ++i)
        wgmma<__nv_fp8_e4m3>(sums, p[i], v_tile + i * 32 / 16, i > 0);
}

/// O = O * factor + sums, in float: tensor cores keep 14 bits of a sum of e4m3
/// products, and of many keys none would count any more. In each fragment of O,
/// elements 0 and 1 are of the upper row, 2 and 3 of the lower one.
__device__ __forceinline__ void add_block(float (&o)[64],
                                          const float (&factor)[2],
                                          const float (&sums)[64]) {
#pragma unroll
    for (int i = 0; i < 64; ++i)
        o[i] = fmaf(o[i], factor[i / 2 % 2], sums[i]);
}

/// Weights as the left operand: registers 0 and 2 are of the upper row, 1 and 3 of the
/// lower one, each of 16 keys (transpose_values_kernel says in which order).
__device__ __forceinline__ void pack_weights_fp8(uint32_t (&p)[4][4],
                                                 const float (&s)[64]) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int e = i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2;
        p[i / 4][i % 4] = pack_fp8(s[e], s[e + 1], s[e + 4], s[e + 5]);
    }
}
// #endregion products

/// Has the tiles of one tile of rows copied. By one warp.
__device__ __forceinline__ void produce_fp8(
    const Copies<SizesFp8, Source::dense>& copy,
    const TileWork& work,
    PipelineState<SizesFp8::kStages>& stage,
    PipelineState<SizesFp8::kQueryStages>& q_stage) {
    copy.queries(work, q_stage);
    q_stage.advance();
    for (int block = work.blocks - 1; block >= 0; --block) {
        copy.keys(work, block, stage);
        wb::ptx::mbarrier_wait(&copy.shared.v_empty[stage.stage], stage.parity ^ 1);
        __syncwarp();  // a lane that is late would miss this phase
        if (threadIdx.x == 0) {
            wb::ptx::Mbarrier* const full = &copy.shared.v_full[stage.stage];
            wb::ptx::mbarrier_expect(full, SizesFp8::kKeyBytes);
            wb::ptx::tma_load(copy.shared.v[stage.stage],
                              &copy.maps.v,
                              full,
                              block * SizesFp8::BN,
                              0,
                              work.kv_head,
                              work.sequence);
        }
        stage.advance();
    }
}

// #region consumer
/// The work of one warpgroup for one tile; parameters as for Consumer::tile.
__device__ __forceinline__ void consume_fp8(
    SharedTiles<SizesFp8>& shared,
    const Problem& problem,
    const Fp8Scales& scales,
    const TileWork& work,
    int group,
    PipelineState<SizesFp8::kStages>& stage,
    PipelineState<SizesFp8::kQueryStages> q_stage) {
    using namespace wb::ptx;
    float s[SizesFp8::BN / 2];
    uint32_t p[SizesFp8::BN / 32][4];
    float o[SizesFp8::D / 2] = {};
    float factor[2];
    RowSums rows;
    const Limits limits = limits_of(problem, work, group);
    const unsigned char* const q =
        shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
    const int blocks =
        skip_unseen_blocks<SizesFp8>(shared, problem, work, group, stage);
    const int head = work.sequence * problem.query_heads + work.head;
    const int kv_head = head / problem.group;
    // Rows past the end have no scale of their own, and need none.
    const int q_block = min(work.row / kGroupRows + group, scales.q_blocks - 1);
    const float q_scale =
        problem.scale_log2 * scales.q[int64_t{head} * scales.q_blocks + q_block];
    mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
    for (int block = blocks - 1; block >= 0; --block) {
        // Not 0, which times the -infinity of a masked key is NaN.
        const float scale = fmaxf(
            q_scale * scales.k[int64_t{kv_head} * scales.k_blocks + block], 0x1p-149f);
        mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
        wgmma_fence();
        start_scores<SizesFp8>(s, q, shared.k[stage.stage]);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(s);
        release(&shared.k_empty[stage.stage]);

        mask_block(s, block, limits);
        softmax_step<kWeightShift>(s, scale, rows, factor);
        pack_weights_fp8(p, s);

        // The scores are used up: the block's sums take their registers.
        mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
        wgmma_fence();
        start_output_fp8(s, p, shared.v[stage.stage]);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(s);
        release(&shared.v_empty[stage.stage]);
        add_block(o, factor, s);
        stage.advance();
    }
    release_together(&shared.q_empty[q_stage.stage], group);
    const float v_scale = scales.v[kv_head];
    for (float& x : o)
        x *= v_scale;
    for (float& reference : rows.reference)
        reference -= kWeightShift;
    store_rows<TileSizes<__nv_bfloat16, kTilingFp8>>(problem, work, group, o, rows);
}
// #endregion consumer

// #region kernel
/// hopper_attention_v6.
///
/// Launch   as hopper_attention_v5_kernel, for SizesFp8
__global__ void __launch_bounds__(SizesFp8::kThreads, 1)
    hopper_attention_v6_kernel(const __grid_constant__ TensorMaps maps,
                               const __grid_constant__ Problem problem,
                               const __grid_constant__ Fp8Scales scales) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<SizesFp8>& shared = shared_tiles<SizesFp8>(s_dynamic);
    make_barriers(shared);
    const int group = consumer_group();
    Schedule<SizesFp8, Source::dense> schedule{shared, problem, {}};
    PipelineState<SizesFp8::kStages> stage;
    PipelineState<SizesFp8::kQueryStages> q_stage;
    if (group < 0) {
        wb::ptx::registers_give_back<SizesFp8::kProducerRegisters>();
        if (threadIdx.x >= wb::kWarpSize) return;
        for (TileWork work = schedule.take(); work.blocks > 0; work = schedule.take()) {
            produce_fp8({shared, maps, problem}, work, stage, q_stage);
        }
    } else {
        wb::ptx::registers_take<SizesFp8::kConsumerRegisters>();
        while (true) {
            const TileWork& work = schedule.receive();
            if (work.blocks == 0) return;
            consume_fp8(shared, problem, scales, work, group, stage, q_stage);
            schedule.finish();
            q_stage.advance();
        }
    }
}
// #endregion kernel

// #region launch
/// @param call  of bf16 tensors
inline void hopper_attention_v6(const wb::AttentionShape& shape, Call call) {
    const Fp8Inputs inputs(shape, call.stream);
    quantize(shape, call, inputs);

    // The same tensors, a byte a number; the values transposed.
    constexpr int64_t D = SizesFp8::D;
    call.q.base = inputs.q.data();
    call.k.base = inputs.k.data();
    call.v =
        wb::dense_rows(inputs.v.data(), shape.batch, shape.kv_heads, D, inputs.padded);
    const Fp8Scales scales{inputs.q_scales.data(),
                           inputs.k_scales.data(),
                           inputs.v_scales.data(),
                           inputs.q_blocks,
                           inputs.k_blocks};
    const wb::Scratch<unsigned> counter(1, call.stream);
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), call.stream));
    launch_tiles<SizesFp8>(hopper_attention_v6_kernel,
                           SizesFp8::kThreads,
                           static_cast<unsigned>(wb::multiprocessors()),
                           call,
                           counter.data(),
                           scales);
}
// #endregion launch
