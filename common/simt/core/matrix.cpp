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

/// How many numbers of a format a register holds.
template <class Format>
constexpr int kPerRegister = 2;
template <>
constexpr int kPerRegister<Tf32> = 1;

/// Element i of a register. Of a float in it, TF32 has the upper 19 bits.
template <class Format>
float element(unsigned word, int i) {
    if constexpr (std::is_same_v<Format, Tf32>)
        return std::bit_cast<float>(word & 0xffffe000u);
    else
        return widen<Format>(static_cast<uint16_t>(word >> (i * 16)));
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

/// A lane has neighbours of a row of a (of a column of b) in one register. The next
/// register is eight rows below, the one after the next the second half of the depth.
template <class Format>
void multiply_m16n8(simt::detail::WarpArg* const* lanes, uint32_t) {
    constexpr int kPer = kPerRegister<Format>, kHalf = 4 * kPer;
    float a[16][2 * kHalf], b[2 * kHalf][8], c[16][8];
    simt::detail::note_product(
        kPer == 1 ? simt::detail::TensorType::tf32 : simt::detail::TensorType::f16,
        16,
        8,
        2 * kHalf);
    for (int lane = 0; lane < 32; ++lane) {
        const auto& mine = *static_cast<MmaOperands*>(lanes[lane]->p);
        const int group = lane / 4, first = lane % 4 * kPer;
        for (int r = 0; r < 4; ++r)
            for (int i = 0; i < kPer; ++i) {
                const float x = element<Format>(mine.a[r], i);
                a[group + r % 2 * 8][first + i + r / 2 * kHalf] = x;
                if (r < 2)
                    b[first + i + r * kHalf][group] = element<Format>(mine.b[r], i);
            }
        for (int i = 0; i < 4; ++i)
            c[group + i / 2 * 8][lane % 4 * 2 + i % 2] = mine.c[i];
    }
    for (int m = 0; m < 16; ++m) {
        for (int k = 0; k < 2 * kHalf; ++k) {
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

template void multiply_m16n8<Binary16>(simt::detail::WarpArg* const*, uint32_t);
template void multiply_m16n8<Bfloat16>(simt::detail::WarpArg* const*, uint32_t);
template void multiply_m16n8<Tf32>(simt::detail::WarpArg* const*, uint32_t);

/// A register has four neighbours of a row of a, or of a column of b.
void multiply_m16n8_s8(simt::detail::WarpArg* const* lanes, uint32_t) {
    simt::detail::note_product(simt::detail::TensorType::i8, 16, 8, 32);
    int a[16][32], b[8][32];
    for (int lane = 0; lane < 32; ++lane) {
        const auto& mine = *static_cast<MmaBytes*>(lanes[lane]->p);
        const int group = lane / 4;
        for (int r = 0; r < 4; ++r)
            for (int i = 0; i < 4; ++i) {
                const int k = lane % 4 * 4 + i + r / 2 * 16;
                a[group + r % 2 * 8][k] = static_cast<int8_t>(mine.a[r] >> 8 * i);
                if (r < 2)
                    b[group][lane % 4 * 4 + i + r * 16] =
                        static_cast<int8_t>(mine.b[r] >> 8 * i);
            }
    }
    for (int lane = 0; lane < 32; ++lane) {
        const auto& mine = *static_cast<MmaBytes*>(lanes[lane]->p);
        for (int i = 0; i < 4; ++i) {
            const int* const row = a[lane / 4 + i / 2 * 8];
            const int* const column = b[lane % 4 * 2 + i % 2];
            auto sum = static_cast<unsigned>(mine.c[i]);  // wraps
            for (int k = 0; k < 32; ++k)
                sum += static_cast<unsigned>(row[k] * column[k]);
            mine.c[i] = static_cast<int>(sum);
        }
    }
}

}  // namespace simt::ptx::detail
