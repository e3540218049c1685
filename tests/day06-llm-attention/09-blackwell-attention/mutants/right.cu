// The right functions that the .diff files edit. Attention does nothing: no edit is
// about it.
// Only the test cases that reject its edits hold it.
#include "blackwell_attention.h"

#include <cstdint>

uint64_t shared_descriptor(uint32_t address,
                           uint32_t leading_bytes,
                           uint32_t stride_bytes,
                           Swizzle swizzle) {
    const uint64_t generation = uint64_t{1} << 46;
    const uint64_t mode = static_cast<uint64_t>(swizzle) << 61;
    const uint64_t distances = uint64_t{leading_bytes >> 4 & 0x3fff} << 16 |
                               uint64_t{stride_bytes >> 4 & 0x3fff} << 32;
    return uint64_t{address >> 4 & 0x3fff} | distances | generation | mode;
}

uint32_t instruction_descriptor(
    int m, int n, Element type, bool transpose_a, bool transpose_b) {
    const auto element = static_cast<uint32_t>(type);
    const uint32_t size =
        static_cast<uint32_t>(n / 8) << 17 | static_cast<uint32_t>(m / 16) << 24;
    const uint32_t a_bit = uint32_t{transpose_a} << 15;
    const uint32_t b_bit = uint32_t{transpose_b} << 16;
    return 1u << 4 | element << 7 | element << 10 | a_bit | b_bit | size;
}

uint32_t tensor_address(uint32_t base, int lane, int column) {
    return base + static_cast<uint32_t>(lane) * 65536 + static_cast<uint32_t>(column);
}

int swizzled_byte(int row, int byte) {
    return row * 128 + (byte ^ row % 8 * 16);
}

int key_step_bytes(int rows, int step) {
    return step / 4 * rows * 128 + step % 4 * 32;
}

WeightPlace weight_place(int row, int key) {
    return {row, key / 2, key % 2 * 16};
}

void blackwell_attention(const wb::AttentionShape&,
                         const __nv_bfloat16*,
                         const __nv_bfloat16*,
                         const __nv_bfloat16*,
                         __nv_bfloat16*,
                         float*,
                         cudaStream_t) {}
