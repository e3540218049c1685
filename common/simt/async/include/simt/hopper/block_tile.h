/// simt/hopper/block_tile.h: what tiles of more than one warp are made of: a barrier
/// for a part of the block, and values that its threads show one another.
#pragma once

#include <cstddef>

#include "simt/core.h"

namespace simt::detail {

/// Waits for the `size` consecutive threads of the block that the caller belongs to.
/// size is 64, 128, 256, 512 or 1024; the block has a multiple of it.
void tile_barrier(unsigned size, const char* file, int line);

/// Copies `bytes` bytes that thread number `rank` of the tile shows as `mine` to
/// `theirs`. All threads of the tile come.
void tile_exchange(unsigned size,
                   const void* mine,
                   void* theirs,
                   size_t bytes,
                   unsigned rank,
                   const char* file,
                   int line);

/// For how many threads of the tile the predicate is not 0. All threads come.
unsigned tile_count(unsigned size, int predicate, const char* file, int line);

}  // namespace simt::detail
