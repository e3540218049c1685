// right_packing.h: for mutants: the functions as they should be, of which each mutant
// replaces one, and the contract's functions on top of them. Attention does nothing:
// the tests of the functions reject a mutant before.
#pragma once

#include "blackwell_attention.h"

#include <cstdint>

struct RightPacking {
    static __host__ __device__ uint64_t shared_descriptor(uint32_t address,
                                                          uint32_t leading_bytes,
                                                          uint32_t stride_bytes,
                                                          Swizzle swizzle) {
        return uint64_t{address >> 4 & 0x3fff} |
               uint64_t{leading_bytes >> 4 & 0x3fff} << 16 |
               uint64_t{stride_bytes >> 4 & 0x3fff} << 32 | uint64_t{1} << 46 |
               static_cast<uint64_t>(swizzle) << 61;
    }
    static __host__ __device__ uint32_t instruction_descriptor(
        int m, int n, Element type, bool transpose_a, bool transpose_b) {
        const auto element = static_cast<uint32_t>(type);
        return 1u << 4 | element << 7 | element << 10 | uint32_t{transpose_a} << 15 |
               uint32_t{transpose_b} << 16 | static_cast<uint32_t>(n / 8) << 17 |
               static_cast<uint32_t>(m / 16) << 24;
    }
    static __host__ __device__ uint32_t tensor_address(uint32_t base,
                                                       int lane,
                                                       int column) {
        return base + static_cast<uint32_t>(lane) * 65536 +
               static_cast<uint32_t>(column);
    }
    static __host__ __device__ int swizzled_byte(int row, int byte) {
        return row * 128 + (byte ^ row % 8 * 16);
    }
    static __host__ __device__ int key_step_bytes(int rows, int step) {
        return step / 4 * rows * 128 + step % 4 * 32;
    }
    static __host__ __device__ WeightPlace weight_place(int row, int key) {
        return {row, key / 2, key % 2 * 16};
    }
};

/// Defines the contract's functions by those of struct Packing.
#define BLACKWELL_CONTRACT()                                                      \
    uint64_t shared_descriptor(                                                   \
        uint32_t address, uint32_t leading, uint32_t stride, Swizzle swizzle) {   \
        return Packing::shared_descriptor(address, leading, stride, swizzle);     \
    }                                                                             \
    uint32_t instruction_descriptor(int m, int n, Element type, bool a, bool b) { \
        return Packing::instruction_descriptor(m, n, type, a, b);                 \
    }                                                                             \
    uint32_t tensor_address(uint32_t base, int lane, int column) {                \
        return Packing::tensor_address(base, lane, column);                       \
    }                                                                             \
    int swizzled_byte(int row, int byte) {                                        \
        return Packing::swizzled_byte(row, byte);                                 \
    }                                                                             \
    int key_step_bytes(int rows, int step) {                                      \
        return Packing::key_step_bytes(rows, step);                               \
    }                                                                             \
    WeightPlace weight_place(int row, int key) {                                  \
        return Packing::weight_place(row, key);                                   \
    }                                                                             \
    void blackwell_attention(const wb::AttentionShape&,                           \
                             const __nv_bfloat16*,                                \
                             const __nv_bfloat16*,                                \
                             const __nv_bfloat16*,                                \
                             __nv_bfloat16*,                                      \
                             float*,                                              \
                             cudaStream_t) {}
