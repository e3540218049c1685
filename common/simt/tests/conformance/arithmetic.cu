// Numbers: conversions, rounding, bit tricks, special values.
#include "conformance.h"

#include <cmath>
#include <limits>

using namespace conformance;

template <class T>
struct Box {
    T v;
};

/// Device-side evaluation of an expression, with one opaque input so that nothing is
/// folded away by a compiler.
#define ON_DEVICE(T, input_type, input, expression)                \
    run_one<T>([x_ = Box<input_type>{input}] __device__(T * out) { \
        volatile input_type hidden = x_.v;                         \
        const input_type x = hidden;                               \
        *out = expression;                                         \
    })

constexpr float kInf = std::numeric_limits<float>::infinity();

CONFORMANCE(float_to_int_truncates) {
    expect_equal(ON_DEVICE(int, float, 2.9f, int(x)), 2);
    expect_equal(ON_DEVICE(int, float, -2.9f, int(x)), -2);
}

CONFORMANCE(float_to_int_rounding_modes) {
    expect_equal(ON_DEVICE(int, float, 2.5f, __float2int_rn(x)), 2);
    expect_equal(ON_DEVICE(int, float, 3.5f, __float2int_rn(x)), 4);
    expect_equal(ON_DEVICE(int, float, -2.5f, __float2int_rz(x)), -2);
    expect_equal(ON_DEVICE(int, float, 2.1f, __float2int_ru(x)), 3);
    expect_equal(ON_DEVICE(int, float, -2.1f, __float2int_rd(x)), -3);
}

CONFORMANCE(float_to_int_saturates) {
    expect_equal(ON_DEVICE(int, float, 1e20f, __float2int_rz(x)), 2147483647);
    expect_equal(ON_DEVICE(int, float, -1e20f, __float2int_rz(x)), int(0x80000000));
    expect_equal(ON_DEVICE(unsigned, float, -5.0f, __float2uint_rz(x)), 0u);
    expect_equal(ON_DEVICE(unsigned, float, 1e20f, __float2uint_rz(x)), 0xffffffffu);
    expect_equal(ON_DEVICE(int, float, std::nanf(""), __float2int_rz(x)), 0);
}

CONFORMANCE(int_to_float_rounding) {
    expect_equal(ON_DEVICE(float, int, 16777217, __int2float_rn(x)), 16777216.0f);
    expect_equal(ON_DEVICE(float, int, 16777217, __int2float_ru(x)), 16777218.0f);
    expect_equal(ON_DEVICE(float, int, 16777219, __int2float_rz(x)), 16777218.0f);
}

CONFORMANCE(double_to_float_rounding) {
    const double x0 = 1.0 + 0x1p-24 + 0x1p-40;
    expect_equal(ON_DEVICE(float, double, x0, __double2float_rn(x)), 1.0f + 0x1p-23f);
    expect_equal(ON_DEVICE(float, double, x0, __double2float_rz(x)), 1.0f);
    expect_equal(ON_DEVICE(float, double, -x0, __double2float_rd(x)), -1.0f - 0x1p-23f);
}

CONFORMANCE(directed_rounding_of_sums_and_products) {
    expect_equal(ON_DEVICE(float, float, 1.0f, __fadd_ru(x, 0x1p-30f)),
                 1.0f + 0x1p-23f);
    expect_equal(ON_DEVICE(float, float, 1.0f, __fadd_rz(x, 0x1p-24f)), 1.0f);
    expect_equal(ON_DEVICE(float, float, 1.0f, __fadd_rd(x, -0x1p-30f)),
                 1.0f - 0x1p-24f);
    expect_equal(ON_DEVICE(float, float, 1.0f + 0x1p-23f, __fmul_rn(x, x)),
                 1.0f + 0x1p-22f);
    expect_equal(ON_DEVICE(float, float, 3.0f, __fdiv_rn(1.0f, x)), 1.0f / 3.0f);
    expect_equal(ON_DEVICE(float, float, 2.0f, __fsqrt_rn(x)), 1.41421356f);
}

CONFORMANCE(fused_multiply_add_rounds_once) {
    const float e = 1.0f + 0x1p-12f;
    expect_equal(ON_DEVICE(float, float, e, fmaf(x, x, -1.0f)), 0x1p-11f + 0x1p-24f);
    expect_equal(ON_DEVICE(double, double, 1.0 + 0x1p-30, fma(x, x, -1.0)),
                 0x1p-29 + 0x1p-60);
}

CONFORMANCE(subnormal_floats_survive) {
    expect_equal(ON_DEVICE(float, float, 0x1p-140f, x * 0.5f), 0x1p-141f);
}

CONFORMANCE(minimum_and_maximum_drop_a_nan) {
    expect_equal(ON_DEVICE(float, float, std::nanf(""), fminf(x, 2.0f)), 2.0f);
    expect_equal(ON_DEVICE(float, float, std::nanf(""), fmaxf(2.0f, x)), 2.0f);
    expect_equal(ON_DEVICE(float, float, -kInf, fmaxf(x, -3.0f)), -3.0f);
}

CONFORMANCE(min_and_max_of_mixed_integers) {
    expect_equal(ON_DEVICE(int, int, -4, min(x, 3)), -4);
    expect_equal(ON_DEVICE(unsigned, unsigned, 5u, max(x, 3u)), 5u);
    expect_equal(ON_DEVICE(long long, long long, 1LL << 40, max(x, 3LL)), 1LL << 40);
}

CONFORMANCE(infinities_and_nan_are_told_apart) {
    expect_equal(ON_DEVICE(int, float, kInf, isinf(x) && !isnan(x)), 1);
    expect_equal(ON_DEVICE(int, float, kInf, isnan(x - x)), 1);
    expect_equal(ON_DEVICE(int, float, 1.0f, isfinite(x)), 1);
    expect_equal(ON_DEVICE(int, float, 0.0f, 1.0f / x > 1e38f), 1);
}

CONFORMANCE(exponential_of_minus_infinity_is_zero) {
    expect_equal(ON_DEVICE(float, float, -kInf, expf(x)), 0.0f);
    expect_equal(ON_DEVICE(float, float, -kInf, __expf(x)), 0.0f);
    expect_equal(ON_DEVICE(float, float, -kInf, exp2f(x)), 0.0f);
}

CONFORMANCE(elementary_functions_are_close) {
    const auto near = [](double got, double wanted) {
        require(std::abs(got - wanted) <= 2e-6 * std::abs(wanted), "too far off");
    };
    near(ON_DEVICE(float, float, 1.5f, expf(x)), std::exp(1.5));
    near(ON_DEVICE(float, float, 1.5f, logf(x)), std::log(1.5));
    near(ON_DEVICE(float, float, 1.5f, tanhf(x)), std::tanh(1.5));
    near(ON_DEVICE(float, float, 1.5f, erff(x)), std::erf(1.5));
    near(ON_DEVICE(float, float, 1.5f, rsqrtf(x)), 1.0 / std::sqrt(1.5));
    near(ON_DEVICE(float, float, 1.5f, cosf(x)), std::cos(1.5));
    near(ON_DEVICE(float, float, 1.5f, powf(x, 2.5f)), std::pow(1.5, 2.5));
    near(ON_DEVICE(float, float, 1.5f, __logf(x)), std::log(1.5));
    near(ON_DEVICE(float, float, 0.25f, sinpif(x)), std::sqrt(0.5));
    near(ON_DEVICE(float, float, 3.0f, hypotf(x, 4.0f)), 5.0);
    near(ON_DEVICE(float, float, 8.0f, cbrtf(x)), 2.0);
    near(ON_DEVICE(double, double, 0.3, normcdf(x)), 0.61791142218895267);
}

CONFORMANCE(rounding_to_integers) {
    expect_equal(ON_DEVICE(float, float, 2.5f, rintf(x)), 2.0f);
    expect_equal(ON_DEVICE(float, float, 2.5f, roundf(x)), 3.0f);
    expect_equal(ON_DEVICE(float, float, -2.5f, floorf(x)), -3.0f);
    expect_equal(ON_DEVICE(float, float, -2.5f, truncf(x)), -2.0f);
    expect_equal(ON_DEVICE(float, float, -7.0f, fmodf(x, 3.0f)), -1.0f);
}

CONFORMANCE(saturate_clamps_and_turns_nan_into_zero) {
    expect_equal(ON_DEVICE(float, float, 1.5f, __saturatef(x)), 1.0f);
    expect_equal(ON_DEVICE(float, float, -0.5f, __saturatef(x)), 0.0f);
    expect_equal(ON_DEVICE(float, float, std::nanf(""), __saturatef(x)), 0.0f);
}

CONFORMANCE(bits_are_reinterpreted) {
    expect_equal(ON_DEVICE(int, float, 1.0f, __float_as_int(x)), 0x3f800000);
    expect_equal(ON_DEVICE(float, int, 0x40490fdb, __int_as_float(x)), 3.14159274f);
    expect_equal(ON_DEVICE(long long, double, 2.0, __double_as_longlong(x)), 1LL << 62);
    expect_equal(ON_DEVICE(int, double, 2.0, __double2hiint(x)), 0x40000000);
    expect_equal(ON_DEVICE(double, int, 0x40000000, __hiloint2double(x, 0)), 2.0);
}

CONFORMANCE(counting_and_finding_bits) {
    expect_equal(ON_DEVICE(int, unsigned, 0xf0f0u, __popc(x)), 8);
    expect_equal(ON_DEVICE(int, int, 1, __clz(x)), 31);
    expect_equal(ON_DEVICE(int, int, 0, __clz(x)), 32);
    expect_equal(ON_DEVICE(int, int, 8, __ffs(x)), 4);
    expect_equal(ON_DEVICE(int, int, 0, __ffs(x)), 0);
    expect_equal(ON_DEVICE(unsigned, unsigned, 1u, __brev(x)), 0x80000000u);
    expect_equal(ON_DEVICE(int, long long, 1LL << 40, __ffsll(x)), 41);
    expect_equal(ON_DEVICE(int, unsigned long long, ~0ull, __popcll(x)), 64);
    expect_equal(ON_DEVICE(int, long long, 1LL, __clzll(x)), 63);
}

CONFORMANCE(bytes_are_permuted) {
    expect_equal(
        ON_DEVICE(unsigned, unsigned, 0x33221100u, __byte_perm(x, 0x77665544u, 0x0123)),
        0x00112233u);
    expect_equal(
        ON_DEVICE(unsigned, unsigned, 0x33221100u, __byte_perm(x, 0x77665544u, 0x7654)),
        0x77665544u);
}

CONFORMANCE(funnel_shifts) {
    expect_equal(ON_DEVICE(unsigned, unsigned, 0x80000001u, __funnelshift_l(x, x, 4)),
                 0x00000018u);
    expect_equal(ON_DEVICE(unsigned, unsigned, 0x12345678u, __funnelshift_r(x, 0u, 8)),
                 0x00123456u);
}

CONFORMANCE(high_words_of_products) {
    expect_equal(ON_DEVICE(int, int, -2, __mulhi(x, 3)), -1);
    expect_equal(ON_DEVICE(unsigned, unsigned, 0x80000000u, __umulhi(x, 4u)), 2u);
    expect_equal(ON_DEVICE(int, int, 0x01000003, __mul24(x, 5)), 15);
}

CONFORMANCE(dot_product_of_four_bytes) {
    expect_equal(ON_DEVICE(int, int, 0x01ff02fe, __dp4a(x, 0x01010101, 10)), 10);
    expect_equal(ON_DEVICE(unsigned, unsigned, 0x01ff02feu, __dp4a(x, 0x01010101u, 1u)),
                 513u);
}

CONFORMANCE(signed_shifts_and_division) {
    expect_equal(ON_DEVICE(int, int, -7, x / 2), -3);
    expect_equal(ON_DEVICE(int, int, -7, x % 2), -1);
    expect_equal(ON_DEVICE(int, int, -8, x >> 1), -4);
    expect_equal(ON_DEVICE(unsigned, unsigned, 3u, x - 5u), 0xfffffffeu);
}

CONFORMANCE(averages_and_absolute_differences) {
    expect_equal(ON_DEVICE(int, int, -7, __hadd(x, 2)), -3);
    expect_equal(ON_DEVICE(int, int, -7, __rhadd(x, 2)), -2);
    expect_equal(ON_DEVICE(unsigned, int, -7, __sad(x, 3, 100u)), 110u);
}

CONFORMANCE(sine_and_cosine_together) {
    const auto got = run<float>(
        1, 1, 2, [] __device__(float* out) { sincosf(0.5f, &out[0], &out[1]); });
    require(std::abs(got[0] - std::sin(0.5)) < 1e-6, "sine");
    require(std::abs(got[1] - std::cos(0.5)) < 1e-6, "cosine");
}

CONFORMANCE(vector_types_have_cudas_sizes_and_alignment) {
    static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
    static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
    static_assert(sizeof(int2) == 8 && alignof(int2) == 8);
    static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4);
    static_assert(sizeof(double2) == 16 && alignof(double2) == 16);
    static_assert(sizeof(short4) == 8 && alignof(short4) == 8);
    const float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    expect_equal(v.x + v.y * 10 + v.z * 100 + v.w * 1000, 4321.0f);
}
