/// groups.h: given with "Go faster": which threads have a row together, how what their
/// warps know of it is merged, and how many threads a row gets.
/// There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/device.h>

#include <algorithm>
#include <cstdint>

#include "numbers.h"
#include "rows.h"

// #region group
/// The threads that have a row together: a part of a warp, of 1, 2, 4, ... 32 lanes, or
/// a whole block of more.
struct Group {
    int threads;  ///< of the row
    int place;    ///< of this thread among them
    int index;    ///< of this group in its block
    int groups;   ///< of the block

    __device__ __forceinline__ explicit Group(int threads_of_row)
        : threads(threads_of_row),
          place(static_cast<int>(threadIdx.x) % threads_of_row),
          index(static_cast<int>(threadIdx.x) / threads_of_row),
          groups(static_cast<int>(blockDim.x) / threads_of_row) {}

    __device__ __forceinline__ bool is_block() const { return threads > wb::kWarpSize; }

    /// The sum of the lanes of this warp that are in the group, in all of them. All
    /// lanes of the warp must call it.
    __device__ __forceinline__ float lane_sum(float value) const {
        for (int step = min(threads, wb::kWarpSize) / 2; step > 0; step /= 2)
            value += __shfl_xor_sync(wb::kAllLanes, value, step);
        return value;
    }

    /// Elements that these lanes have, if the group's threads take turns with
    /// `accesses` of kPer elements, and each has at most kHeld turns.
    template <int kPer, int kHeld>
    __device__ __forceinline__ int elements_of_lanes(int accesses) const {
        if (!is_block()) return accesses * kPer;
        const int first = place / wb::kWarpSize * wb::kWarpSize;
        int count = 0;
#pragma unroll
        for (int k = 0; k < kHeld; ++k)
            count += max(0, min(accesses - first - k * threads, wb::kWarpSize));
        return count * kPer;
    }
};
// #endregion group

// #region moments
/// What is known of some elements of a row.
struct Moments {
    float count;    ///< how many they are
    float mean;     ///< 0 for an RMSNorm
    float squares;  ///< the sum of their squared distances from it
};

/// What is known of two sets of elements together. The distances of b's elements are
/// longer or shorter than from their own mean, by what the two means differ.
__device__ __forceinline__ Moments merged(Moments a, Moments b) {
    if (b.count == 0.0f) return a;
    const float count = a.count + b.count;
    const float distance = b.mean - a.mean;
    const float share = b.count / count;
    // In this order: a set of no elements adds 0, however large the distance is.
    const float between = (a.count * distance) * (share * distance);
    return {count, a.mean + distance * share, a.squares + b.squares + between};
}

/// What the warps of a block know of `columns` elements. All threads of the block must
/// call it, and all get the same bits: no lane merges in another order.
///
/// @param mine     the same in all lanes of a warp
/// @param s_warps  [32] shared memory that nobody reads or writes any more
__device__ __forceinline__ Moments merge_warps(Moments mine,
                                               Moments* s_warps,
                                               int64_t columns) {
    const int lane = threadIdx.x % wb::kWarpSize;
    if (lane == 0) s_warps[threadIdx.x / wb::kWarpSize] = mine;
    __syncthreads();
    const bool is_warp = lane < static_cast<int>(blockDim.x) / wb::kWarpSize;
    const Moments other = is_warp ? s_warps[lane] : Moments{};
    const auto count = static_cast<float>(columns);
    const float mean = warp_sum(other.count * other.mean) / count;
    const float distance = other.mean - mean;
    const float between = (other.count * distance) * distance;  // as in merged()
    return {count, mean, warp_sum(other.squares + between)};
}
// #endregion moments

// #region row
/// A row, or a piece of one, as its threads see it.
template <class T>
struct Row {
    const T* x;
    T* y;
    const T* gamma;  ///< null: all are 1
    const T* beta;   ///< null: nothing is added
    int accesses;    ///< of kPer elements; 0 if there is no row
};

/// A row from column `first` on; a thread holds no more of it than it can.
template <class T, int kPer>
__device__ __forceinline__ Row<T> row_of(const Norm<T>& norm,
                                         int64_t row,
                                         int64_t first) {
    return {norm.x + row * norm.columns + first,
            norm.y + row * norm.columns + first,
            norm.gamma == nullptr ? nullptr : norm.gamma + first,
            norm.beta == nullptr ? nullptr : norm.beta + first,
            row < norm.rows ? static_cast<int>((norm.columns - first) / kPer) : 0};
}
// #endregion row

// #region parameters
/// Elements i, i + 1, ... of gamma or beta; if there is no such array, all `otherwise`.
template <class T, int kPer>
__device__ __forceinline__ void load_or(float otherwise,
                                        const T* array,
                                        int64_t i,
                                        float (&values)[kPer]) {
    if (array != nullptr) return wb::Elements<T, kPer>::load(array + i).unpack(values);
#pragma unroll
    for (int k = 0; k < kPer; ++k)
        values[k] = otherwise;
}
// #endregion parameters

// #region results
/// 1 / standard deviation, of a row that is known.
__device__ __forceinline__ float rstd_of(const Moments& row, float eps) {
    return 1.0f / sqrtf(row.squares / row.count + eps);
}
// #endregion results

// #region shape
/// How a launch shares rows among threads.
struct Shape {
    int threads_of_row;
    int block;  ///< threads of a block

    int rows_of_block() const { return block / threads_of_row; }
};

/// The smallest power of two that is >= value.
inline int power_of_two(int64_t value) {
    int power = 1;
    while (power < value)
        power *= 2;
    return power;
}

/// As few threads as can hold a row with `held` elements each; of the narrowest rows
/// more, so that 8 lanes read 128 bytes side by side.
///
/// @param per  elements of one access
inline Shape shape_of(int64_t columns, int per, int held) {
    constexpr int kBlock = 128;  // of warps that have nothing to do with each other
    const int64_t needed = wb::ceil_div<int64_t>(columns, held);
    if (needed > wb::kWarpSize) {
        const int warps =
            static_cast<int>(wb::ceil_div<int64_t>(needed, wb::kWarpSize));
        return {warps * wb::kWarpSize, warps * wb::kWarpSize};
    }
    const int side_by_side =
        std::min(8, power_of_two(wb::ceil_div<int64_t>(columns, per)));
    return {std::max(power_of_two(needed), side_by_side), kBlock};
}

/// Whether all rows of these arrays are whole 16-byte vectors.
template <class T, class... Arrays>
bool has_vectors(int64_t columns, const Arrays*... arrays) {
    const auto is_aligned = [](const void* array) {
        return reinterpret_cast<uintptr_t>(array) % 16 == 0;
    };
    return columns % wb::kPerVector<T> == 0 && (is_aligned(arrays) && ...);
}
// #endregion shape
