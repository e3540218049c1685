/// blackwell_attention.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>

#include <cstdint>

/// How the 16-byte units of a matrix in shared memory are permuted: the number that
/// stands in a shared memory descriptor.
enum class Swizzle : uint32_t {
    none = 0,
    bytes_128 = 2,
    bytes_64 = 4,
    bytes_32 = 6,
};

/// Types of a and b: the number that stands in an instruction descriptor.
enum class Element : uint32_t {
    half = 0,
    bfloat16 = 1,
};

/// Where a weight lies in tensor memory: half a cell of 32 bits.
struct WeightPlace {
    int lane;
    int column;  ///< counted from the first column of the weights
    int bit;     ///< the lowest of its 16 bits in the cell: 0 or 16
    bool operator==(const WeightPlace&) const = default;
};

// ---- What you write: numbers that tell the hardware where things are ----------------

/// The 64 bits that tell tcgen05.mma where a matrix lies in shared memory.
///
///     bits  0-13  address / 16             bits 46-48  001
///     bits 16-29  leading / 16             bits 49-51  base offset: 0
///     bits 32-45  stride / 16              bits 52-60  0
///                                          bits 61-63  swizzle
///
/// @param address        in shared memory, a multiple of 16
/// @param leading_bytes  a distance, a multiple of 16: see the lesson
/// @param stride_bytes   the same; of all three the low 18 bits count
/// Source: PTX ISA, "Shared memory descriptor" (tcgen05)
uint64_t shared_descriptor(uint32_t address,
                           uint32_t leading_bytes,
                           uint32_t stride_bytes,
                           Swizzle swizzle);

/// The 32 bits that tell tcgen05.mma, kind::f16, what it multiplies: dense matrices,
/// sums in float, nothing negated.
///
///     bits 0-3    0                    bit  15     a is transposed: M-major
///     bits 4-5    type of d: 1, float  bit  16     b is transposed: N-major
///     bit  6      0                    bits 17-22  n / 8
///     bits 7-9    type of a            bit  23     0
///     bits 10-12  type of b            bits 24-28  m / 16
///     bits 13-14  0, not negated       bits 29-31  0
///
/// @param m, n  of the product, m 64 or 128, n a multiple of 16 up to 256
/// Source: PTX ISA, "Instruction descriptor" (tcgen05)
uint32_t instruction_descriptor(
    int m, int n, Element type, bool transpose_a, bool transpose_b);

/// The address of a cell of tensor memory: the lane in bits 16 to 31, the column in
/// bits 0 to 15.
///
/// @param base  address of an allocation; lane and column are counted from there
/// Source: PTX ISA, "Tensor Memory Addressing"
uint32_t tensor_address(uint32_t base, int lane, int column);

/// Where byte `byte` (0 to 127) of row `row` of a tile lies that TMA has written with
/// the 128-byte swizzle: in bytes from the tile's start, which is a multiple of 1024.
/// Source: PTX ISA, "Swizzling Modes"
int swizzled_byte(int row, int byte);

/// How many bytes after the first one the `step`-th group of 16 elements of K begins,
/// in a K-major tile of `rows` rows, stored as panels of 64 elements (128 bytes), one
/// panel after the other.
int key_step_bytes(int rows, int step);

/// Where the weight of (row, key) lies in tensor memory as operand a: a row in each
/// lane, two neighbouring keys in each cell, the lower one in the lower half.
/// Source: PTX ISA, "tcgen05.mma", matrix a in tensor memory
WeightPlace weight_place(int row, int key);

// ---- What you get: a kernel that uses them ------------------------------------------

/// o = softmax(scale * q k^T) v for each head, by the tensor cores of a GPU of compute
/// capability 10.0 (B200, GB200).
///
/// B = batch, H = query_heads, G = kv_heads, N = queries, M = keys, D = head_dim. Query
/// head h uses K/V head h / (H / G). With shape.causal, query i sees the keys
/// 0 .. i + M - N. A query that sees no key gives a row of zeros, and -infinity in lse.
///
/// @param shape   sizes >= 0, H a multiple of G, D is 64 or 128, scale >= 0. Without
///                queries nothing is done; without keys every row is zeros
/// @param q       [B, H, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v    [B, G, M, D] the same; may be null without keys
/// @param o       [B, H, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse     [B, H, N] log of the sum of exp(score) of each row, natural
///                logarithm; may be null: not wanted
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory  none beyond the arguments
/// Work    4 B H N M D FLOP, half of it with a causal mask
/// Error   |error| <= u (sum of weight |v| + |o|) and what a float kernel has (chapter
///         02), u = 2^-8: the weights are rounded once, and so is o
/// Range   of scores: as in chapter 02
/// NaN     and subnormal numbers: as in chapter 01
/// Throws  wb::InvalidArgument for a shape as above that is not met, for a null or a
///         host pointer, and on any other GPU: chapters 07 and 08 have kernels for
///         those
void blackwell_attention(const wb::AttentionShape& shape,
                         const __nv_bfloat16* q,
                         const __nv_bfloat16* k,
                         const __nv_bfloat16* v,
                         __nv_bfloat16* o,
                         float* lse,
                         cudaStream_t stream);
