/// wb/row_groups.h: which threads have a row together, and how many of them a row gets.
///
///     const wb::Shape shape = wb::shape_of(columns, kPer, 16);      // on the host
///     const wb::Group group(shape.threads_of_row);                  // in the kernel
///     for (int access = group.place; access < accesses; access += group.threads)
#pragma once

#include <cuda_runtime.h>
#include <wb/elements.h>
#include <wb/launch.h>

#include <algorithm>
#include <cstdint>

namespace wb {

// #region warp-sum
/// The sum of a warp, in all of its lanes.
__device__ __forceinline__ float warp_sum(float value) {
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}
// #endregion warp-sum

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

    __device__ __forceinline__ bool is_block() const { return threads > kWarpSize; }

    /// The sum of the lanes of this warp that are in the group, in all of them. All
    /// lanes of the warp must call it.
    __device__ __forceinline__ float lane_sum(float value) const {
        for (int step = min(threads, kWarpSize) / 2; step > 0; step /= 2)
            value += __shfl_xor_sync(kAllLanes, value, step);
        return value;
    }

    /// Elements that these lanes have, if the group's threads take turns with
    /// `accesses` of kPer elements, and each has at most kHeld turns.
    template <int kPer, int kHeld>
    __device__ __forceinline__ int elements_of_lanes(int accesses) const {
        if (!is_block()) return accesses * kPer;
        const int first = place / kWarpSize * kWarpSize;
        int count = 0;
#pragma unroll
        for (int k = 0; k < kHeld; ++k)
            count += max(0, min(accesses - first - k * threads, kWarpSize));
        return count * kPer;
    }
};
// #endregion group

// #region parameters
/// Elements i, i + 1, ... of an array; if there is no such array, all `otherwise`.
template <class T, int kPer>
__device__ __forceinline__ void load_or(float otherwise,
                                        const T* array,
                                        int64_t i,
                                        float (&values)[kPer]) {
    if (array != nullptr) return Elements<T, kPer>::load(array + i).unpack(values);
#pragma unroll
    for (int k = 0; k < kPer; ++k)
        values[k] = otherwise;
}
// #endregion parameters

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
    const int64_t needed = ceil_div<int64_t>(columns, held);
    if (needed > kWarpSize) {
        const int warps = static_cast<int>(ceil_div<int64_t>(needed, kWarpSize));
        return {warps * kWarpSize, warps * kWarpSize};
    }
    const int side_by_side = std::min(8, power_of_two(ceil_div<int64_t>(columns, per)));
    return {std::max(power_of_two(needed), side_by_side), kBlock};
}

/// Whether all rows of these arrays are whole 16-byte vectors.
template <class T, class... Arrays>
bool has_vectors(int64_t columns, const Arrays*... arrays) {
    const auto is_aligned = [](const void* array) {
        return reinterpret_cast<uintptr_t>(array) % 16 == 0;
    };
    return columns % kPerVector<T> == 0 && (is_aligned(arrays) && ...);
}
// #endregion shape

}  // namespace wb
