// What ldmatrix, stmatrix and mma.sync do for a warp: see simt/ptx.h. Here, and not in
// the header, because the checker need not look into it: all that a program's memory
// sees of it is announced beforehand.

#include <algorithm>

#include "simt/fault.h"
#include "simt/ptx.h"
#include "simt/tensor.h"

namespace simt::ptx::detail {
namespace {

void check_row(const RowAccess& access) {
    if (reinterpret_cast<uintptr_t>(access.row) % 16 != 0) {
        simt::detail::fault(716,  // cudaErrorMisalignedAddress
                            access.file,
                            access.line,
                            "%s: row address %p is not a multiple of 16",
                            access.op,
                            static_cast<void*>(access.row));
    }
    if (!simt::detail::is_shared(access.row)) {
        simt::detail::fault(717,  // cudaErrorInvalidAddressSpace
                            access.file,
                            access.line,
                            "%s: row address %p is not in shared memory",
                            access.op,
                            static_cast<void*>(access.row));
    }
}

/// Element i of registers that hold two 16-bit numbers each.
template <class Format>
float element(const unsigned* registers, int i) {
    return widen<Format>(static_cast<uint16_t>(registers[i / 2] >> (i % 2 * 16)));
}

}  // namespace

/// Element e of matrix m belongs to lane 4 * row + col / 2: two neighbours of a row (of
/// a column if transposed) in one register. Lane 8 m + r has brought the address of row
/// r.
void move_matrices(simt::detail::WarpArg* const* lanes, uint32_t) {
    const auto access = [&](int lane) {
        return static_cast<RowAccess*>(lanes[lane]->p);
    };
    const int matrices = access(0)->matrices;
    for (int m = 0; m < matrices; ++m) {
        for (int r = 0; r < 8; ++r) {
            const RowAccess& owner = *access(8 * m + r);
            check_row(owner);
            for (int c = 0; c < 8; ++c) {
                const int high = owner.transpose ? c : r;
                const int low = owner.transpose ? r : c;
                unsigned& word = access(4 * high + low / 2)->registers[m];
                const int shift = low % 2 * 16;
                if (owner.store) {
                    owner.row->element[c] = static_cast<uint16_t>(word >> shift);
                } else {
                    word = (word & ~(0xffffu << shift)) |
                           static_cast<unsigned>(owner.row->element[c]) << shift;
                }
            }
        }
    }
}

template <class Format>
void multiply_m16n8k16(simt::detail::WarpArg* const* lanes, uint32_t) {
    float a[16][16], b[16][8], c[16][8];
    simt::detail::note_product(simt::detail::TensorType::f16, 16, 8, 16);
    for (int lane = 0; lane < 32; ++lane) {
        const auto& mine = *static_cast<MmaOperands*>(lanes[lane]->p);
        const int group = lane / 4;
        const int pair = lane % 4 * 2;
        for (int i = 0; i < 8; ++i) {
            a[group + i / 2 % 2 * 8][pair + i % 2 + i / 4 * 8] =
                element<Format>(mine.a, i);
        }
        for (int i = 0; i < 4; ++i) {
            b[pair + i % 2 + i / 2 * 8][group] = element<Format>(mine.b, i);
            c[group + i / 2 * 8][pair + i % 2] = mine.c[i];
        }
    }
    for (int m = 0; m < 16; ++m) {
        for (int k = 0; k < 16; ++k) {
            for (int n = 0; n < 8; ++n) {
                c[m][n] += a[m][k] * b[k][n];
            }
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        const auto& mine = *static_cast<MmaOperands*>(lanes[lane]->p);
        for (int i = 0; i < 4; ++i) {
            mine.c[i] = c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
        }
    }
}

template void multiply_m16n8k16<Binary16>(simt::detail::WarpArg* const*, uint32_t);
template void multiply_m16n8k16<Bfloat16>(simt::detail::WarpArg* const*, uint32_t);

}  // namespace simt::ptx::detail
