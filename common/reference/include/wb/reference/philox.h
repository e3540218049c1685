/// CPU reference of the counter-based generator Philox4x32-10.
#pragma once

#include <cstdint>
#include <vector>

namespace wb::reference {

/// The four words that ten rounds make of a counter of four words.
inline std::vector<uint32_t> philox(std::vector<uint32_t> counter, uint64_t seed) {
    uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = uint64_t{0xD2511F53} * counter[0];
        const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
        const auto high = [](uint64_t product) {
            return static_cast<uint32_t>(product >> 32);
        };
        counter = {high(b) ^ counter[1] ^ key[0],
                   static_cast<uint32_t>(b),
                   high(a) ^ counter[3] ^ key[1],
                   static_cast<uint32_t>(a)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

}  // namespace wb::reference
