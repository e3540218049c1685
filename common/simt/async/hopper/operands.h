/// async/hopper/operands.h: matrices in shared memory, as wgmma's descriptors say.
#pragma once

#include "state.h"

namespace simt::detail {

/// The bits of a matrix descriptor.
///
/// Source: PTX ISA, "Matrix Descriptor Format".
struct MatrixDescriptor {
    unsigned address;  // low 18 bits
    unsigned leading;  // bytes
    unsigned stride;
    unsigned base_offset;
    int swizzle_bytes;  // 0, 32, 64 or 128

    static MatrixDescriptor decode(uint64_t bits) {
        constexpr int kSwizzle[4] = {0, 128, 64, 32};
        return {static_cast<unsigned>(bits & 0x3fff) << 4,
                static_cast<unsigned>(bits >> 16 & 0x3fff) << 4,
                static_cast<unsigned>(bits >> 32 & 0x3fff) << 4,
                static_cast<unsigned>(bits >> 49 & 7),
                kSwizzle[bits >> 62]};
    }
};

/// Reads `rows` rows of 32 bytes of K: the rows of a, or the columns of b.
///
/// @param transposed  the matrix is stored with K outermost; elements of 16 bits
/// @param name        of the instruction and the matrix, for reports
/// A part that lies outside of the block's shared variables is a fault.
std::vector<unsigned char> read_operand(Worker& w,
                                        const MatrixDescriptor& descriptor,
                                        int rows,
                                        bool transposed,
                                        const char* name,
                                        const char* file,
                                        int line);

/// Tells the observer of the reads that fall to thread number `share` of `shares`.
/// @param product  see Observer::async_access()
void tell_operand_reads(Worker& w,
                        const MatrixDescriptor& descriptor,
                        int rows,
                        bool transposed,
                        unsigned share,
                        unsigned shares,
                        uint32_t product);

/// values (rows x n) = a * b (+ values).
void multiply(ptx::detail::WgmmaFormat format,
              bool accumulate,
              int rows,
              int n,
              const WgmmaOperands& operands,
              float* values);

}  // namespace simt::detail
