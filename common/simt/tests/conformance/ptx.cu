// Inline PTX: scalar instructions, to the bit.
#include "conformance.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ptx.h"

using namespace conformance;

namespace {

unsigned bits(float x) {
    unsigned result;
    std::memcpy(&result, &x, sizeof result);
    return result;
}

}  // namespace

CONFORMANCE(ptx_bfind_finds_the_highest_bit) {
    const auto find = U32("bfind.u32 %0, %1;");
    expect_equal(apply<unsigned>(find, 0x00010001u), 16u);
    expect_equal(apply<unsigned>(find, 0u), 0xffffffffu);
    const auto shift = U32("bfind.shiftamt.u32 %0, %1;");
    expect_equal(apply<unsigned>(shift, 0x00010001u), 15u);
    const auto sign = S32("bfind.s32 %0, %1;");
    expect_equal(apply<int>(sign, -1), -1);
    expect_equal(apply<int>(sign, -5), 2);
}

CONFORMANCE(ptx_lop3_is_any_function_of_three_bits) {
    expect_equal(apply<unsigned>(
                     U32("lop3.b32 %0, %1, %2, %3, 0x96;"), 0xf0f0u, 0xccccu, 0xaaaau),
                 0x9696u);
    expect_equal(apply<unsigned>(
                     U32("lop3.b32 %0, %1, %2, %3, 0xE8;"), 0xf0f0u, 0xccccu, 0xaaaau),
                 0xe8e8u);
}

CONFORMANCE(ptx_prmt_takes_bytes_and_signs) {
    const auto take = U32("prmt.b32 %0, %1, %2, %3;");
    expect_equal(apply<unsigned>(take, 0x80402010u, 0x88776655u, 0x7531u), 0x88668020u);
    expect_equal(apply<unsigned>(take, 0x80402010u, 0x88776655u, 0xbf8cu), 0xffff0000u);
}

CONFORMANCE(ptx_prmt_has_modes) {
    const auto expect_mode = [](auto take, unsigned first, unsigned last) {
        expect_equal(apply<unsigned>(take, 0x40302010u, 0x80706050u, 0u), first);
        expect_equal(apply<unsigned>(take, 0x40302010u, 0x80706050u, 7u), last);
    };
    expect_mode(U32("prmt.b32.f4e %0, %1, %2, %3;"), 0x40302010u, 0x70605040u);
    expect_mode(U32("prmt.b32.b4e %0, %1, %2, %3;"), 0x60708010u, 0x10203040u);
    expect_mode(U32("prmt.b32.rc8 %0, %1, %2, %3;"), 0x10101010u, 0x40404040u);
    expect_mode(U32("prmt.b32.ecl %0, %1, %2, %3;"), 0x40302010u, 0x40404040u);
    expect_mode(U32("prmt.b32.ecr %0, %1, %2, %3;"), 0x10101010u, 0x40302010u);
    expect_mode(U32("prmt.b32.rc16 %0, %1, %2, %3;"), 0x20102010u, 0x40304030u);
}

CONFORMANCE(ptx_shf_wraps_or_clamps) {
    expect_equal(
        apply<unsigned>(U32("shf.l.wrap.b32 %0, %1, %2, %3;"), 0x80000001u, 0x1u, 33u),
        0x3u);
    expect_equal(
        apply<unsigned>(U32("shf.l.clamp.b32 %0, %1, %2, %3;"), 0x80000001u, 0x1u, 33u),
        0x80000001u);
    expect_equal(
        apply<unsigned>(U32("shf.r.wrap.b32 %0, %1, %2, %3;"), 0x80000001u, 0x1u, 1u),
        0xc0000000u);
}

CONFORMANCE(ptx_bit_fields) {
    expect_equal(apply<int>(S32("bfe.s32 %0, %1, %2, %3;"), 0xf0, 4, 4), -1);
    expect_equal(apply<unsigned>(U32("bfe.u32 %0, %1, %2, %3;"), 0xabcdu, 4u, 8u),
                 0xbcu);
    expect_equal(apply<unsigned>(U32("bfi.b32 %0, %1, %2, %3, 8;"), 0xffu, 0u, 12u),
                 0xff000u);
    expect_equal(apply<unsigned>(U32("brev.b32 %0, %1;"), 0x3u), 0xc0000000u);
}

CONFORMANCE(ptx_sums_with_a_carry) {
    const auto got = run<unsigned>(1, 1, 3, [] __device__(unsigned* out) {
        const volatile unsigned ones = 0xffffffffu;
        const unsigned a = ones;
        asm volatile(
            "add.cc.u32 %0, %3, 1;\n\t"
            "addc.cc.u32 %1, %3, 0;\n\t"
            "addc.u32 %2, 5, 0;"
            : "=r"(out[0]), "=r"(out[1]), "=r"(out[2])
            : "r"(a));
    });
    expect_equal(got, std::vector<unsigned>{0, 0, 6});
}

CONFORMANCE(ptx_differences_with_a_borrow) {
    const auto got = run<unsigned>(1, 1, 2, [] __device__(unsigned* out) {
        const volatile unsigned nothing = 0;
        const unsigned a = nothing;
        asm volatile(
            "sub.cc.u32 %0, %2, 1;\n\t"
            "subc.u32 %1, 7, 0;"
            : "=r"(out[0]), "=r"(out[1])
            : "r"(a));
    });
    expect_equal(got, std::vector<unsigned>{0xffffffffu, 6});
}

CONFORMANCE(ptx_products_of_long_numbers) {
    // (2^32 - 1)^2 + (2^32 - 1) in two words.
    const auto got = run<unsigned>(1, 1, 2, [] __device__(unsigned* out) {
        const volatile unsigned ones = 0xffffffffu;
        const unsigned a = ones;
        asm volatile(
            "mad.lo.cc.u32 %0, %2, %2, %2;\n\t"
            "madc.hi.u32 %1, %2, %2, 0;"
            : "=r"(out[0]), "=r"(out[1])
            : "r"(a));
    });
    expect_equal(got, std::vector<unsigned>{0, 0xffffffffu});
}

CONFORMANCE(ptx_wide_products) {
    const auto got = run<long long>(1, 1, 3, [] __device__(long long* out) {
        const volatile int hidden = -3;
        const int a = hidden;
        const long long c = 1ll << 40;
        asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(out[0]) : "r"(a), "r"(5), "l"(c));
        asm("mul.wide.u32 %0, %1, %2;" : "=l"(out[1]) : "r"(0xffffffffu), "r"(4));
        asm("mul.hi.s64 %0, %1, %2;" : "=l"(out[2]) : "l"(1ll << 62), "l"(-8ll));
    });
    expect_equal(got, std::vector<long long>{(1ll << 40) - 15, 0x3fffffffcll, -2});
}

CONFORMANCE(ptx_dot_products_of_mixed_signs) {
    expect_equal(apply<unsigned>(
                     U32("dp4a.u32.u32 %0, %1, %2, %3;"), 0x01ff02feu, 0x01010101u, 1u),
                 513u);
    expect_equal(
        apply<int>(S32("dp4a.s32.u32 %0, %1, %2, %3;"), 0x01ff02fe, 0x02ff0101, 10),
        -243);
    expect_equal(
        apply<int>(S32("dp2a.lo.s32.s32 %0, %1, %2, %3;"), 0x0003fffe, 0x0201, 10), 14);
}

CONFORMANCE(ptx_sums_of_differences_and_saturation) {
    expect_equal(apply<unsigned>(U32("sad.u32 %0, %1, %2, %3;"), 3u, 10u, 100u), 107u);
    expect_equal(apply<int>(S32("sad.s32 %0, %1, %2, %3;"), -3, 10, 100), 113);
    expect_equal(apply<int>(S32("add.sat.s32 %0, %1, %2;"), 2147483000, 1000),
                 2147483647);
    expect_equal(apply<int>(S32("sub.sat.s32 %0, %1, %2;"), -2147483000, 1000),
                 int(0x80000000));
}

CONFORMANCE(ptx_floats_round_in_four_directions) {
    expect_equal(apply<float>(F32("add.rz.f32 %0, %1, %2;"), 1.0f, 0x1.8p-24f), 1.0f);
    expect_equal(apply<float>(F32("add.rp.f32 %0, %1, %2;"), 1.0f, 0x1p-30f),
                 1.0f + 0x1p-23f);
    expect_equal(apply<float>(F32("mul.rm.f32 %0, %1, %2;"), 0.1f, 0.1f),
                 0x1.47ae14p-7f);
    expect_equal(apply<float>(F32("mul.rp.f32 %0, %1, %2;"), 0.1f, 0.1f),
                 0x1.47ae16p-7f);
    expect_equal(apply<float>(F32("fma.rz.f32 %0, %1, %2, %3;"), 2.0f, 3.0f, 0x1p-30f),
                 6.0f);
    expect_equal(apply<float>(F32("div.rp.f32 %0, %1, %2;"), 1.0f, 3.0f),
                 0x1.555556p-2f);
    expect_equal(apply<float>(F32("sqrt.rm.f32 %0, %1;"), 2.0f), 0x1.6a09e6p+0f);
}

CONFORMANCE(ptx_flushes_and_saturates_floats) {
    expect_equal(apply<float>(F32("add.ftz.f32 %0, %1, %2;"), 0x1p-130f, 0.0f), 0.0f);
    expect_equal(
        bits(apply<float>(F32("mul.ftz.f32 %0, %1, %2;"), -0x1p-100f, 0x1p-40f)),
        0x80000000u);
    expect_equal(apply<float>(F32("add.sat.f32 %0, %1, %2;"), 0.75f, 0.75f), 1.0f);
    expect_equal(apply<float>(F32("mul.sat.f32 %0, %1, %2;"),
                              std::numeric_limits<float>::quiet_NaN(),
                              1.0f),
                 0.0f);
}

CONFORMANCE(ptx_minima_know_nan_and_zero) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    expect_equal(apply<float>(F32("min.f32 %0, %1, %2;"), nan, 3.0f), 3.0f);
    expect_equal(bits(apply<float>(F32("min.NaN.f32 %0, %1, %2;"), nan, 3.0f)),
                 0x7fffffffu);
    expect_equal(bits(apply<float>(F32("min.f32 %0, %1, %2;"), 0.0f, -0.0f)),
                 0x80000000u);
    expect_equal(bits(apply<float>(F32("max.f32 %0, %1, %2;"), -0.0f, 0.0f)), 0u);
    expect_equal(bits(apply<float>(F32("copysign.f32 %0, %1, %2;"), -0.0f, 3.0f)),
                 0xc0400000u);
}

CONFORMANCE(ptx_conversions_round_and_saturate) {
    const auto nearest = INSTRUCTION(int, float, "cvt.rni.s32.f32 %0, %1;", "=r", "f");
    expect_equal(apply<int>(nearest, 2.5f), 2);
    expect_equal(apply<int>(nearest, 3e10f), 2147483647);
    expect_equal(apply<int>(nearest, std::numeric_limits<float>::quiet_NaN()), 0);
    const auto up = INSTRUCTION(unsigned, float, "cvt.rpi.u32.f32 %0, %1;", "=r", "f");
    expect_equal(apply<unsigned>(up, 2.1f), 3u);
    expect_equal(apply<unsigned>(up, -7.0f), 0u);
    const auto down = INSTRUCTION(float, int, "cvt.rm.f32.s32 %0, %1;", "=f", "r");
    expect_equal(apply<float>(down, 16777219), 16777218.0f);
    expect_equal(apply<float>(F32("cvt.rmi.f32.f32 %0, %1;"), -2.5f), -3.0f);
    expect_equal(apply<int>(S32("cvt.sat.s8.s32 %0, %1;"), 300), 127);
    expect_equal(apply<int>(S32("cvt.s16.s32 %0, %1;"), 0x18000), -32768);
}

CONFORMANCE(ptx_conversions_to_half_and_bfloat16) {
    expect_equal(
        run_one<unsigned>([] __device__(unsigned* out) {
            const volatile float high = 1.5f, low = -2.0f;
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*out) : "f"(high), "f"(low));
        }),
        0x3e00c000u);
    expect_equal(run_one<unsigned>([] __device__(unsigned* out) {
                     const volatile float x = 1.00390625f;  // halfway, to the even one
                     unsigned short half;
                     asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(x));
                     *out = half;
                 }),
                 0x3f80u);
}

CONFORMANCE(ptx_arithmetic_of_halves) {
    // Low: 1 + 2^-11, halfway, to the even one. High: 65504 + 65504.
    expect_equal(
        apply<unsigned>(U32("add.f16x2 %0, %1, %2;"), 0x7bff3c00u, 0x7bff1000u),
        0x7c003c00u);
    expect_equal(
        apply<unsigned>(U32("sub.rn.f16x2 %0, %1, %2;"), 0x3c000001u, 0x42000002u),
        0xc0008001u);
    expect_equal(
        apply<unsigned>(U32("mul.ftz.f16x2 %0, %1, %2;"), 0x42000401u, 0xc0003800u),
        0xc6000000u);
    // fma: the product is not rounded, nor by its sum with a tiny number.
    expect_equal(
        apply<unsigned>(
            U32("fma.rn.f16x2 %0, %1, %2, %3;"), 0x3c013c01u, 0x3c013c01u, 0xbc020001u),
        0x00103c02u);
    expect_equal(
        apply<unsigned>(
            U32("fma.rn.relu.f16x2 %0, %1, %2, %3;"), 0x3c003c00u, 0xbc004000u, 0u),
        0x00004000u);
    expect_equal(
        apply<unsigned>(U32("add.sat.f16x2 %0, %1, %2;"), 0x3a007e00u, 0x3a003c00u),
        0x3c000000u);
    expect_equal(apply<unsigned>(U32("fma.rn.bf16x2 %0, %1, %2, %3;"),
                                 0x3f813f81u,
                                 0x3f813f81u,
                                 0xbf820000u),
                 0x38803f82u);
    expect_equal(
        apply<unsigned>(U32("max.f16x2 %0, %1, %2;"), 0x7e008000u, 0x3c000000u),
        0x3c000000u);
    expect_equal(
        apply<unsigned>(U32("min.NaN.f16x2 %0, %1, %2;"), 0x7e008000u, 0x3c000000u),
        0x7fff8000u);
    expect_equal(apply<unsigned>(U32("neg.f16x2 %0, %1;"), 0x3c008000u), 0xbc000000u);
    expect_equal(apply<unsigned>(U32("abs.bf16x2 %0, %1;"), 0xbf808000u), 0x3f800000u);
}
