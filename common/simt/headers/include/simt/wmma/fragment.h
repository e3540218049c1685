/// simt/wmma/fragment.h: nvcuda::wmma::fragment: a matrix tile spread over a warp.
///
/// Shapes (M x N x K): 16x16x16, 32x8x16 and 8x32x16 for half, bfloat16 and 8-bit
/// integers, 16x16x8 for tf32, 8x8x4 for double. Which lane holds which element is
/// not documented; here it is as on an H100, so that even code that relies on it gets
/// the GPU's answer.
#pragma once
#include <bit>
#include <type_traits>

#include "simt/bfloat16.h"

namespace nvcuda::wmma {

// What a fragment is, and how its matrix lies in memory.
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

namespace simt_detail {
template <class T>
inline constexpr bool is_int8 =
    std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;
template <class T>
inline constexpr bool is_input16 =
    std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

/// Whether the hardware has this shape for this element type.
template <class Use, int M, int N, int K, class T>
constexpr bool supported() {
    constexpr bool kIsAccumulator = std::is_same_v<Use, accumulator>;
    constexpr bool kK16 =
        K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32));
    if (M == 8 && N == 8 && K == 4) return std::is_same_v<T, double>;
    if (M == 16 && N == 16 && K == 8) {
        return std::
            is_same_v<T, std::conditional_t<kIsAccumulator, float, precision::tf32>>;
    }
    if (kIsAccumulator) {
        return kK16 && (std::is_same_v<T, float> || std::is_same_v<T, __half> ||
                        std::is_same_v<T, int>);
    }
    return kK16 && (is_input16<T> || is_int8<T>);
}

/// tf32 is stored as float.
template <class T>
using Storage = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;

/// Rows and columns of the tile.
template <class Use, int M, int N, int K>
inline constexpr int kRows = std::is_same_v<Use, matrix_b> ? K : M;
template <class Use, int M, int N, int K>
inline constexpr int kCols = std::is_same_v<Use, matrix_a> ? K : N;

struct Position {
    int row, col;
};
/// Where element i of a lane stands, as seen on an H100.
///
/// Lanes count through 8 lines of a tile, four lanes to a line; each holds `kRun`
/// neighbours along K (for accumulators along N; along M if the tile is wider than
/// high). The parts of a larger tile follow each other in the order of the mma
/// instructions that multiply them.
///
/// @tparam T  type of the elements in memory
template <class Use, int M, int N, int K, class T>
constexpr Position position(int lane, int i) {
    constexpr bool kIsA = std::is_same_v<Use, matrix_a>;
    constexpr bool kIsB = std::is_same_v<Use, matrix_b>;
    constexpr int kRun = !kIsA && !kIsB   ? 2
                         : sizeof(T) == 1 ? 4
                         : sizeof(T) == 2 ? 2
                                          : 1;
    const int part = i / kRun;
    const int line = lane / 4;
    const int run = lane % 4 * kRun + i % kRun;
    if (!kIsA && !kIsB) {
        if (N == 32) return {run, line + 8 * part};
        return {line + part % (M / 8) * 8, run + part / (M / 8) * 8};
    }
    // Now lines run along M (matrix_a) or N (matrix_b).
    constexpr int kLines = kIsA ? M : N;
    int next_lines = 0;
    int next_run = 0;
    if (sizeof(T) == 1) {
        next_lines = part;
    } else if (kLines == 8) {
        next_run = part;
    } else if (kIsB && kLines == 16) {
        next_run = part % 2;
        next_lines = part / 2;
    } else {
        next_lines = part % 2 + part / 4 * 2;
        next_run = part / 2 % 2;
    }
    const int along_lines = line + 8 * next_lines;
    const int along_k = run + 4 * kRun * next_run;
    return kIsA ? Position{along_lines, along_k} : Position{along_k, along_lines};
}
}  // namespace simt_detail

/// One lane's share of a tile.
///
/// @tparam Use     matrix_a (M x K), matrix_b (K x N) or accumulator (M x N)
/// @tparam Layout  row_major or col_major in memory; void for accumulators
template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment {
    static_assert(simt_detail::supported<Use, M, N, K, T>(),
                  "wmma has no fragment of this shape and element type");
    static_assert(std::is_void_v<Layout> == std::is_same_v<Use, accumulator>,
                  "matrix_a and matrix_b have a layout, accumulators have none");

 public:
    using element_type = T;
    using storage_element_type = simt_detail::Storage<T>;

    /// Elements per lane that differ. Of half matrices each lane holds 16, some
    /// repeatedly.
    static constexpr int simt_distinct =
        simt_detail::kRows<Use, M, N, K> * simt_detail::kCols<Use, M, N, K> / 32;
    static constexpr int num_elements =
        std::is_same_v<T, __half> && !std::is_same_v<Use, accumulator> ? 16
                                                                       : simt_distinct;
    static constexpr int num_storage_elements = num_elements;

    storage_element_type x[num_elements];
};

/// A float rounded to the 10 mantissa bits of tf32, ties away from zero. Of a NaN the
/// other bits are cut off, as by cvt.rna.tf32.f32: one that has no other bits becomes
/// an infinity (measured on an H200, CUDA 13.0).
inline float __float_to_tf32(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return std::bit_cast<float>((finite ? bits + 0x1000u : bits) & 0xffffe000u);
}

}  // namespace nvcuda::wmma
