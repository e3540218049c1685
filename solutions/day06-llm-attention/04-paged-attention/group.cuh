// group.cuh: what v3 and v4 of paged_attention have in common. A block serves all query
// heads of a K/V head, so that K and V are read once.
#pragma once

#include "paged_attention.h"

#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

#include <cstdint>
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

/// Calls launch with the head dimension and the smallest H that has room for the query
/// heads of a K/V head, or 8, as types: std::integral_constant.
template <class Launch>
void for_heads(const Call& call, Launch launch) {
    wb::with_head_dim<64, 128>(call.cache.head_dim, [&](auto dim) {
        const int64_t group = call.query_heads / call.cache.kv_heads;
        if (group == 1) return launch(dim, std::integral_constant<int, 1>{});
        if (group <= 4) return launch(dim, std::integral_constant<int, 4>{});
        launch(dim, std::integral_constant<int, 8>{});
    });
}

}  // namespace split_kv
