// CUDA's C++ library in kernels (cuda::std), and complex numbers in C's style.
#include "conformance.h"

#include <cuComplex.h>

#include <cuda/cmath>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

using namespace conformance;
namespace cs = cuda::std;

CONFORMANCE(cuda_std_array_holds_its_elements) {
    const auto got = run<int>(1, 1, 4, [] __device__(int* out) {
        cs::array<int, 4> a{1, 2, 3, 4};
        a[2] = 30;
        out[0] = a.front();
        out[1] = a.back();
        out[2] = a.at(2);
        out[3] = static_cast<int>(a.size());
    });
    expect_equal(got, std::vector<int>{1, 4, 30, 4});
}

CONFORMANCE(cuda_std_tuple_and_pair_are_taken_apart) {
    const auto got = run<int>(1, 1, 3, [] __device__(int* out) {
        const auto [a, b, c] = cs::make_tuple(1, 2.75f, 'c');
        out[0] = a + static_cast<int>(b) + (c == 'c');
        out[1] =
            cs::apply([](auto... x) { return (x + ...); }, cs::make_tuple(1, 2, 3));
        auto pair = cs::make_pair(4, 5);
        cs::swap(pair.first, pair.second);
        out[2] = 10 * pair.first + cs::get<1>(pair);
    });
    expect_equal(got, std::vector<int>{4, 6, 54});
}

CONFORMANCE(cuda_std_optional_may_be_empty) {
    const auto got = run<int>(1, 1, 3, [] __device__(int* out) {
        cs::optional<int> a;
        out[0] = a.value_or(-1);
        a = 7;
        out[1] = *a;
        a.reset();
        out[2] = a.has_value();
    });
    expect_equal(got, std::vector<int>{-1, 7, 0});
}

CONFORMANCE(cuda_std_expected_has_a_value_or_an_error) {
    const auto got = run<int>(1, 1, 3, [] __device__(int* out) {
        const auto half = [](int x) -> cs::expected<int, int> {
            if (x % 2 != 0) return cs::unexpected<int>(x);
            return x / 2;
        };
        out[0] = half(8).value();
        out[1] = half(7).error();
        out[2] = half(7).value_or(-1);
    });
    expect_equal(got, std::vector<int>{4, 7, -1});
}

CONFORMANCE(cuda_std_variant_knows_what_it_holds) {
    const auto got = run<int>(1, 1, 2, [] __device__(int* out) {
        cs::variant<int, float> v = 2.5f;
        out[0] = static_cast<int>(v.index());
        out[1] = static_cast<int>(
            cs::visit([](auto x) { return 2 * static_cast<float>(x); }, v));
    });
    expect_equal(got, std::vector<int>{1, 5});
}

CONFORMANCE(cuda_std_span_views_a_part) {
    const auto got = run<int>(1, 1, 2, [] __device__(int* out) {
        int data[6] = {1, 2, 3, 4, 5, 6};
        const cs::span<int> all(data, 6);
        out[0] = static_cast<int>(all.subspan(2, 3).size());
        int sum = 0;
        for (const int x : all.last(2))
            sum += x;
        out[1] = sum;
    });
    expect_equal(got, std::vector<int>{3, 11});
}

CONFORMANCE(cuda_std_complex_multiplies) {
    const auto got = run<float>(1, 1, 4, [] __device__(float* out) {
        const cs::complex<float> a(3, 4);
        const cs::complex<float> b = a * cs::conj(a);
        out[0] = b.real();
        out[1] = b.imag();
        out[2] = cs::abs(a);
        out[3] = cs::norm(a);
    });
    expect_equal(got, std::vector<float>{25, 0, 5, 25});
}

CONFORMANCE(cuda_std_limits_and_bits) {
    expect_equal(run_one<int>([] __device__(int* out) {
                     *out = cs::numeric_limits<int>::max() == 2147483647 &&
                            cs::numeric_limits<float>::infinity() > 3e38f &&
                            cs::bit_cast<unsigned>(1.0f) == 0x3f800000u &&
                            cs::popcount(0xf0u) == 4 && cs::countl_zero(1u) == 31 &&
                            cs::rotl(0x80000001u, 1) == 3u;
                 }),
                 1);
}

CONFORMANCE(cuda_std_chrono_converts_units) {
    expect_equal(run_one<int>([] __device__(int* out) {
                     const cs::chrono::milliseconds ms = cs::chrono::seconds(2);
                     *out = static_cast<int>(ms.count());
                 }),
                 2000);
}

CONFORMANCE(cuda_std_functional_objects) {
    expect_equal(run_one<int>([] __device__(int* out) {
                     *out = cs::plus<>{}(1, 2) + 10 * cs::greater<int>{}(3, 2) +
                            cs::invoke([](int i) { return 100 * i; }, 2);
                 }),
                 213);
}

CONFORMANCE(mdspan_counts_by_rows_or_by_columns) {
    const auto got = run<int>(1, 1, 3, [] __device__(int* out) {
        int data[12];
        for (int i = 0; i < 12; ++i)
            data[i] = i;
        const cs::mdspan<int, cs::dextents<int, 2>> rows(data, 3, 4);
        const cs::mdspan<int, cs::extents<int, 3, 4>, cs::layout_left> columns(data);
        out[0] = rows(1, 2);
        out[1] = columns(1, 2);
        out[2] = static_cast<int>(rows.size()) + 100 * columns.stride(1);
    });
    expect_equal(got, std::vector<int>{6, 7, 312});
}

CONFORMANCE(mdspan_takes_strides) {
    const auto got = run<int>(1, 1, 2, [] __device__(int* out) {
        int data[12];
        for (int i = 0; i < 12; ++i)
            data[i] = i;
        using Shape = cs::dextents<int, 2>;
        const cs::layout_stride::mapping<Shape> map(Shape(2, 2),
                                                    cs::array<int, 2>{6, 2});
        const cs::mdspan<int, Shape, cs::layout_stride> part(data, map);
        out[0] = part(1, 1);
        out[1] = map.required_span_size();
    });
    expect_equal(got, std::vector<int>{8, 9});
}

CONFORMANCE(cuda_cmath_rounds_quotients) {
    expect_equal(run_one<int>([] __device__(int* out) {
                     *out = cuda::ceil_div(7, 3) + 10 * cuda::round_up(7, 4) +
                            1000 * cuda::round_down(7, 4);
                 }),
                 4083);
}

CONFORMANCE(cucomplex_arithmetic) {
    const auto got = run<float>(1, 1, 6, [] __device__(float* out) {
        const cuComplex a = make_cuComplex(1, 2), b = make_cuFloatComplex(3, -4);
        const cuComplex product = cuCmulf(a, b), sum = cuCaddf(a, b);
        out[0] = cuCrealf(product);
        out[1] = cuCimagf(product);
        out[2] = cuCrealf(sum) + cuCimagf(cuCsubf(a, b));
        out[3] = cuCabsf(b);
        out[4] = cuCimagf(cuConjf(b));
        out[5] = cuCrealf(cuCfmaf(a, b, a));
    });
    expect_equal(got, std::vector<float>{11, 2, 10, 5, 4, 12});
}

CONFORMANCE(cucomplex_division_does_not_overflow) {
    const auto got = run<double>(1, 1, 3, [] __device__(double* out) {
        const cuDoubleComplex big = make_cuDoubleComplex(1e200, 1e200);
        const cuDoubleComplex one = cuCdiv(big, big);
        out[0] = cuCreal(one);
        out[1] = cuCimag(one);
        out[2] = cuCabs(make_cuDoubleComplex(3e200, 4e200)) / 1e200;
    });
    expect_equal(got[1], 0.0);
    require(got[0] > 0.999999999999 && got[0] < 1.000000000001, "not 1");
    require(got[2] > 4.999999999999 && got[2] < 5.000000000001, "not 5e200");
}
