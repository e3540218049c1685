/// simt/wmma/mma.h: nvcuda::wmma::mma_sync, d = a * b + c.
///
/// Products are exact; sums are rounded to float in the order of k (the hardware keeps
/// a few bits less or more, in an order that is not documented). A half accumulator is
/// rounded once.
#pragma once
#include "simt/tensor.h"
#include "simt/warp.h"
#include "simt/wmma/fragment.h"

namespace nvcuda::wmma {

namespace simt_detail {
/// The type that products are summed in.
template <class T>
using Sum =
    std::conditional_t<is_int8<T>,
                       int,
                       std::conditional_t<std::is_same_v<T, double>, double, float>>;

template <class T>
auto operand(const Storage<T>& value) {
    if constexpr (std::is_same_v<T, precision::tf32>) {
        // The hardware ignores the bits that tf32 does not have.
        return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffffe000u);
    } else {
        return static_cast<Sum<T>>(value);
    }
}

/// The kind of operands, for those who count.
template <class T>
constexpr simt::detail::TensorType tensor_type() {
    using Type = simt::detail::TensorType;
    if (is_int8<T>) return Type::i8;
    if (std::is_same_v<T, double>) return Type::f64;
    return std::is_same_v<T, precision::tf32> ? Type::tf32 : Type::f16;
}

/// What a lane brings to mma_sync.
template <class D, class A, class B, class C>
struct Operands {
    D* d;
    const A* a;
    const B* b;
    const C* c;
    bool saturate;
};

/// sum + a * b; integers wrap around or, if asked, saturate.
template <class S>
S accumulate(S sum, S a, S b, bool saturate) {
    if constexpr (std::is_integral_v<S>) {
        const long long exact = static_cast<long long>(sum) + a * b;
        if (!saturate) return static_cast<S>(static_cast<unsigned>(exact));
        return exact > 0x7fffffffll    ? 0x7fffffff
               : exact < -0x80000000ll ? static_cast<S>(-0x80000000ll)
                                       : static_cast<S>(exact);
    } else {
        return sum + a * b;
    }
}

template <int M, int N, int K, class T, class D, class A, class B, class C>
void multiply(simt::detail::WarpArg* const* lanes, uint32_t mask) {
    using S = Sum<T>;
    simt::detail::note_product(tensor_type<T>(), M, N, K);
    S a[M][K] = {};
    S b[K][N] = {};
    S sum[M][N] = {};
    bool saturate = false;
    for (int lane = 0; lane < 32; ++lane) {
        if (lanes[lane] == nullptr) continue;
        const auto& mine = *static_cast<Operands<D, A, B, C>*>(lanes[lane]->p);
        saturate = mine.saturate;
        for (int i = 0; i < A::simt_distinct; ++i) {
            const Position at = position<matrix_a, M, N, K, Storage<T>>(lane, i);
            a[at.row][at.col] = operand<T>(mine.a->x[i]);
        }
        for (int i = 0; i < B::simt_distinct; ++i) {
            const Position at = position<matrix_b, M, N, K, Storage<T>>(lane, i);
            b[at.row][at.col] = operand<T>(mine.b->x[i]);
        }
        for (int i = 0; i < C::num_elements; ++i) {
            const Position at = position<accumulator, M, N, K, S>(lane, i);
            sum[at.row][at.col] = static_cast<S>(mine.c->x[i]);
        }
    }
    for (int m = 0; m < M; ++m) {
        for (int k = 0; k < K; ++k) {
            for (int n = 0; n < N; ++n) {
                sum[m][n] = accumulate(sum[m][n], a[m][k], b[k][n], saturate);
            }
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1u) == 0) continue;
        const auto& mine = *static_cast<Operands<D, A, B, C>*>(lanes[lane]->p);
        for (int i = 0; i < D::num_elements; ++i) {
            const Position at = position<accumulator, M, N, K, S>(lane, i);
            mine.d->x[i] = static_cast<typename D::element_type>(sum[at.row][at.col]);
        }
    }
}

/// Whether the hardware multiplies T into accumulators of these types.
template <class T, class TC, class TD>
constexpr bool accumulates() {
    if (std::is_same_v<T, __half>) {
        return !std::is_same_v<TC, int> && !std::is_same_v<TD, int>;
    }
    return std::is_same_v<TC, Sum<T>> && std::is_same_v<TD, Sum<T>>;
}
}  // namespace simt_detail

/// d = a * b + c for the whole warp.
///
/// @param saturate  8-bit integers only: the sum saturates instead of wrapping around
template <int M, int N, int K, class T, class LA, class LB, class TC, class TD>
void mma_sync(fragment<accumulator, M, N, K, TD>& d,
              const fragment<matrix_a, M, N, K, T, LA>& a,
              const fragment<matrix_b, M, N, K, T, LB>& b,
              const fragment<accumulator, M, N, K, TC>& c,
              bool saturate = false,
              SIMT_SITE) {
    static_assert(simt_detail::accumulates<T, TC, TD>(),
                  "wmma has no product of these operands into these accumulators");
    using D = fragment<accumulator, M, N, K, TD>;
    using A = fragment<matrix_a, M, N, K, T, LA>;
    using B = fragment<matrix_b, M, N, K, T, LB>;
    using C = fragment<accumulator, M, N, K, TC>;
    simt_detail::Operands<D, A, B, C> operands{&d, &a, &b, &c, saturate};
    simt::detail::WarpArg arg{
        0, 0, 0, &operands, simt_detail::multiply<M, N, K, T, D, A, B, C>};
    simt::detail::warp_op(
        simt::detail::WarpOp::custom, 0xffffffffu, arg, "wmma::mma_sync", file, line);
}

}  // namespace nvcuda::wmma
