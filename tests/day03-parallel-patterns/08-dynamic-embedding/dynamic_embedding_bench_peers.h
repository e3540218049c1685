// What bounds a search: as many random reads as it needs, and nothing else.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace dynamic_embedding_peers {

/// Reads the digests and one key of the bucket of each slot: two sectors of a random
/// cache line, of which the places are known.
///
/// @param lines   lines of 128 bytes: 16 of digests, then the keys
/// @param places  keys of a line
/// @param slots   [n] device memory, slots of the table: line * places + place
/// @param out     [n] device memory, written
void random_reads(const void* lines,
                  int places,
                  const int32_t* slots,
                  int32_t* out,
                  int64_t n,
                  cudaStream_t stream);

}  // namespace dynamic_embedding_peers
