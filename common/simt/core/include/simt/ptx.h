/// simt/ptx.h: what some PTX instructions do, as functions: ldmatrix, stmatrix and
/// mma.sync. Code that is to run on a GPU as well calls them through wb/ptx/.
///
/// Source: PTX ISA, "Warp-level matrix load/store" and "Matrix fragments for
/// mma.m16n8k16" and "for mma.m16n8k32".
#pragma once
#include "simt/formats.h"
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

/// Moves the matrices of all lanes between registers and shared memory.
void move_matrices(simt::detail::WarpArg* const* lanes, uint32_t mask);

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

/// What a lane brings to mma.m16n8k16, or to m16n8k8 of TF32.
struct MmaOperands {
    float* c;
    const unsigned* a;
    const unsigned* b;
};
/// Floats of which the upper 19 bits count.
struct Tf32;
/// The product of a warp; compiled for Binary16, Bfloat16 and Tf32.
template <class Format>
void multiply_m16n8(simt::detail::WarpArg* const* lanes, uint32_t mask);

/// What a lane brings to mma.m16n8k32 of signed bytes.
struct MmaBytes {
    int* c;
    const unsigned* a;
    const unsigned* b;
};
void multiply_m16n8_s8(simt::detail::WarpArg* const* lanes, uint32_t mask);

template <class Format>
void multiply(float (&c)[4],
              const unsigned (&a)[4],
              const unsigned (&b)[2],
              const char* op,
              const char* file,
              int line) {
    MmaOperands operands{c, a, b};
    simt::detail::WarpArg arg{0, 0, 0, &operands, multiply_m16n8<Format>};
    simt::detail::warp_op(
        simt::detail::WarpOp::custom, 0xffffffffu, arg, op, file, line);
}
}  // namespace detail

/// Loads kMatrices 8x8 matrices of 16-bit elements from shared memory.
///
/// @param row  lane 8 m + r passes the address of row r of matrix m; other lanes' are
/// unused
template <bool kTranspose, int kMatrices>
void ldmatrix(unsigned (&registers)[kMatrices], const void* row, SIMT_OWN_SITE) {
    detail::move_rows(registers, row, kTranspose, false, "ldmatrix", file, line);
}
/// Stores kMatrices 8x8 matrices of 16-bit elements to shared memory; addresses as
/// above.
template <bool kTranspose, int kMatrices>
void stmatrix(void* row, const unsigned (&registers)[kMatrices], SIMT_OWN_SITE) {
    unsigned copy[kMatrices];
    for (int i = 0; i < kMatrices; ++i)
        copy[i] = registers[i];
    detail::move_rows(copy, row, kTranspose, true, "stmatrix", file, line);
}

/// c += a * b, a [16, 16] row-major, b [16, 8] column-major, in Format; c in float.
///
/// @tparam Format  simt::Binary16 or simt::Bfloat16
template <class Format>
void mma_m16n8k16(float (&c)[4],
                  const unsigned (&a)[4],
                  const unsigned (&b)[2],
                  SIMT_OWN_SITE) {
    detail::multiply<Format>(c, a, b, "mma.sync.m16n8k16", file, line);
}
/// The same of TF32, a [16, 8], b [8, 8].
inline void mma_m16n8k8(float (&c)[4],
                        const unsigned (&a)[4],
                        const unsigned (&b)[2],
                        SIMT_OWN_SITE) {
    detail::multiply<detail::Tf32>(c, a, b, "mma.sync.m16n8k8", file, line);
}
/// The same of signed bytes, a [16, 32], b [32, 8]; sums of 32 bits wrap.
inline void mma_m16n8k32_s8(int (&c)[4],
                            const unsigned (&a)[4],
                            const unsigned (&b)[2],
                            SIMT_OWN_SITE) {
    detail::MmaBytes operands{c, a, b};
    simt::detail::WarpArg arg{0, 0, 0, &operands, detail::multiply_m16n8_s8};
    simt::detail::warp_op(simt::detail::WarpOp::custom,
                          0xffffffffu,
                          arg,
                          "mma.sync.m16n8k32",
                          file,
                          line);
}

}  // namespace simt::ptx
