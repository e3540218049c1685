// products.cuh: given with this chapter and those that follow: the two matrix products
// of chapter 02's v3, as its second stage has you write them.
#pragma once

#include "../02-flash-attention/tiles.cuh"

// #region scores
/// First product: r_s[i][j] += q[row i] . k[key j], four columns at a time.
template <class T>
__device__ __forceinline__ void tile_scores(const Workspace<T>& w,
                                            float (&r_s)[T::TM][T::TN]) {
    const float* const q = w.s_q + w.row * T::kStride;
    const float* const k = w.s_k + w.col * T::kStride;
#pragma unroll 2
    for (int d = 0; d < T::D; d += 4) {
        __align__(16) float r_k[T::TN][4];
#pragma unroll
        for (int j = 0; j < T::TN; ++j)
            copy_vector<4>(r_k[j], k + j * T::kLanes * T::kStride + d);
#pragma unroll
        for (int i = 0; i < T::TM; ++i) {
            __align__(16) float r_q[4];
            copy_vector<4>(r_q, q + i * T::kRowStep * T::kStride + d);
            // One sum after the other, not one sum at a time: the next addition to the
            // same sum comes TN instructions later, when the last has finished.
#pragma unroll
            for (int x = 0; x < 4; ++x) {
#pragma unroll
                for (int j = 0; j < T::TN; ++j)
                    r_s[i][j] += r_q[x] * r_k[j][x];
            }
        }
    }
}
// #endregion scores

// #region values
/// Second product: r.o[i][c] += sum over keys of weight[row i][key] * v[key][c].
template <class T>
__device__ __forceinline__ void add_values(const Workspace<T>& w, RowSums<T>& r) {
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
                        r.o[i][c] += r_p[i][x] * r_v[c];
                }
            }
        }
    }
}
// #endregion values
