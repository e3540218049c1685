// What the simulator's cuda_fp16.h, cuda_bf16.h and cuda_fp8.h make of codes and of
// numbers: what the figure "number-formats" must show.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <digest.h>
#include <json.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#if __has_include(<cuda_fp4.h>)
#include <cuda_fp4.h>
#endif

namespace {

truth::Json json;

/// One format: encode() and decode() by CUDA's conversions. `saturate` where they can.
struct Fp32 {
    static constexpr const char* kName = "fp32";
    static constexpr int kBits = 32;
    static constexpr bool kSaturates = false;
    static uint32_t encode(double x, bool) {
        if (std::isnan(x)) return 0x7FFFFFFFu;  // the NaN of CUDA's own arithmetic
        return std::bit_cast<uint32_t>(static_cast<float>(x));
    }
    static float decode(uint32_t bits) { return std::bit_cast<float>(bits); }
};

struct Fp16 {
    static constexpr const char* kName = "fp16";
    static constexpr int kBits = 16;
    static constexpr bool kSaturates = false;
    static uint32_t encode(double x, bool) {
        return __half_as_ushort(__double2half(x));
    }
    static float decode(uint32_t bits) {
        return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
    }
};

struct Bf16 {
    static constexpr const char* kName = "bf16";
    static constexpr int kBits = 16;
    static constexpr bool kSaturates = false;
    static uint32_t encode(double x, bool) {
        return __bfloat16_as_ushort(__double2bfloat16(x));
    }
    static float decode(uint32_t bits) {
        return __bfloat162float(
            __ushort_as_bfloat16(static_cast<unsigned short>(bits)));
    }
};

template <__nv_fp8_interpretation_t kKind>
struct Fp8 {
    static constexpr const char* kName = kKind == __NV_E4M3 ? "fp8 e4m3" : "fp8 e5m2";
    static constexpr int kBits = 8;
    static constexpr bool kSaturates = true;
    static uint32_t encode(double x, bool saturate) {
        // What a GPU's conversion gives; CUDA's own header gives 0x7E on the host.
        if (std::isnan(x)) return 0x7F;
        return __nv_cvt_double_to_fp8(x, saturate ? __NV_SATFINITE : __NV_NOSAT, kKind);
    }
    static float decode(uint32_t bits) {
        return __half2float(
            __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits), kKind));
    }
};

/// NVIDIA's header where there is one. The simulator has none: there the nearest of the
/// eight numbers is looked for one by one.
struct Fp4 {
    static constexpr const char* kName = "fp4 e2m1";
    static constexpr int kBits = 4;
    static constexpr bool kSaturates = false;
#if __has_include(<cuda_fp4.h>)
    static uint32_t encode(double x, bool) {
        return __nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundNearest);
    }
    static float decode(uint32_t bits) {
        return __half2float(
            __nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(bits), __NV_E2M1));
    }
#else
    static uint32_t encode(double x, bool) {
        if (std::isnan(x)) return 7;                     // there is no NaN
        const double size = std::min(std::abs(x), 6.0);  // there is no infinity either
        uint32_t nearest = 0;
        for (uint32_t code = 1; code < 8; ++code) {
            const double change =
                std::abs(size - decode(code)) - std::abs(size - decode(nearest));
            if (change < 0.0 || (change == 0.0 && code % 2 == 0)) nearest = code;
        }
        return nearest | (std::signbit(x) ? 8u : 0u);
    }
    static float decode(uint32_t bits) {
        constexpr float kValues[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
        const float value = kValues[bits & 7];
        return (bits & 8) != 0 ? -value : value;
    }
#endif
};

/// SplitMix64, as in common/src/sparse_builders.cpp.
uint64_t random_bits(uint64_t& state) {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// 53 random bits times a power of two from 2^-160 to 2^139, with a random sign.
double random_number(uint64_t& state) {
    const auto fraction = static_cast<double>(random_bits(state) >> 11) * 0x1p-53;
    const auto exponent = static_cast<int>(random_bits(state) % 300) - 160;
    const bool negative = (random_bits(state) & 1) != 0;
    return std::ldexp(negative ? -fraction : fraction, exponent);
}

/// The value of a code as the bits of a float, all NaNs alike.
uint32_t value_bits(float value) {
    return std::isnan(value) ? 0x7FC00000u : std::bit_cast<uint32_t>(value);
}

/// All codes; of fp32 every 65,537th.
template <class F>
void print_codes() {
    truth::Digest digest;
    constexpr uint64_t kStep = F::kBits == 32 ? 65537 : 1;
    for (uint64_t code = 0; code < uint64_t{1} << F::kBits; code += kStep)
        digest.add(value_bits(F::decode(static_cast<uint32_t>(code))));
    json.member("values_digest", digest.text());
}

/// The number half-way between each positive code and the next one, and what is one
/// place of a double beside it: where rounding changes. Of fp32 a sample.
template <class F>
void print_midpoints() {
    truth::Digest digest;
    constexpr uint64_t kStep = F::kBits == 32 ? 65537 : 1;
    const double infinity = std::numeric_limits<double>::infinity();
    for (uint64_t code = 0; code + 1 < uint64_t{1} << (F::kBits - 1); code += kStep) {
        const double below = F::decode(static_cast<uint32_t>(code));
        const double above = F::decode(static_cast<uint32_t>(code + 1));
        if (!std::isfinite(above)) continue;
        const double middle = (below + above) / 2;
        for (const double x : {middle,
                               -middle,
                               std::nextafter(middle, 0.0),
                               std::nextafter(middle, infinity)}) {
            digest.add(F::encode(x, false));
        }
    }
    json.member("midpoints_digest", digest.text());
}

template <class F>
void print_numbers(const std::vector<double>& numbers, bool saturate) {
    json.open('[');
    for (const double x : numbers)
        json.value(F::encode(x, saturate));
    for (const double x : {std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
        json.value(F::encode(x, saturate));
    }
    json.close(']');
}

template <class F>
void print_format(const std::vector<double>& numbers) {
    json.open('{').member("name", F::kName).member("bits", F::kBits);
    print_codes<F>();
    print_midpoints<F>();
    uint64_t state = 1;
    truth::Digest digest;
    for (int i = 0; i < 20000; ++i)
        digest.add(F::encode(random_number(state), false));
    json.member("random_digest", digest.text());
    json.key("numbers");
    print_numbers<F>(numbers, false);
    if (F::kSaturates) {
        json.key("saturated");
        print_numbers<F>(numbers, true);
    }
    json.close('}');
}

}  // namespace

int main() {
    const std::vector<double> numbers = {
        0.0,     1.0,       -1.0,    0.1,    0.5,     0.25,     0.75,   1.75,    2.5,
        3.5,     5.0,       6.5,     7.0,    240.0,   448.0,    464.0,  465.0,   480.0,
        1100.0,  2048.0,    2049.0,  2051.0, 57344.0, 61440.,   65504., 65519.,  65520.,
        70400.0, 1e10,      3.4e38,  3.5e38, 1e300,   1e-3,     0x1p-9, 0x1p-10, 1e-5,
        0x1p-24, 0x1.8p-25, 0x1p-25, 1e-8,   1e-40,   0x1p-149, 1e-46};
    json.open('{').key("numbers").list(numbers);
    json.key("formats").open('[');
    print_format<Fp32>(numbers);
    print_format<Fp16>(numbers);
    print_format<Bf16>(numbers);
    print_format<Fp8<__NV_E4M3>>(numbers);
    print_format<Fp8<__NV_E5M2>>(numbers);
    print_format<Fp4>(numbers);
    json.close(']').close('}').print();
}
