/// wb/gemm.h: the sizes of a matrix product, and how its matrices lie in memory.
#pragma once

#include <wb/arguments.h>

#include <cstddef>
#include <cstdint>

namespace wb {

// #region shape
/// Sizes and layout of C = alpha * op(A) * op(B) + beta * C, all matrices row-major:
/// the elements of a row lie one behind the other, and a row begins `ld` elements
/// behind the one before (its *leading dimension*). What lies between two rows belongs
/// to somebody else.
struct GemmShape {
    int64_t M;                 ///< rows of op(A) and of C
    int64_t N;                 ///< columns of op(B) and of C
    int64_t K;                 ///< columns of op(A), rows of op(B)
    bool transpose_a = false;  ///< A is stored as [K, M] instead of [M, K]
    bool transpose_b = false;  ///< B is stored as [N, K] instead of [K, N]
    int64_t lda = 0;           ///< from a row of A, as it is stored, to the next
    int64_t ldb = 0;
    int64_t ldc = 0;

    // Rows and columns as they are stored.
    int64_t rows_of_a() const { return transpose_a ? K : M; }
    int64_t columns_of_a() const { return transpose_a ? M : K; }
    int64_t rows_of_b() const { return transpose_b ? N : K; }
    int64_t columns_of_b() const { return transpose_b ? K : N; }
    // #endregion shape

    /// Elements from the first one to the last one, gaps between rows included.
    int64_t elements_of_a() const { return extent(rows_of_a(), columns_of_a(), lda); }
    int64_t elements_of_b() const { return extent(rows_of_b(), columns_of_b(), ldb); }
    int64_t elements_of_c() const { return extent(M, N, ldc); }

    /// The same sizes, with no gaps between rows.
    GemmShape packed() const {
        GemmShape s = *this;
        s.lda = columns_of_a();
        s.ldb = columns_of_b();
        s.ldc = N;
        return s;
    }

 private:
    static int64_t extent(int64_t rows, int64_t columns, int64_t ld) {
        return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
    }
};

/// Throws InvalidArgument if a size is negative or above 2^30, a leading dimension
/// is less than its matrix has columns, or a matrix has 2^63 bytes or more.
///
/// @param ab_bytes  of an element of A and of B
/// @param c_bytes   of an element of C
void check_gemm_shape(const Arguments& arguments,
                      const GemmShape& shape,
                      std::size_t ab_bytes,
                      std::size_t c_bytes);

/// Refuses all that a matrix product refuses: the shape, and null, host and misaligned
/// pointers, and a C that overlaps A or B. A and B are not looked at where nothing of
/// them is read: K = 0 or alpha = 0.
///
/// @returns  false where C has no elements, so that there is nothing to do
template <class AB, class CType>
bool check_gemm(const Arguments& arguments,
                const GemmShape& s,
                float alpha,
                const AB* A,
                const AB* B,
                const CType* C) {
    check_gemm_shape(arguments, s, sizeof(AB), sizeof(CType));
    if (s.M == 0 || s.N == 0) return false;
    const bool is_read = s.K > 0 && alpha != 0.0f;
    const int64_t of_a = is_read ? s.elements_of_a() : 0;
    const int64_t of_b = is_read ? s.elements_of_b() : 0;
    const int64_t of_c = s.elements_of_c();
    arguments.device("A", A, of_a).device("B", B, of_b).device("C", C, of_c);
    arguments.apart({{"A", A, of_a * int64_t{sizeof(AB)}, false},
                     {"B", B, of_b * int64_t{sizeof(AB)}, false},
                     {"C", C, of_c * int64_t{sizeof(CType)}, true}});
    return true;
}

}  // namespace wb
