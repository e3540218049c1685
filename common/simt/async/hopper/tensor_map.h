/// async/hopper/tensor_map.h: what the simulator keeps in a CUtensorMap.
#pragma once

#include <cstring>

#include "simt/hopper/tensor_map.h"

namespace simt::detail {

struct TensorMapContents {
    static constexpr uint64_t kMagic = 0x70616d726f736e74;  // of a map that was made

    uint64_t magic;
    char* address;
    uint64_t strides[4];  // bytes, of dimensions 1 to 4
    uint32_t last[5];     // elements of each dimension, less one
    uint16_t box[5];
    uint8_t rank;
    uint8_t element_bytes;
    uint8_t swizzle_bytes;  // 0, 32, 64 or 128

    static TensorMapContents of(const CUtensorMap& map) {
        TensorMapContents contents;
        std::memcpy(&contents, &map, sizeof contents);
        return contents;
    }
    bool valid() const { return magic == kMagic; }
};
static_assert(sizeof(TensorMapContents) <= sizeof(CUtensorMap));

/// Where swizzling by that many bytes puts the byte at an address of shared memory: the
/// number of the row of 128 bytes, in a pattern of 2, 4 or 8 rows, is added without
/// carry to the number of the 16-byte unit.
inline uintptr_t swizzled(uintptr_t address, int swizzle_bytes) {
    const uintptr_t units = static_cast<uintptr_t>(swizzle_bytes) / 16;
    return units == 0 ? address : address ^ ((address >> 7 & (units - 1)) << 4);
}

}  // namespace simt::detail
