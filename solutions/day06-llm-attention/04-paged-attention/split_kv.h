// split_kv.h: v3 and v4 of paged_attention. A block serves all query heads of a K/V
// head, so that K and V are read once; in v4 several blocks share a sequence.
#pragma once

#include "paged_attention.h"

#include <wb/check.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>
#include <wb/scratch.h>

#include <algorithm>
#include <type_traits>

namespace split_kv {

using wb::kWarpSize;

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kChunk = 16;   ///< tokens that a warp takes at once; divides every page
constexpr int kNumbers = 8;  ///< bfloat16 in 16 bytes: a lane's part of a row

/// Which query heads a block serves.
struct Heads {
    int64_t sequence;
    int64_t kv_head;
    int64_t first_row;  ///< of q and o, for the first of the heads
    int count;          ///< 1 ... H
};

/// A K/V head with a group of more than H query heads is served by several blocks, one
/// for each slice of H.
/// @param block  0 <= block < batch * kv_heads * ceil_div(query_heads / kv_heads, H)
template <int H>
__device__ Heads heads_of(const wb::PagedCache& cache,
                          int64_t query_heads,
                          int64_t block) {
    const int64_t group = query_heads / cache.kv_heads;
    const int64_t slices = (group + H - 1) / H;
    const int64_t slice = block % slices;
    Heads heads;
    heads.kv_head = block / slices % cache.kv_heads;
    heads.sequence = block / slices / cache.kv_heads;
    heads.first_row = heads.sequence * query_heads + heads.kv_head * group + slice * H;
    heads.count = static_cast<int>(min(int64_t{H}, group - slice * H));
    return heads;
}

/// Eight bfloat16 as floats.
__device__ __forceinline__ void unpack(float (&numbers)[kNumbers],
                                       const uint4& packed) {
    const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
    for (int i = 0; i < 4; ++i) {
        // A bfloat16 is the upper half of a float.
        numbers[2 * i] = __uint_as_float(words[i] << 16);
        numbers[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
}

/// What the warps of a block have found, for each of the heads.
template <int D, int H>
struct BlockState {
    float max[kWarps][H];
    float sum[kWarps][H];
    float o[kWarps][H][D];
};

// #region v3-attend
/// One warp's share of the chunks [first, last) of a sequence, for up to H query heads.
/// D / 8 lanes hold a row, so that a warp reads 4 rows of 64 or 2 of 128 at once, and
/// each of these groups of lanes sums up its own rows.
///
/// @tparam H  query heads: their queries and sums are in registers
template <int D, int H>
__device__ void attend(BlockState<D, H>& s_state,
                       const wb::PagedCache& cache,
                       const __nv_bfloat16* q,  // [heads.count, D]
                       const Heads& heads,
                       float scale,
                       int64_t length,
                       int64_t first,
                       int64_t last,
                       wb::PagedStatus* status) {
    constexpr int kLanes = D / kNumbers;       // that hold a row
    constexpr int kRows = kWarpSize / kLanes;  // that a warp reads at once
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int column = lane % kLanes * kNumbers;
    float query[H][kNumbers] = {};
    for (int h = 0; h < H; ++h) {
        if (h < heads.count)
            unpack(query[h], *reinterpret_cast<const uint4*>(q + h * D + column));
    }
    wb::OnlineSoftmax<kNumbers> state[H];
    for (int64_t chunk = first + warp; chunk < last; chunk += kWarps) {
        const int64_t token = chunk * kChunk;
        const int64_t page =
            wb::checked_page(cache, heads.sequence, token / cache.page_size, status);
        if (page < 0) continue;
        const int64_t place =
            cache.row(page, heads.kv_head, token % cache.page_size) + column;
        for (int i = lane / kLanes; i < kChunk; i += kRows) {
            const bool valid = token + i < length;
            float key[kNumbers] = {};
            float value[kNumbers] = {};
            if (valid) {
                unpack(key, *reinterpret_cast<const uint4*>(cache.k + place + i * D));
                unpack(value, *reinterpret_cast<const uint4*>(cache.v + place + i * D));
            }
            for (int h = 0; h < H; ++h) {
                float score = 0.0f;
                for (int j = 0; j < kNumbers; ++j) {
                    score += query[h][j] * key[j];
                }
                for (int step = kLanes / 2; step > 0; step /= 2) {
                    score += __shfl_xor_sync(0xffffffffu, score, step);
                }
                if (valid) state[h].add(scale * score, value);
            }
        }
    }
    // The groups of lanes become one.
    for (int h = 0; h < H; ++h) {
        for (int step = kLanes; step < kWarpSize; step *= 2) {
            float its_o[kNumbers];
            for (int j = 0; j < kNumbers; ++j) {
                its_o[j] = __shfl_xor_sync(0xffffffffu, state[h].o[j], step);
            }
            const float its_max = __shfl_xor_sync(0xffffffffu, state[h].max, step);
            const float its_sum = __shfl_xor_sync(0xffffffffu, state[h].sum, step);
            state[h].merge(its_max, its_sum, its_o);
        }
        if (lane >= kLanes) continue;
        if (lane == 0) {
            s_state.max[warp][h] = state[h].max;
            s_state.sum[warp][h] = state[h].sum;
        }
        for (int j = 0; j < kNumbers; ++j) {
            s_state.o[warp][h][column + j] = state[h].o[j];
        }
    }
    __syncthreads();
}
// #endregion v3-attend

/// What all warps found about dimension d of head h.
template <int D, int H>
__device__ wb::OnlineSoftmax<1> merge_warps(const BlockState<D, H>& s_state,
                                            int h,
                                            int d) {
    wb::OnlineSoftmax<1> state;
    for (int warp = 0; warp < kWarps; ++warp) {
        const float its_o[1] = {s_state.o[warp][h][d]};
        state.merge(s_state.max[warp][h], s_state.sum[warp][h], its_o);
    }
    return state;
}

// #region v3-kernel
/// paged_attention_v3: a block for each sequence and K/V head.
///
/// @tparam D  cache.head_dim
/// @tparam H  query heads that a block serves at most: 1, 2, 4 or 8
///
/// Launch   grid batch * kv_heads * slices, block kThreads, static shared memory of
///          kWarps * H * (D + 2) floats
template <int D, int H>
__global__ void __launch_bounds__(kThreads)
    paged_attention_v3_kernel(const wb::PagedCache cache,
                              const __nv_bfloat16* q,  // [batch, Hq, D]
                              __nv_bfloat16* o,        // [batch, Hq, D]
                              float* lse,              // [batch, Hq] or null
                              int64_t query_heads,
                              float scale,
                              wb::PagedStatus* status) {
    __shared__ BlockState<D, H> s_state;
    const Heads heads = heads_of<H>(cache, query_heads, blockIdx.x);
    const int64_t length = wb::checked_length(cache, heads.sequence, status);
    const int64_t chunks = (length + kChunk - 1) / kChunk;
    attend(s_state,
           cache,
           q + heads.first_row * D,
           heads,
           scale,
           length,
           0,
           chunks,
           status);
    for (int i = threadIdx.x; i < heads.count * D; i += kThreads) {
        const auto state = merge_warps(s_state, i / D, i % D);
        o[heads.first_row * D + i] = __float2bfloat16(state.o[0] * state.scale());
        if (lse != nullptr && i % D == 0)
            lse[heads.first_row + i / D] = state.log_sum_exp();
    }
}
// #endregion v3-kernel

// #region v4-kernels
/// paged_attention_v4, first kernel: each block takes one of `splits` parts of a
/// sequence. A part without tokens, because the sequence is short, is (-inf, 0, 0).
///
/// Launch   grid batch * kv_heads * slices * splits, block kThreads
template <int D, int H>
__global__ void __launch_bounds__(kThreads)
    paged_attention_v4_parts_kernel(const wb::PagedCache cache,
                                    const __nv_bfloat16* q,  // [batch, Hq, D]
                                    float* part_o,           // [batch, Hq, splits, D]
                                    float2* part_max_sum,    // [batch, Hq, splits]
                                    int64_t query_heads,
                                    int splits,
                                    float scale,
                                    wb::PagedStatus* status) {
    __shared__ BlockState<D, H> s_state;
    const int split = static_cast<int>(blockIdx.x % splits);
    const Heads heads = heads_of<H>(cache, query_heads, blockIdx.x / splits);
    const int64_t length = wb::checked_length(cache, heads.sequence, status);
    const int64_t chunks = (length + kChunk - 1) / kChunk;
    attend(s_state,
           cache,
           q + heads.first_row * D,
           heads,
           scale,
           length,
           chunks * split / splits,
           chunks * (split + 1) / splits,
           status);
    for (int i = threadIdx.x; i < heads.count * D; i += kThreads) {
        const auto state = merge_warps(s_state, i / D, i % D);
        const int64_t part = (heads.first_row + i / D) * splits + split;
        part_o[part * D + i % D] = state.o[0];
        if (i % D == 0) part_max_sum[part] = {state.max, state.sum};
    }
}

/// paged_attention_v4, second kernel: a thread for each number of o.
///
/// Launch   grid batch * query_heads, block D
template <int D>
__global__ void paged_attention_v4_merge_kernel(
    const float* part_o,         // [batch, Hq, splits, D]
    const float2* part_max_sum,  // [batch, Hq, splits]
    int splits,
    __nv_bfloat16* o,  // [batch, Hq, D]
    float* lse) {      // [batch, Hq] or null
    const int64_t row = blockIdx.x;
    const int d = threadIdx.x;
    wb::OnlineSoftmax<1> state;
    for (int64_t part = row * splits; part < (row + 1) * splits; ++part) {
        const float2 max_sum = part_max_sum[part];
        const float its_o[1] = {part_o[part * D + d]};
        state.merge(max_sum.x, max_sum.y, its_o);
    }
    o[row * D + d] = __float2bfloat16(state.o[0] * state.scale());
    if (lse != nullptr && d == 0) lse[row] = state.log_sum_exp();
}
// #endregion v4-kernels

/// The arguments of one call.
struct Call {
    const wb::PagedCache& cache;
    const __nv_bfloat16* q;
    __nv_bfloat16* o;
    float* lse;
    int64_t query_heads;
    float scale;
    wb::PagedStatus* status;
    cudaStream_t stream;

    /// Blocks that serve one part of each sequence.
    int64_t blocks(int H) const {
        return cache.batch * cache.kv_heads *
               wb::ceil_div(query_heads / cache.kv_heads, int64_t{H});
    }
};

template <int D, int H>
void launch_v3(const Call& call) {
    paged_attention_v3_kernel<D, H>
        <<<wb::grid_size(call.blocks(H), 1), kThreads, 0, call.stream>>>(
            call.cache,
            call.q,
            call.o,
            call.lse,
            call.query_heads,
            call.scale,
            call.status);
    CUDA_CHECK_LAUNCH();
}

/// As many parts as give every multiprocessor four blocks, but none of fewer chunks
/// than a block has warps. The host knows how long a sequence may be, not how long it
/// is: that is in device memory.
inline int num_splits(const Call& call, int64_t blocks) {
    int device = 0;
    int multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(
        &multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int64_t wanted = wb::ceil_div(int64_t{4} * multiprocessors, blocks);
    const int64_t most = wb::ceil_div(call.cache.capacity(), int64_t{kWarps * kChunk});
    return static_cast<int>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(most, 1)));
}

template <int D, int H>
void launch_v4(const Call& call) {
    const int64_t rows = call.cache.batch * call.query_heads;
    const int splits = num_splits(call, call.blocks(H));
    const wb::Scratch<float> part_o(rows * splits * D, call.stream);
    const wb::Scratch<float2> part_max_sum(rows * splits, call.stream);
    paged_attention_v4_parts_kernel<D, H>
        <<<wb::grid_size(call.blocks(H) * splits, 1), kThreads, 0, call.stream>>>(
            call.cache,
            call.q,
            part_o.data(),
            part_max_sum.data(),
            call.query_heads,
            splits,
            call.scale,
            call.status);
    CUDA_CHECK_LAUNCH();
    paged_attention_v4_merge_kernel<D><<<wb::grid_size(rows, 1), D, 0, call.stream>>>(
        part_o.data(), part_max_sum.data(), splits, call.o, call.lse);
    CUDA_CHECK_LAUNCH();
}

/// Calls launch with the head dimension and the smallest H that has room for the query
/// heads of a K/V head, or 8, as types: std::integral_constant.
template <class Launch>
void for_heads(const Call& call, Launch launch) {
    const auto with_dim = [&](auto dim) {
        const int64_t group = call.query_heads / call.cache.kv_heads;
        if (group == 1) return launch(dim, std::integral_constant<int, 1>{});
        if (group <= 4) return launch(dim, std::integral_constant<int, 4>{});
        launch(dim, std::integral_constant<int, 8>{});
    };
    if (call.cache.head_dim == 64) return with_dim(std::integral_constant<int, 64>{});
    with_dim(std::integral_constant<int, 128>{});
}

}  // namespace split_kv

static void paged_attention_v3(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    const split_kv::Call call{
        cache, q, o, lse, query_heads, scale, workspace.status(), stream};
    split_kv::for_heads(call, [&](auto dim, auto heads) {
        split_kv::launch_v3<decltype(dim)::value, decltype(heads)::value>(call);
    });
}

static void paged_attention_v4(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    const split_kv::Call call{
        cache, q, o, lse, query_heads, scale, workspace.status(), stream};
    split_kv::for_heads(call, [&](auto dim, auto heads) {
        split_kv::launch_v4<decltype(dim)::value, decltype(heads)::value>(call);
    });
}
