// register_tiles.h: the pieces of v3, v4 and v5. Two matrix products follow each other,
// and both are done as a fast SGEMM does it: operands in shared memory, read four
// floats at a time, and a tile of results in the registers of each thread.
#pragma once

#include <wb/attention.h>
#include <wb/launch.h>
#include <wb/ptx/exp2.h>

#include <cmath>

// #region tile
/// The shape of a block's work: BM rows, in steps of BN keys.
///
/// kLanes neighbouring lanes share TM rows, which are kRowStep apart. Of each row, a
/// lane has the scores of TN keys, kLanes apart, and TD columns of the output:
///
///     lane 0   1   2  ...  7 | 0   1 ...         kLanes = 8, BN = 64: TN = 8
///     key  0   1   2  ...  7   8   9 ...  63
///
/// @tparam D       head dimension
/// @tparam BM      rows of a block
/// @tparam BN      keys of a step
/// @tparam kLanes  lanes that share a row
/// @tparam kPairs  v5: neighbouring lanes have the same keys, and rows that are
///                 neighbours; otherwise they have neighbouring keys of the same row
template <int D_, int BM_, int BN_, int kLanes_, bool kPairs = false>
struct Tile {
    static constexpr int D = D_;
    static constexpr int BM = BM_;
    static constexpr int BN = BN_;
    static constexpr int kLanes = kLanes_;
    static constexpr int TM = 8;
    static constexpr int TN = BN / kLanes;
    static constexpr int TD = D / kLanes;
    static constexpr int kThreads = BM / TM * kLanes;
    static constexpr int kRowStep = wb::kWarpSize / kLanes;
    /// From a lane to the next that shares its rows.
    static constexpr int kLaneStep = kPairs ? 2 : 1;
    /// Floats from row to row in shared memory. With D itself, the same column of eight
    /// rows would lie in the same four banks; with 4 more, in all 32.
    static constexpr int kStride = D + 4;
    /// The same for weights. In pairs, eight lanes store four vectors of each of two
    /// rows: these have to be 16 banks apart.
    static constexpr int kStrideP = BN + (kPairs ? 16 : 4);
    static constexpr int kFloatsQ = BM * kStride;
    static constexpr int kFloatsK = BN * kStride;
    static constexpr int kFloatsV = BN * D;
    static constexpr int kFloatsP = BM * kStrideP;
    static constexpr size_t kBytes =
        sizeof(float) * (kFloatsQ + kFloatsK + kFloatsV + kFloatsP);
    /// Keys that are written to and read from shared memory at once.
    static constexpr int kVector = TN < 4 ? TN : 4;
    static_assert(TD % 4 == 0, "columns of the output are read and written by fours");
    static_assert(TN % kVector == 0 && kVector >= 2, "weights are stored by vectors");
    static_assert(BN * D / 4 % kThreads == 0, "each thread copies as many float4");
    static_assert(kThreads * 4 % D == 0, "a step of the copy is whole rows");
};

/// A block's dynamic shared memory, and where this thread stands.
template <class T>
struct Workspace {
    float* s_q;  // [BM, kStride]
    float* s_k;  // [BN, kStride]
    float* s_v;  // [BN, D]
    float* s_p;  // [BM, kStrideP] weights, in an order of keys that suits the reader
    int row;     // the first of this thread's TM rows, kRowStep apart
    int col;     // [0, kLanes)

    __device__ explicit Workspace(float4* shared)
        : s_q(reinterpret_cast<float*>(shared)),
          s_k(s_q + T::kFloatsQ),
          s_v(s_k + T::kFloatsK),
          s_p(s_v + T::kFloatsV) {
        const int lane = threadIdx.x % wb::kWarpSize;
        const int warp = threadIdx.x / wb::kWarpSize;
        // Without kPairs: lane % kLaneStep is 0, and the rest is lane / kLanes.
        const int row_in_warp =
            lane % T::kLaneStep + lane / (T::kLaneStep * T::kLanes) * T::kLaneStep;
        row = warp * T::kRowStep * T::TM + row_in_warp;
        col = lane / T::kLaneStep % T::kLanes;
    }
};
// #endregion tile

/// Copies kCount floats, 2 or 4, in one access.
template <int kCount>
__device__ __forceinline__ void copy_vector(float* to, const float* from) {
    if constexpr (kCount == 4) {
        *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
    } else {
        static_assert(kCount == 2, "a float2 or a float4");
        *reinterpret_cast<float2*>(to) = *reinterpret_cast<const float2*>(from);
    }
}

// #region load-queries
/// The block's rows of q, times the scale, to shared memory; zeros past the last row.
template <class T>
__device__ __forceinline__ void load_queries(float* s_q,      // [BM, kStride]
                                             const float* q,  // [rows, D]
                                             int rows,        // that are left
                                             float scale) {
    for (int e = threadIdx.x; e < T::BM * T::D / 4; e += T::kThreads) {
        const int r = e / (T::D / 4);
        const int c = e % (T::D / 4) * 4;
        float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (r < rows) x = *reinterpret_cast<const float4*>(q + r * T::D + c);
        *reinterpret_cast<float4*>(s_q + r * T::kStride + c) =
            make_float4(x.x * scale, x.y * scale, x.z * scale, x.w * scale);
    }
}
// #endregion load-queries

// #region scores
/// First product: r_s[i][j] = q[row i] . k[key j], four columns at a time.
template <class T>
__device__ __forceinline__ void tile_scores(const Workspace<T>& w,
                                            float (&r_s)[T::TM][T::TN]) {
    const float* const q = w.s_q + w.row * T::kStride;
    const float* const k = w.s_k + w.col * T::kStride;
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
#pragma unroll
        for (int j = 0; j < T::TN; ++j)
            r_s[i][j] = 0.0f;
    }
#pragma unroll 2
    for (int d = 0; d < T::D; d += 4) {
        float4 r_k[T::TN];
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
            r_k[j] =
                *reinterpret_cast<const float4*>(k + j * T::kLanes * T::kStride + d);
        }
#pragma unroll
        for (int i = 0; i < T::TM; ++i) {
            const float4 r_q =
                *reinterpret_cast<const float4*>(q + i * T::kRowStep * T::kStride + d);
            // One sum after the other, not one sum at a time: the next addition to the
            // same sum comes TN instructions later, when the last has finished.
#pragma unroll
            for (int j = 0; j < T::TN; ++j)
                r_s[i][j] += r_q.x * r_k[j].x;
#pragma unroll
            for (int j = 0; j < T::TN; ++j)
                r_s[i][j] += r_q.y * r_k[j].y;
#pragma unroll
            for (int j = 0; j < T::TN; ++j)
                r_s[i][j] += r_q.z * r_k[j].z;
#pragma unroll
            for (int j = 0; j < T::TN; ++j)
                r_s[i][j] += r_q.w * r_k[j].w;
        }
    }
}
// #endregion scores

// #region mask
/// -infinity for the keys that a row does not see; only the last steps need it.
/// @param first_key  of this step
/// @param visible    keys that row w.row sees; each row below sees one more if causal
template <class T>
__device__ __forceinline__ void mask_scores(const Workspace<T>& w,
                                            float (&r_s)[T::TM][T::TN],
                                            int first_key,
                                            int visible,
                                            int keys,
                                            bool causal) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        const int limit = causal ? min(keys, visible + i * T::kRowStep) : keys;
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
            if (first_key + w.col + j * T::kLanes >= limit) r_s[i][j] = -INFINITY;
        }
    }
}
// #endregion mask

// #region softmax
/// One step of the online softmax, in powers of two: scores become weights, and what
/// has been summed up so far is rescaled to the new maximum.
///
/// @param r_max  maximum of each row, the same in all its lanes
/// @param r_sum  this lane's part of the sum; the lanes add up at the very end
template <class T>
__device__ __forceinline__ void softmax_step(float (&r_s)[T::TM][T::TN],
                                             float (&r_o)[T::TM][T::TD],
                                             float (&r_max)[T::TM],
                                             float (&r_sum)[T::TM]) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        float maximum = r_max[i];
#pragma unroll
        for (int j = 0; j < T::TN; ++j)
            maximum = fmaxf(maximum, r_s[i][j]);
#pragma unroll
        for (int other = 1; other < T::kLanes; other *= 2) {
            maximum = fmaxf(
                maximum, __shfl_xor_sync(0xFFFFFFFFu, maximum, other * T::kLaneStep));
        }
        // As long as a row has seen no key, its maximum is -infinity, and the
        // difference of two of these is no number.
        const float base = maximum == -INFINITY ? 0.0f : maximum;
        const float factor = wb::ptx::exp2_approx(r_max[i] - base);
        r_max[i] = maximum;
        r_sum[i] *= factor;
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
            r_s[i][j] = wb::ptx::exp2_approx(r_s[i][j] - base);
            r_sum[i] += r_s[i][j];
        }
#pragma unroll
        for (int c = 0; c < T::TD; ++c)
            r_o[i][c] *= factor;
    }
}
// #endregion softmax

// #region values
/// This thread's weights to shared memory, for the other lanes of its rows. The order
/// of a sum is free: what a lane has of the keys col, col + kLanes, ... stands together
/// as one vector.
template <class T>
__device__ __forceinline__ void store_weights(const Workspace<T>& w,
                                              float (&r_p)[T::TM][T::TN]) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        float* const p = w.s_p + (w.row + i * T::kRowStep) * T::kStrideP;
#pragma unroll
        for (int j = 0; j < T::TN; j += T::kVector)
            copy_vector<T::kVector>(p + j * T::kLanes + w.col * T::kVector, &r_p[i][j]);
    }
}

/// Second product: r_o[i][c] += sum over keys of weight[row i][key] * v[key][c].
template <class T>
__device__ __forceinline__ void add_values(const Workspace<T>& w,
                                           float (&r_o)[T::TM][T::TD]) {
#pragma unroll 1
    for (int group = 0; group < T::TN; group += T::kVector) {
        const float* const p = w.s_p + w.row * T::kStrideP + group * T::kLanes;
        const float* const v = w.s_v + group * T::kLanes * T::D + 4 * w.col;
#pragma unroll 2
        for (int lane = 0; lane < T::kLanes; ++lane) {  // whose weights they are
            __align__(16) float r_p[T::TM][T::kVector];
#pragma unroll
            for (int i = 0; i < T::TM; ++i) {
                copy_vector<T::kVector>(
                    r_p[i], p + i * T::kRowStep * T::kStrideP + lane * T::kVector);
            }
#pragma unroll
            for (int x = 0; x < T::kVector; ++x) {
                __align__(16) float r_v[T::TD];
#pragma unroll
                for (int c = 0; c < T::TD; c += 4) {
                    copy_vector<4>(r_v + c,
                                   v + (lane + x * T::kLanes) * T::D + c * T::kLanes);
                }
#pragma unroll
                for (int i = 0; i < T::TM; ++i) {
#pragma unroll
                    for (int c = 0; c < T::TD; ++c)
                        r_o[i][c] += r_p[i][x] * r_v[c];
                }
            }
        }
    }
}
// #endregion values

// #region store
/// The rows of the output, divided by their sums, and the log-sum-exp.
/// @param rows  that are left from the block's first on
template <class T>
__device__ __forceinline__ void store_output(const Workspace<T>& w,
                                             float (&r_o)[T::TM][T::TD],
                                             const float (&r_max)[T::TM],
                                             const float (&r_sum)[T::TM],
                                             float* o,    // [rows, D]
                                             float* lse,  // [rows] or null
                                             int rows) {
    constexpr float kLn2 = 0.693147180559945309f;
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        float sum = r_sum[i];
#pragma unroll
        for (int other = 1; other < T::kLanes; other *= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, other * T::kLaneStep);
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        const int row = w.row + i * T::kRowStep;
        if (row >= rows) continue;
#pragma unroll
        for (int c = 0; c < T::TD; c += 4) {
            *reinterpret_cast<float4*>(o + row * T::D + c * T::kLanes + 4 * w.col) =
                make_float4(r_o[i][c] * inverse,
                            r_o[i][c + 1] * inverse,
                            r_o[i][c + 2] * inverse,
                            r_o[i][c + 3] * inverse);
        }
        if (lse != nullptr && w.col == 0) lse[row] = (r_max[i] + log2f(sum)) * kLn2;
    }
}
// #endregion store
