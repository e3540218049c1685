// group.cuh: given to the second stage: which query heads a block serves, and what its
// warps have found. A block serves all query heads of a K/V head, so that K and V are
// read once.
#pragma once

#include "paged_attention.h"

#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

#include <cstdint>
#include <type_traits>

using wb::kWarpSize;

constexpr int kPartWarps = 8;
constexpr int kPartThreads = kPartWarps * kWarpSize;
constexpr int kChunk = 16;   ///< tokens that a warp takes at once; divides every page
constexpr int kNumbers = 8;  ///< bfloat16 in 16 bytes: a lane's part of a row

// #region heads
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
// #endregion heads

// #region unpack
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
// #endregion unpack

// #region block-state
/// What the warps of a block have found, for each of the heads.
template <int D, int H>
struct BlockState {
    float max[kPartWarps][H];
    float sum[kPartWarps][H];
    float o[kPartWarps][H][D];
};

/// What all warps found about dimension d of head h.
template <int D, int H>
__device__ wb::OnlineSoftmax<1> merge_warps(const BlockState<D, H>& s_state,
                                            int h,
                                            int d) {
    wb::OnlineSoftmax<1> state;
    for (int warp = 0; warp < kPartWarps; ++warp) {
        const float its_o[1] = {s_state.o[warp][h][d]};
        state.merge(s_state.max[warp][h], s_state.sum[warp][h], its_o);
    }
    return state;
}
// #endregion block-state

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
