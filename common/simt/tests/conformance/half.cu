// fp16 and bf16: rounding, overflow, arithmetic, packing.
#include "conformance.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

using namespace conformance;

template <class F>
float on_device(float input, F body) {
    return run_one<float>([=] __device__(float* out) {
        volatile float hidden = input;
        *out = body(hidden);
    });
}

CONFORMANCE(half_rounds_to_nearest_even) {
    const auto round = [] __device__(float x) { return __half2float(__float2half(x)); };
    expect_equal(on_device(1.0f + 0x1p-11f, round), 1.0f);
    expect_equal(on_device(1.0f + 3 * 0x1p-11f, round), 1.0f + 0x1p-9f);
    expect_equal(on_device(1.0f + 0x1p-11f + 0x1p-20f, round), 1.0f + 0x1p-10f);
}

/// The upper half of a float, or all of it, rounded to bf16 by hand.
__device__ __noinline__ unsigned rounded_bits(float x, int columns) {
    const unsigned upper = __float_as_uint(x) & 0xffff0000u;
    const float y = columns == 128 ? __uint_as_float(upper) : x;
    const unsigned bits = __float_as_uint(y);
    const unsigned low = bits & 0xffffu;
    unsigned result = bits >> 16;
    if (low > 0x8000u || (low == 0x8000u && (result & 1u) != 0u)) ++result;
    return result & 0xffffu;
}

CONFORMANCE(half_rounds_what_a_condition_cuts) {
    // 0x3f80e560: cut, nothing is left to round; else it is rounded up.
    const auto cut = [] __device__(float x) {
        return static_cast<float>(rounded_bits(x, 128));
    };
    const auto whole = [] __device__(float x) {
        return static_cast<float>(rounded_bits(x, 64));
    };
    expect_equal(on_device(1.007f, cut), static_cast<float>(0x3f80));
    expect_equal(on_device(1.007f, whole), static_cast<float>(0x3f81));
}

CONFORMANCE(half_overflows_to_infinity_past_65519) {
    const auto round = [] __device__(float x) { return __half2float(__float2half(x)); };
    expect_equal(on_device(65504.0f, round), 65504.0f);
    expect_equal(on_device(65519.0f, round), 65504.0f);
    expect_equal(on_device(65520.0f, round), INFINITY);
    expect_equal(on_device(-1e9f, round), -INFINITY);
}

CONFORMANCE(half_subnormals) {
    const auto round = [] __device__(float x) { return __half2float(__float2half(x)); };
    expect_equal(on_device(0x1p-24f, round), 0x1p-24f);
    expect_equal(on_device(0x1p-25f, round), 0.0f);
    expect_equal(on_device(0x1.8p-25f, round), 0x1p-24f);
}

CONFORMANCE(half_conversions_with_directed_rounding) {
    const auto down = [] __device__(float x) {
        return __half2float(__float2half_rz(x));
    };
    const auto up = [] __device__(float x) { return __half2float(__float2half_ru(x)); };
    expect_equal(on_device(1.0f + 0x1p-11f + 0x1p-12f, down), 1.0f);
    expect_equal(on_device(1.0f + 0x1p-20f, up), 1.0f + 0x1p-10f);
    expect_equal(on_device(1e9f, down), 65504.0f);
}

CONFORMANCE(half_addition_swallows_small_terms) {
    const auto add = [] __device__(float x) {
        return __half2float(__hadd(__float2half(2048.0f), __float2half(x)));
    };
    expect_equal(on_device(1.0f, add), 2048.0f);
    expect_equal(on_device(3.0f, add), 2052.0f);
}

CONFORMANCE(half_operators) {
    const auto compute = [] __device__(float x) {
        const __half a = __float2half(x);
        const __half b = __float2half(0.5f);
        return __half2float(a * b + a / b - b);
    };
    expect_equal(on_device(3.0f, compute), 7.0f);
}

CONFORMANCE(half_fma_rounds_once) {
    const auto fused = [] __device__(float x) {
        const __half a = __float2half(x);
        return __half2float(__hfma(a, a, __float2half(-1.0f)));
    };
    const float e = 1.0f + 0x1p-6f;
    expect_equal(on_device(e, fused), 0x1p-5f + 0x1p-12f);
}

CONFORMANCE(half_sums_overflow) {
    const auto add = [] __device__(float x) {
        return __half2float(__hadd(__float2half(x), __float2half(x)));
    };
    expect_equal(on_device(40000.0f, add), INFINITY);
}

CONFORMANCE(half_comparisons_and_nan) {
    const auto compare = [] __device__(float x) {
        const __half a = __float2half(x);
        const __half nan = __float2half(NAN);
        return float(__hlt(a, __float2half(2.0f)) + 10 * __heq(a, a) +
                     100 * __heq(nan, nan) + 1000 * __hisnan(nan));
    };
    expect_equal(on_device(1.0f, compare), 1011.0f);
}

CONFORMANCE(half2_works_on_both_lanes) {
    const auto got = run<float>(1, 1, 4, [] __device__(float* out) {
        const __half2 a = __floats2half2_rn(1.0f, 2.0f);
        const __half2 b = __floats2half2_rn(10.0f, 20.0f);
        const float2 sum = __half22float2(__hadd2(a, b));
        const float2 product = __half22float2(__hfma2(a, b, a));
        out[0] = sum.x, out[1] = sum.y, out[2] = product.x, out[3] = product.y;
    });
    const float expected[] = {11.0f, 22.0f, 11.0f, 42.0f};
    expect_each(got, [&](int i) { return expected[i]; });
}

CONFORMANCE(half2_low_is_the_first_in_memory) {
    const auto got = run<float>(1, 1, 3, [] __device__(float* out) {
        __half2 pair = __halves2half2(__float2half(3.0f), __float2half(4.0f));
        out[0] = __half2float(reinterpret_cast<__half*>(&pair)[0]);
        out[1] = __half2float(__high2half(pair));
        pair = __half2half2(__low2half(pair));
        out[2] = __half2float(pair.y);
    });
    expect_each(got, [](int i) { return i == 1 ? 4.0f : 3.0f; });
}

CONFORMANCE(half_integers_round) {
    const auto got = run<int>(1, 1, 4, [] __device__(int* out) {
        out[0] = __half2int_rn(__float2half(2.5f));
        out[1] = __half2int_rz(__float2half(-2.5f));
        out[2] = __half_as_ushort(__int2half_rn(2049));
        out[3] = __half_as_ushort(__float2half(-2.0f));
    });
    expect_equal(got[0], 2);
    expect_equal(got[1], -2);
    expect_equal(got[2], 0x6800);  // 2048
    expect_equal(got[3], 0xc000);
}

CONFORMANCE(bfloat16_rounds_to_nearest_even) {
    const auto round = [] __device__(float x) {
        return __bfloat162float(__float2bfloat16(x));
    };
    expect_equal(on_device(1.0f + 0x1p-8f, round), 1.0f);
    expect_equal(on_device(1.0f + 3 * 0x1p-8f, round), 1.0f + 0x1p-6f);
    expect_equal(on_device(0x1.fffffep127f, round), INFINITY);
}

CONFORMANCE(bfloat16_keeps_floats_range) {
    const auto square = [] __device__(float x) {
        const __nv_bfloat16 a = __float2bfloat16(x);
        return __bfloat162float(a * a);
    };
    expect_equal(on_device(0x1p60f, square), 0x1p120f);
    expect_equal(on_device(0x1p100f, square), INFINITY);
}

CONFORMANCE(bfloat16_fma_rounds_once) {
    const auto fused = [] __device__(float x) {
        const __nv_bfloat16 a = __float2bfloat16(x);
        return __bfloat162float(__hfma(a, a, __float2bfloat16(-1.0f)));
    };
    expect_equal(on_device(1.0f + 0x1p-5f, fused), 0x1p-4f + 0x1p-10f);
}

CONFORMANCE(bfloat162_arithmetic) {
    const auto got = run<float>(1, 1, 2, [] __device__(float* out) {
        const __nv_bfloat162 a = __floats2bfloat162_rn(1.5f, -2.0f);
        const float2 r = __bfloat1622float2(__hmul2(a, a));
        out[0] = r.x, out[1] = r.y;
    });
    expect_equal(got[0], 2.25f);
    expect_equal(got[1], 4.0f);
}

CONFORMANCE(shuffles_of_half_values) {
    const auto got = run<float>(1, 32, 32, [] __device__(float* out) {
        const __half mine = __float2half(threadIdx.x * 1.0f);
        out[threadIdx.x] = __half2float(__shfl_xor_sync(~0u, mine, 2));
    });
    expect_each(got, [](int i) { return float(i ^ 2); });
}
