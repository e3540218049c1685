/// wb/ptx/tile_layout.h: where the bytes of a tile in shared memory lie for TMA and
/// wgmma, and how wgmma is told. This is arithmetic: host code may use it, too.
///
/// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace wb::ptx {

/// Bytes in a row of a swizzled box.
inline constexpr int kSwizzleBytes = 128;

/// Where byte `byte` (0 to 127) of row `row` of a swizzled tile lies, in bytes from the
/// tile's start.
__host__ __device__ constexpr uint32_t swizzle_128b(uint32_t row, uint32_t byte) {
    return row * kSwizzleBytes + (byte ^ row % 8 * 16);
}

/// How wgmma finds a matrix that lies in shared memory with the 128-byte swizzle of
/// tma.h, as panels of 128 bytes (64 elements of 16 bits) by any number of rows.
///
/// K-major: the panel's rows are the matrix's rows (a) or columns (b). The next K
/// elements of 16 bits are 32 bytes to the right: add 32 to the address; after 64
/// elements comes the next panel. `leading_bytes` is not used.
///
/// N-major (b only): the panel's rows run along K, its 64 columns along N.
/// `leading_bytes` is the distance between panels, for N > 64. The next 16 rows along
/// K are 2048 bytes further.
///
/// @param address        of the first row, from shared_address()
/// @param leading_bytes  a multiple of 16, see above
/// @param stride_bytes   between groups of 8 rows: 1024 where rows follow each other
/// @return  bits 0-13 address / 16, 16-29 leading / 16, 32-45 stride / 16, 62-63 the
///          swizzle's number, 1
__host__ __device__ constexpr uint64_t wgmma_descriptor(uint32_t address,
                                                        uint32_t leading_bytes = 16,
                                                        uint32_t stride_bytes = 1024) {
    return static_cast<uint64_t>((address & 0x3ffff) >> 4) |
           static_cast<uint64_t>((leading_bytes & 0x3ffff) >> 4) << 16 |
           static_cast<uint64_t>((stride_bytes & 0x3ffff) >> 4) << 32 |
           uint64_t{1} << 62;
}

}  // namespace wb::ptx
