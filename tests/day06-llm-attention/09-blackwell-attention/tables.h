// tables.h: the layouts as the PTX ISA prints them, field by field; nothing here is
// shared with the functions that are graded.
#pragma once

#include <cstdint>
#include <vector>

namespace tables {

/// Bits first to last of a word and what they must hold.
struct Field {
    int first, last;
    const char* name;
    uint64_t value;
};

/// matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4
inline uint64_t encoded(uint32_t x) {
    return (x % 0x40000) / 16;
}

/// PTX ISA, "Shared memory descriptor", table of its layout.
inline std::vector<Field> shared_descriptor(uint32_t address,
                                            uint32_t leading,
                                            uint32_t stride,
                                            uint64_t swizzle) {
    return {
        {0, 13, "matrix start address", encoded(address)},
        {14, 15, "reserved", 0},
        {16, 29, "leading dimension byte offset", encoded(leading)},
        {30, 31, "reserved", 0},
        {32, 45, "stride dimension byte offset", encoded(stride)},
        {46, 48, "fixed constant 0b001", 1},
        {49, 51, "matrix base offset", 0},
        {52, 52, "leading dimension stride mode: relative", 0},
        {53, 60, "fixed constant 0", 0},
        {61, 63, "swizzling mode", swizzle},
    };
}

/// PTX ISA, "Instruction descriptor", column of .kind::f16.
inline std::vector<Field> instruction_descriptor(
    int m, int n, uint64_t type, bool transpose_a, bool transpose_b) {
    return {
        {0, 1, "sparsity selector", 0},
        {2, 2, "sparsity: dense", 0},
        {3, 3, "saturate: not for this kind", 0},
        {4, 5, "type of d: F32", 1},
        {6, 6, "reserved", 0},
        {7, 9, "type of a", type},
        {10, 12, "type of b", type},
        {13, 13, "negate a", 0},
        {14, 14, "negate b", 0},
        {15, 15, "transpose a", transpose_a ? 1u : 0u},
        {16, 16, "transpose b", transpose_b ? 1u : 0u},
        {17, 22, "n >> 3", static_cast<uint64_t>(n) >> 3},
        {23, 23, "reserved", 0},
        {24, 28, "m >> 4", static_cast<uint64_t>(m) >> 4},
        {29, 29, "reserved", 0},
        {30, 31, "maximum shift: none", 0},
    };
}

/// PTX ISA, "Swizzling Modes", 128 bytes: for each of 8 rows, where its units of 16
/// bytes lie.
inline constexpr int kSwizzle128[8][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7},
    {1, 0, 3, 2, 5, 4, 7, 6},
    {2, 3, 0, 1, 6, 7, 4, 5},
    {3, 2, 1, 0, 7, 6, 5, 4},
    {4, 5, 6, 7, 0, 1, 2, 3},
    {5, 4, 7, 6, 1, 0, 3, 2},
    {6, 7, 4, 5, 2, 3, 0, 1},
    {7, 6, 5, 4, 3, 2, 1, 0},
};

/// Where element k of row 0 lies when a tile of `rows` rows is written panel by panel,
/// one row of 64 elements of 2 bytes after the other.
inline int first_byte_of_panels(int rows, int k) {
    int byte = 0;
    for (int panel = 0;; ++panel)
        for (int row = 0; row < rows; ++row)
            for (int element = 0; element < 64; ++element, byte += 2)
                if (row == 0 && panel * 64 + element == k) return byte;
}

}  // namespace tables
