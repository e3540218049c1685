#pragma once
// How many blocks of a kernel fit on one multiprocessor of the device model.

#include <cstddef>

#include "simt/core.h"

namespace simt::detail {

/// Blocks that fit at once; 0 if not even one does.
/// @param shared_bytes  static and dynamic shared memory of a block
int blocks_per_multiprocessor(int block_size, size_t shared_bytes);

/// True if all blocks of the grid can be resident at once, as cooperative launches
/// need.
bool fits_cooperatively(dim3 grid, dim3 block, size_t shared_bytes);

}  // namespace simt::detail
