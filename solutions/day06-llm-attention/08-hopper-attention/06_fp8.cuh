// 06_fp8.cuh: v6: the loop of v2 in the kernel of v5, on e4m3 numbers, which tensor
// cores multiply twice as fast: rounding of the inputs, kernel, launch. What limits it:
// we have not profiled it; see the lesson.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cstdint>

#include "05_persistent.cuh"
#include "tiles.h"
#include "warpgroups.h"

/// One panel of 128 columns is a row of q and k, and 128 keys are a row of v
/// transposed.
inline constexpr Tiling kTilingFp8 = {.head_dim = 128,
                                      .block_rows = 192,
                                      .block_keys = 128,
                                      .stages = 4,
                                      .query_stages = 2};
using SizesFp8 = TileSizes<__nv_fp8_e4m3, kTilingFp8>;
static_assert(SizesFp8::BN == SizesFp8::D, "copies of k and of v have as many rows");

/// The largest e4m3 number.
inline constexpr float kLargestE4m3 = 448.0f;

/// Threads of a block of the kernels below.
inline constexpr int kQuantizeThreads = 256;

/// What to divide by, so that the largest number becomes the largest e4m3 number.
__device__ __forceinline__ float scale_of(float largest) {
    return largest > 0.0f ? largest / kLargestE4m3 : 1.0f;
}

/// The largest absolute value among those of a block of threads. All get it.
__device__ __forceinline__ float block_largest(float value) {
    __shared__ float s_largest[kQuantizeThreads / wb::kWarpSize];
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2)
        value = fmaxf(value, __shfl_xor_sync(wb::kAllLanes, value, other));
    if (threadIdx.x % wb::kWarpSize == 0)
        s_largest[threadIdx.x / wb::kWarpSize] = value;
    __syncthreads();
    for (const float other : s_largest)
        value = fmaxf(value, other);
    return value;
}

// #region rows
/// Rounds kRows rows of one head to e4m3, with one scale.
///
/// Launch   grid (blocks of rows, heads), block kQuantizeThreads
/// Bytes    3 a number, the second reading from the cache
template <int kRows, int kDim>
__global__ void quantize_rows_kernel(const __nv_bfloat16* x,  // [heads, rows, kDim]
                                     __nv_fp8_e4m3* y,        // [heads, rows, kDim]
                                     float* scales,           // [heads, blocks of rows]
                                     int rows) {
    const int64_t head = blockIdx.y;
    const int first = static_cast<int>(blockIdx.x) * kRows;
    const int count = min(kRows, rows - first) * kDim;
    x += (head * rows + first) * kDim;
    y += (head * rows + first) * kDim;
    float largest = 0.0f;
    for (int i = threadIdx.x; i < count; i += kQuantizeThreads)
        largest = fmaxf(largest, fabsf(__bfloat162float(x[i])));
    const float scale = scale_of(block_largest(largest));
    for (int i = threadIdx.x; i < count; i += kQuantizeThreads)
        y[i] = __nv_fp8_e4m3(__bfloat162float(x[i]) / scale);
    if (threadIdx.x == 0) scales[head * gridDim.x + blockIdx.x] = scale;
}
// #endregion rows

/// The largest absolute value of each head, as the bits of a float, which are ordered
/// as floats are. `largest` is 0 before.
///
/// Launch   grid (any, heads), block kQuantizeThreads
__global__ void largest_of_head_kernel(const __nv_bfloat16* x,  // [heads, count]
                                       unsigned* largest,       // [heads]
                                       int64_t count) {
    x += blockIdx.y * count;
    float value = 0.0f;
    const int64_t stride = int64_t{gridDim.x} * kQuantizeThreads;
    for (int64_t i = int64_t{blockIdx.x} * kQuantizeThreads + threadIdx.x; i < count;
         i += stride)
        value = fmaxf(value, fabsf(__bfloat162float(x[i])));
    value = block_largest(value);
    if (threadIdx.x == 0) atomicMax(&largest[blockIdx.y], __float_as_uint(value));
}

// #region transpose
/// Transposes the values of a head, and rounds them to e4m3: of 8-bit types, wgmma
/// takes no matrix whose rows run along N.
///
/// Each 16 keys are permuted as the weights are: a thread has, of 16 columns of scores,
/// numbers 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 (t = lane % 4), and as an operand they
/// count as columns 4 t to 4 t + 3. It does not matter which key is which, as long as
/// weights and values agree.
///
/// Launch   grid (padded / 16, heads), block kDim
template <int kDim>
__global__ void transpose_values_kernel(const __nv_bfloat16* v,   // [heads, keys, kDim]
                                        const unsigned* largest,  // [heads]
                                        uint4* y,       // [heads, kDim, padded / 16]
                                        float* scales,  // [heads]
                                        int keys) {
    const int64_t head = blockIdx.y;
    const int dim = threadIdx.x;
    const float scale = scale_of(__uint_as_float(largest[head]));
    unsigned words[4] = {};
    for (int place = 0; place < 16; ++place) {
        const int t = place / 4;
        const int key =
            static_cast<int>(blockIdx.x) * 16 + 2 * t + place % 2 + place % 4 / 2 * 8;
        float value = 0.0f;
        if (key < keys) value = __bfloat162float(v[(head * keys + key) * kDim + dim]);
        const __nv_fp8_e4m3 rounded(value / scale);
        words[t] |= static_cast<unsigned>(rounded.__x) << (place % 4 * 8);
    }
    y[(head * kDim + dim) * gridDim.x + blockIdx.x] =
        make_uint4(words[0], words[1], words[2], words[3]);
    if (blockIdx.x == 0 && dim == 0) scales[head] = scale;
}
// #endregion transpose

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

/// Four weights, rounded, in one register.
__device__ __forceinline__ uint32_t pack_fp8(float a, float b, float c, float d) {
    const unsigned low =
        __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3);
    const unsigned high =
        __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, __NV_E4M3);
    return low | high << 16;
}

// #region products
/// Starts O = P V, or O += P V, V transposed: D rows of 128 keys, 32 keys at a time.
__device__ __forceinline__ void start_output_fp8(float (&o)[64],
                                                 const uint32_t (&p)[4][4],
                                                 const unsigned char* v,
                                                 bool accumulate) {
    using namespace wb::ptx;
    const uint64_t v_tile = wgmma_descriptor(shared_address(v));
#pragma unroll
    for (int i = 0; i < 4; ++i)
        wgmma<__nv_fp8_e4m3>(o, p[i], v_tile + i * 32 / 16, i > 0 || accumulate);
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
    float o[SizesFp8::D / 2];
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
        const float scale =
            q_scale * scales.k[int64_t{kv_head} * scales.k_blocks + block];
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
        const bool first = block == blocks - 1;
        if (!first) rescale(o, factor);

        mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
        wgmma_fence();
        start_output_fp8(o, p, shared.v[stage.stage], !first);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(o);
        release(&shared.v_empty[stage.stage]);
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

/// The inputs in e4m3, with their scales, for one call.
struct Fp8Inputs {
    int64_t heads, kv_heads;  ///< of all sequences
    int q_blocks, k_blocks;
    int64_t padded;  ///< keys, rounded up to whole groups of 16
    wb::Scratch<__nv_fp8_e4m3> q, k, v;
    wb::Scratch<float> q_scales, k_scales, v_scales;
    wb::Scratch<unsigned> largest;

    explicit Fp8Inputs(const wb::AttentionShape& shape, cudaStream_t stream)
        : heads(shape.batch * shape.query_heads),
          kv_heads(shape.batch * shape.kv_heads),
          q_blocks(static_cast<int>(wb::ceil_div<int64_t>(shape.queries, kGroupRows))),
          k_blocks(static_cast<int>(wb::ceil_div<int64_t>(shape.keys, SizesFp8::BN))),
          padded(wb::ceil_div<int64_t>(shape.keys, 16) * 16),
          q(shape.query_elements(), stream),
          k(shape.kv_elements(), stream),
          v(kv_heads * padded * SizesFp8::D, stream),
          q_scales(heads * q_blocks, stream),
          k_scales(kv_heads * k_blocks, stream),
          v_scales(kv_heads, stream),
          largest(kv_heads, stream) {}
};

// #region quantize
/// Rounds q, k and v, and transposes v.
inline void quantize(const wb::AttentionShape& shape,
                     const Call& call,
                     const Fp8Inputs& to) {
    const cudaStream_t stream = call.stream;
    constexpr int kDim = SizesFp8::D;
    const auto grid = [](int64_t blocks, int64_t heads) {
        return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(heads));
    };
    const auto of = [](const wb::AttentionRows& rows) {
        return static_cast<const __nv_bfloat16*>(rows.base);
    };
    const int queries = static_cast<int>(shape.queries);
    const int keys = static_cast<int>(shape.keys);
    quantize_rows_kernel<kGroupRows, kDim>
        <<<grid(to.q_blocks, to.heads), kQuantizeThreads, 0, stream>>>(
            of(call.q), to.q.data(), to.q_scales.data(), queries);
    CUDA_CHECK_LAUNCH();
    quantize_rows_kernel<SizesFp8::BN, kDim>
        <<<grid(to.k_blocks, to.kv_heads), kQuantizeThreads, 0, stream>>>(
            of(call.k), to.k.data(), to.k_scales.data(), keys);
    CUDA_CHECK_LAUNCH();
    const auto bytes = static_cast<size_t>(to.kv_heads) * sizeof(unsigned);
    CUDA_CHECK(cudaMemsetAsync(to.largest.data(), 0, bytes, stream));
    largest_of_head_kernel<<<grid(wb::ceil_div(keys, 256), to.kv_heads),
                             kQuantizeThreads,
                             0,
                             stream>>>(
        of(call.v), to.largest.data(), shape.keys * kDim);
    CUDA_CHECK_LAUNCH();
    transpose_values_kernel<kDim>
        <<<grid(to.padded / 16, to.kv_heads), kDim, 0, stream>>>(
            of(call.v),
            to.largest.data(),
            reinterpret_cast<uint4*>(to.v.data()),
            to.v_scales.data(),
            keys);
    CUDA_CHECK_LAUNCH();
}
// #endregion quantize

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
