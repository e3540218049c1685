/// wb/launch.h: the arithmetic of a launch.
#pragma once

#include <cstdint>

namespace wb {

/// Lanes in a warp, on every NVIDIA GPU so far.
inline constexpr int kWarpSize = 32;

/// All of them: the mask of a shuffle that no lane leaves out.
inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;

/// The smallest integer >= a / b, for a >= 0 and b > 0: how many boxes of b hold a
/// things. Written without a + b - 1, which overflows near the type's maximum.
template <class T>
constexpr T ceil_div(T a, T b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

/// The number of blocks of `block` threads that gives every one of `work` items a
/// thread.
///
/// @param work   > 0: a grid of zero blocks is not legal, callers return before
/// @param block  threads per block, > 0
/// Throws std::length_error above 2^31 - 1 blocks, the limit of gridDim.x.
unsigned grid_size(int64_t work, int block);

}  // namespace wb
