/// pieces.h: given with "Go faster": a row, or a piece of one, in the registers of the
/// threads that have it together. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/device.h>
#include <wb/moments.h>
#include <wb/row_groups.h>

#include <algorithm>
#include <cstdint>

#include "checks.h"
#include "given.h"

// #region piece
/// A row from column `first` on, as its threads see it.
template <class T>
struct Piece {
    const T* x;
    const T* other;
    const T* gamma;
    const T* beta;
    T* h;  ///< null, if there is none
    T* y;
    int64_t row;
    int64_t first;
    int accesses;  ///< of kPer elements; 0 if there is no such row
};

template <int kPer, class T>
__device__ __forceinline__ Piece<T> piece_of(const FusedNorm<T>& norm,
                                             int64_t row,
                                             int64_t first) {
    return {row_of(norm.x, row) + first,
            row_of(norm.other, row) + first,
            norm.gamma + first,
            norm.beta + first,
            norm.h.data == nullptr ? nullptr : row_of(norm.h, row) + first,
            row_of(norm.y, row) + first,
            row,
            first,
            row < norm.rows ? static_cast<int>((norm.columns - first) / kPer) : 0};
}
// #endregion piece

// #region registers
/// What one thread holds of a piece: every group.threads-th access.
///
/// @tparam kPer   elements of an access: 16 bytes of them, or 1
/// @tparam kHeld  accesses of a thread, at most
template <class T, int kPer, int kHeld>
struct Registers {
    wb::Elements<T, kPer> r_x[kHeld] = {};
    wb::Elements<T, kPer> r_other[kHeld] = {};
    wb::Elements<T, kPer> r_gamma[kHeld] = {};
    wb::Elements<T, kPer> r_beta[kHeld] = {};

    /// Begins to load all that the piece needs; nothing is used yet.
    __device__ __forceinline__ void load(const Piece<T>& piece,
                                         const wb::Group& group) {
        using Access = wb::Elements<T, kPer>;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access >= piece.accesses) break;
            r_x[k] = Access::load(piece.x + access * kPer);
            r_other[k] = Access::load(piece.other + access * kPer);
        }
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access >= piece.accesses) break;
            r_gamma[k] = Access::load(piece.gamma + access * kPer);
            r_beta[k] = Access::load(piece.beta + access * kPer);
        }
    }

    /// What the lanes of this warp know of r_x together: chapter 04's two passes.
    __device__ __forceinline__ wb::Moments measure(const Piece<T>& piece,
                                                   const wb::Group& group) const {
        const int count = group.elements_of_lanes<kPer, kHeld>(piece.accesses);
        float r_values[kPer];
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            if (group.place + k * group.threads >= piece.accesses) continue;
            r_x[k].unpack(r_values);
#pragma unroll
            for (int i = 0; i < kPer; ++i)
                sum += r_values[i];
        }
        sum = group.lane_sum(sum);
        const float mean = count == 0 ? 0.0f : sum / static_cast<float>(count);
        float squares = 0.0f;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            if (group.place + k * group.threads >= piece.accesses) continue;
            r_x[k].unpack(r_values);
#pragma unroll
            for (int i = 0; i < kPer; ++i) {
                const float distance = r_values[i] - mean;
                squares += distance * distance;
            }
        }
        return {static_cast<float>(count), mean, group.lane_sum(squares)};
    }
};
// #endregion registers

// #region accesses
/// Accesses of a thread: 32 bytes of each array, or 8 elements.
template <int kPer>
inline constexpr int kAccesses = kPer == 1 ? 8 : 2;

/// Whether all rows of these matrices are whole 16-byte vectors; of one that is not
/// there, data is null.
template <class... Matrices>
bool have_vectors(int per, const Matrices&... matrices) {
    return ((reinterpret_cast<uintptr_t>(matrices.data) % 16 == 0 &&
             matrices.row_stride % per == 0) &&
            ...);
}
// #endregion accesses
