/// wb/philox.h: random bits that are the same for the same seed, on every GPU, on the
/// host, and for every grid.
///
/// The generator keeps no state: it is a function that scrambles a counter. So any
/// thread can make any of its numbers, in any order, and a step can be repeated.
///
/// Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers:
/// as easy as 1, 2, 3, SC 2011 (Philox4x32-10; cuRAND and PyTorch have it, too).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace wb {

// #region philox
/// Four words of 32 bits.
struct Words4 {
    uint32_t word[4];
};

/// Ten rounds of multiplications scramble the counter; the key, which begins as the
/// seed, changes from round to round.
__host__ __device__ inline Words4 philox(Words4 counter, uint64_t seed) {
    auto key0 = static_cast<uint32_t>(seed);
    auto key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = uint64_t{0xD2511F53u} * counter.word[0];
        const uint64_t b = uint64_t{0xCD9E8D57u} * counter.word[2];
        counter = {static_cast<uint32_t>(b >> 32) ^ counter.word[1] ^ key0,
                   static_cast<uint32_t>(b),
                   static_cast<uint32_t>(a >> 32) ^ counter.word[3] ^ key1,
                   static_cast<uint32_t>(a)};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}
// #endregion philox

}  // namespace wb
