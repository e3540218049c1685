/// simt/ptx.h: what some PTX instructions do, as functions: ldmatrix, stmatrix and
/// mma.sync. Code that is to run on a GPU as well calls them through wb/ptx/.
///
/// Source: PTX ISA, "Warp-level matrix load/store" and "Matrix fragments for
/// mma.m16n8k16".
#pragma once
#include <algorithm>

#include "simt/bfloat16.h"
#include "simt/fault.h"
#include "simt/seen.h"
#include "simt/shared.h"
#include "simt/warp.h"

namespace simt::ptx {

namespace detail {
/// A row of an 8x8 matrix of 16-bit elements: 16 bytes.
struct alignas(16) Row {
    uint16_t element[8];
};
/// What a lane brings to ldmatrix and stmatrix: its registers and the address of a row.
struct RowAccess {
    unsigned* registers;
    Row* row;
    int matrices;
    bool transpose;
    bool store;
    const char* op;
    const char* file;
    int line;
};

inline void check_row(const RowAccess& access) {
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

/// Element e of matrix m belongs to lane 4 * row + col / 2: two neighbours of a row (of
/// a column if transposed) in one register. Lane 8 m + r has brought the address of row
/// r.
inline void move_matrices(simt::detail::WarpArg* const* lanes, uint32_t) {
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

template <int kMatrices>
void move_rows(unsigned (&registers)[kMatrices],
               const void* row,
               bool transpose,
               bool store,
               const char* op,
               const char* file,
               int line) {
    static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
    RowAccess access{registers,
                     const_cast<Row*>(static_cast<const Row*>(row)),
                     kMatrices,
                     transpose,
                     store,
                     op,
                     file,
                     line};
    if (simt::detail::thread_rank % 32 < 8 * kMatrices)
        simt_access_seen(row, sizeof(Row), store);
    simt::detail::WarpArg arg{0, 0, 0, &access, move_matrices};
    simt::detail::warp_op(
        simt::detail::WarpOp::custom, 0xffffffffu, arg, op, file, line);
}

/// What a lane brings to mma.m16n8k16.
struct MmaOperands {
    float* c;
    const unsigned* a;
    const unsigned* b;
};
/// Element i of registers that hold two 16-bit numbers each.
template <class Format>
float element(const unsigned* registers, int i) {
    return widen<Format>(static_cast<uint16_t>(registers[i / 2] >> (i % 2 * 16)));
}
template <class Format>
void multiply_m16n8k16(simt::detail::WarpArg* const* lanes, uint32_t) {
    float a[16][16], b[16][8], c[16][8];
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
}  // namespace detail

/// Loads kMatrices 8x8 matrices of 16-bit elements from shared memory.
///
/// @param row  lane 8 m + r passes the address of row r of matrix m; other lanes' are
/// unused
template <bool kTranspose, int kMatrices>
void ldmatrix(unsigned (&registers)[kMatrices], const void* row, SIMT_SITE) {
    detail::move_rows(registers, row, kTranspose, false, "ldmatrix", file, line);
}
/// Stores kMatrices 8x8 matrices of 16-bit elements to shared memory; addresses as
/// above.
template <bool kTranspose, int kMatrices>
void stmatrix(void* row, const unsigned (&registers)[kMatrices], SIMT_SITE) {
    unsigned copy[kMatrices];
    std::copy_n(registers, kMatrices, copy);
    detail::move_rows(copy, row, kTranspose, true, "stmatrix", file, line);
}

/// c += a * b, a 16x16 row-major, b 16x8 column-major, in Format; c in float.
///
/// @tparam Format  simt::Binary16 or simt::Bfloat16
template <class Format>
void mma_m16n8k16(float (&c)[4],
                  const unsigned (&a)[4],
                  const unsigned (&b)[2],
                  SIMT_SITE) {
    detail::MmaOperands operands{c, a, b};
    simt::detail::WarpArg arg{0, 0, 0, &operands, detail::multiply_m16n8k16<Format>};
    simt::detail::warp_op(simt::detail::WarpOp::custom,
                          0xffffffffu,
                          arg,
                          "mma.sync.m16n8k16",
                          file,
                          line);
}

}  // namespace simt::ptx
