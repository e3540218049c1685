/// digest.h: one number for a long list, so that models can be compared with all of it.
#pragma once

#include <cinttypes>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>

namespace truth {

/// FNV-1a, 64 bits, over the decimal digits of each number and a comma after it.
/// Source: Fowler, Noll, Vo, http://www.isthe.com/chongo/tech/comp/fnv/.
class Digest {
 public:
    Digest& add(std::integral auto value) {
        for (const char c : std::to_string(value) + ",")
            hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
        return *this;
    }
    /// 16 hexadecimal digits.
    std::string text() const {
        char text[17];
        std::snprintf(text, sizeof text, "%016" PRIx64, hash_);
        return text;
    }

 private:
    uint64_t hash_ = 0xCBF29CE484222325u;
};

/// The digest of all elements of `list`.
std::string digest_of(const auto& list) {
    Digest digest;
    for (const auto value : list)
        digest.add(value);
    return digest.text();
}

}  // namespace truth
