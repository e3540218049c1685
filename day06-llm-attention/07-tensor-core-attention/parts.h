// parts.h: given with this exercise: runs the functions of v2 one at a time, so that
// each of them is graded by itself. Included below them.
#pragma once

#include <wb/check.h>

#include "tiles.h"

/// Columns of q, k and v here.
inline constexpr int kPartDim = 64;

/// Rows to shared memory, by one warp.
template <int kRows>
__device__ void load_part(char* s_rows, const __half* g) {
    using Rows = PlainRows<kPartDim>;
    constexpr int kChunks = kPartDim / kChunk;
    for (int e = threadIdx.x; e < kRows * kChunks; e += wb::kWarpSize)
        *reinterpret_cast<uint4*>(s_rows + Rows::offset(e / kChunks, e % kChunks)) =
            *reinterpret_cast<const uint4*>(g + e * kChunk);
}

/// Which row and column each element of each lane's accumulator is.
///
/// Launch   one warp, as all of these
__global__ void fragment_places_kernel(int2* places) {  // [32, 4]
    const int lane = threadIdx.x;
    for (int e = 0; e < 4; ++e)
        places[lane * 4 + e] =
            make_int2(fragment_row(lane, e), fragment_column(lane, e));
}

/// The registers that as_factor makes of two accumulators.
__global__ void as_factor_kernel(const float* left,   // [32, 4] lane by lane
                                 const float* right,  // the same
                                 uint32_t* a) {       // the same
    const int lane = threadIdx.x;
    float r_left[4];
    float r_right[4];
    for (int e = 0; e < 4; ++e) {
        r_left[e] = left[lane * 4 + e];
        r_right[e] = right[lane * 4 + e];
    }
    uint32_t r_a[4] = {};
    as_factor<__half>(r_a, r_left, r_right);
    for (int i = 0; i < 4; ++i)
        a[lane * 4 + i] = r_a[i];
}

/// The scores that quarter_row and score_keys make of 16 queries and BN keys.
__global__ void score_keys_kernel(const __half* q,  // [16, kPartDim]
                                  const __half* k,  // [BN, kPartDim]
                                  float* s) {       // [BN / 8, 32, 4] lane by lane
    using Rows = PlainRows<kPartDim>;
    __shared__ uint4 s_q[kTile * Rows::kBytes / 16];
    __shared__ uint4 s_k[BN * Rows::kBytes / 16];
    load_part<kTile>(reinterpret_cast<char*>(s_q), q);
    load_part<BN>(reinterpret_cast<char*>(s_k), k);
    __syncwarp();
    float r_s[BN / 8][4];
    score_keys<__half, kPartDim, Rows>(r_s,
                                       reinterpret_cast<const char*>(s_q),
                                       reinterpret_cast<const char*>(s_k),
                                       threadIdx.x);
    for (int n = 0; n < BN / 8; ++n)
        for (int e = 0; e < 4; ++e)
            s[(n * wb::kWarpSize + threadIdx.x) * 4 + e] = r_s[n][e];
}

/// What as_factor, quarter_row and add_values make of 16 rows of weights and BN values.
__global__ void add_values_kernel(const float* weights,  // [BN / 8, 32, 4]
                                  const __half* v,       // [BN, kPartDim]
                                  float* o) {            // [kPartDim / 8, 32, 4]
    using Rows = PlainRows<kPartDim>;
    __shared__ uint4 s_v[BN * Rows::kBytes / 16];
    load_part<BN>(reinterpret_cast<char*>(s_v), v);
    __syncwarp();
    float r_weights[BN / 8][4];
    for (int n = 0; n < BN / 8; ++n)
        for (int e = 0; e < 4; ++e)
            r_weights[n][e] = weights[(n * wb::kWarpSize + threadIdx.x) * 4 + e];
    float r_o[kPartDim / 8][4] = {};
    add_values<__half, kPartDim, Rows>(
        r_o, r_weights, reinterpret_cast<const char*>(s_v), threadIdx.x);
    for (int n = 0; n < kPartDim / 8; ++n)
        for (int e = 0; e < 4; ++e)
            o[(n * wb::kWarpSize + threadIdx.x) * 4 + e] = r_o[n][e];
}
