// half and bfloat16 against slow references in double: every number of the format,
// every midpoint between two neighbours, and products and sums of random pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <type_traits>

#include "check.h"

namespace {

struct Half {
    using Number = __half;
    using Raw = __half_raw;
    static constexpr int kMantissaBits = 10;
    static constexpr int kMinExponent = -14;
    static constexpr unsigned kInfinity = 0x7c00;
    static __half make(float x) { return __float2half_rn(x); }
    static __half up(float x) { return __float2half_ru(x); }
    static __half down(float x) { return __float2half_rd(x); }
    static __half zero(float x) { return __float2half_rz(x); }
    static __half make(double x) { return __double2half(x); }
};
struct Bfloat16 {
    using Number = __nv_bfloat16;
    using Raw = __nv_bfloat16_raw;
    static constexpr int kMantissaBits = 7;
    static constexpr int kMinExponent = -126;
    static constexpr unsigned kInfinity = 0x7f80;
    static __nv_bfloat16 make(float x) { return __float2bfloat16_rn(x); }
    static __nv_bfloat16 up(float x) { return __float2bfloat16_ru(x); }
    static __nv_bfloat16 down(float x) { return __float2bfloat16_rd(x); }
    static __nv_bfloat16 zero(float x) { return __float2bfloat16_rz(x); }
    static __nv_bfloat16 make(double x) { return __double2bfloat16(x); }
};

template <class F>
unsigned bits(typename F::Number x) {
    const typename F::Raw raw = x;
    return raw.x;
}
template <class F>
typename F::Number number(unsigned pattern) {
    typename F::Raw raw;
    raw.x = static_cast<unsigned short>(pattern);
    return raw;
}
/// The value of a bit pattern; infinity counts as the next power of two, which is how
/// rounding to nearest sees it.
template <class F>
double value(unsigned magnitude) {
    const int exponent = int(magnitude >> F::kMantissaBits);
    const double mantissa = double(magnitude & ((1u << F::kMantissaBits) - 1));
    const double scale = std::ldexp(1.0, F::kMinExponent - F::kMantissaBits);
    if (exponent == 0) return mantissa * scale;
    return (mantissa + (1 << F::kMantissaBits)) * std::ldexp(scale, exponent - 1);
}

/// The bits of the nearest number to |x|, found by bisection over the bit patterns.
template <class F>
unsigned nearest(double x) {
    if (x != x) return 0x7fff;
    const unsigned sign = std::signbit(x) ? 0x8000u : 0u;
    x = std::fabs(x);
    unsigned low = 0;
    unsigned high = F::kInfinity;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (value<F>(middle) <= x ? low : high) = middle;
    }
    const double to_low = x - value<F>(low);
    const double to_high = value<F>(high) - x;
    if (x >= value<F>(F::kInfinity)) return sign | F::kInfinity;
    if (to_low == to_high) return sign | (low % 2 == 0 ? low : high);
    return sign | (to_low < to_high ? low : high);
}

template <class F>
void test_conversions(const char* name) {
    bool values = true;
    bool ties = true;
    bool directed = true;
    for (unsigned p = 0; p < F::kInfinity; ++p) {
        const double v = value<F>(p);
        const double next = value<F>(p + 1);
        values = values && double(float(number<F>(p))) == v;
        values = values && double(float(number<F>(p | 0x8000))) == -v;
        values = values && bits<F>(F::make(v)) == p && bits<F>(F::make(float(v))) == p;
        const double tie = (v + next) / 2;
        const double off = std::ldexp(next - v, -11);
        for (const double x : {tie, tie - off, tie + off, std::nextafter(tie, 0.0)}) {
            ties = ties && bits<F>(F::make(x)) == nearest<F>(x);
            ties = ties && bits<F>(F::make(float(x))) == nearest<F>(double(float(x)));
        }
        const float inside = float(tie);
        const bool last = p + 1 == F::kInfinity;
        directed = directed && bits<F>(F::up(inside)) == p + 1;
        directed = directed && bits<F>(F::down(inside)) == p;
        directed = directed && bits<F>(F::zero(inside)) == p;
        directed = directed && bits<F>(F::up(-inside)) == (p | 0x8000);
        directed = directed && bits<F>(F::down(-inside)) == ((p + 1) | 0x8000);
        if (last) directed = directed && bits<F>(F::zero(INFINITY)) == F::kInfinity;
    }
    std::printf("%s:\n", name);
    check::expect(values, "every number converts to float and back");
    check::expect(ties, "ties round to even, others to the nearest");
    check::expect(directed, "directed rounding");
    check::expect(std::isnan(float(F::make(NAN))), "NaN stays NaN");
}

/// Sum, product, difference and quotient of two numbers.
template <class Number>
__host__ __device__ void operate(Number a, Number b, Number* out) {
    out[0] = a + b;
    out[1] = a * b;
    out[2] = a - b;
    out[3] = a / b;
}
template <class Number>
__global__ void operate_kernel(const Number* in, Number* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    operate(in[3 * i], in[3 * i + 1], out + 5 * i);
    out[5 * i + 4] = __hfma(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
}

template <class F>
void test_arithmetic(const char* name) {
    using Number = typename F::Number;
    constexpr int kCount = 20000;
    std::vector<Number> in(3 * kCount);
    unsigned state = 1;
    for (Number& x : in) {
        state = state * 1664525u + 1013904223u;
        x = number<F>(state >> 16);
    }
    const check::Array<Number> device_in(in);
    const check::Array<Number> device_out(5 * kCount);
    operate_kernel<<<(kCount + 127) / 128, 128>>>(
        device_in.data(), device_out.data(), kCount);
    const auto got = device_out.host();
    bool right[5] = {true, true, true, true, true};
    bool host_agrees = true;
    for (int i = 0; i < kCount; ++i) {
        const double a = float(in[3 * i]);
        const double b = float(in[3 * i + 1]);
        const double c = float(in[3 * i + 2]);
        const double exact[] = {a + b, a * b, a - b, a / b};
        for (int k = 0; k < 4; ++k) {
            right[k] = right[k] && bits<F>(got[5 * i + k]) == nearest<F>(exact[k]);
        }
        // The reference of the fused product is exact unless the operands are far
        // apart.
        const long double product = static_cast<long double>(a) * b;
        const long double fused = product + c;
        const bool exact_sum = fused - product == c && fused - c == product;
        if ((exact_sum && double(fused) == fused) || fused != fused) {
            right[4] = right[4] && bits<F>(got[5 * i + 4]) == nearest<F>(double(fused));
        }
        Number host[4];
        operate(in[3 * i], in[3 * i + 1], host);
        for (int k = 0; k < 4; ++k) {
            host_agrees = host_agrees && bits<F>(host[k]) == bits<F>(got[5 * i + k]);
        }
    }
    std::printf("%s:\n", name);
    check::expect(right[0], "sums are rounded once");
    check::expect(right[1], "products are rounded once");
    check::expect(right[2], "differences are rounded once");
    check::expect(right[3], "quotients are rounded once");
    check::expect(right[4], "fused products are rounded once");
    check::expect(host_agrees, "host code gives the same");
}

__global__ void use_atomics(__half* h, __half2* h2, __nv_bfloat16* b, float* shuffled) {
    atomicAdd(h, __float2half(1.0f));
    atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(b, __float2bfloat16(1.0f));
    const __half mine = __int2half_rn(threadIdx.x);
    const __half2 pair = __halves2half2(mine, -mine);
    const __half2 other = __shfl_xor_sync(0xffffffffu, pair, 1);
    shuffled[threadIdx.x] = __low2float(other) - __high2float(other) +
                            __half2float(__shfl_down_sync(0xffffffffu, mine, 1));
}

void test_warp_and_atomics() {
    const check::Array<__half> h(1);
    const check::Array<__half2> h2(1);
    const check::Array<__nv_bfloat16> b(1);
    const check::Array<float> shuffled(32);
    use_atomics<<<1, 32>>>(h.data(), h2.data(), b.data(), shuffled.data());
    const __half2 pair = h2.host()[0];
    check::expect(float(h.host()[0]) == 32, "atomicAdd of half");
    check::expect(__low2float(pair) == 32 && __high2float(pair) == 64,
                  "atomicAdd of half2");
    check::expect(float(b.host()[0]) == 32, "atomicAdd of bfloat16");
    check::expect(
        check::all_equal(shuffled.host(),
                         [](int i) { return 2 * (i ^ 1) + (i < 31 ? i + 1 : i); }),
        "shuffles of half and half2");
}

}  // namespace

static_assert(sizeof(__half) == 2 && alignof(__half2) == 4);

int main() {
    test_conversions<Half>("half");
    test_conversions<Bfloat16>("bfloat16");
    test_arithmetic<Half>("half");
    test_arithmetic<Bfloat16>("bfloat16");
    test_warp_and_atomics();
    return check::report();
}
