#include <wb/testing/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

// Tests make millions of normal numbers. In plain arithmetic, several at a time, that
// takes a tenth of the time of std::log() and std::cos(), and the results do not depend
// on the C library. This file is compiled with -O3 -fno-math-errno -ffp-contract=off.
#if defined(__x86_64__) && defined(__GNUC__)
#define WB_SEVERAL_AT_A_TIME \
    __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WB_SEVERAL_AT_A_TIME
#endif

namespace wb::testing {
namespace {

/// ln(x) of a number in (0, 1], 1e-15 of it wrong at most.
inline double natural_log(double x) {
    constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
    // x = m * 2^e, the mantissa m in [sqrt(1/2), sqrt(2)).
    const auto bits = std::bit_cast<std::uint64_t>(x);
    double m = std::bit_cast<double>((bits & kMantissa) | 0x3ff0000000000000u);
    double e = std::bit_cast<double>((bits >> 52) | 0x4330000000000000u) - 0x1p52;
    const bool is_large = m > std::numbers::sqrt2;
    m = is_large ? 0.5 * m : m;
    e = is_large ? e - 1022.0 : e - 1023.0;
    // ln(m) = 2 artanh(f), |f| < 0.172
    const double f = (m - 1.0) / (m + 1.0);
    const double z = f * f;
    double sum = 1.0 / 21.0;
    for (const double term : {1.0 / 19.0,
                              1.0 / 17.0,
                              1.0 / 15.0,
                              1.0 / 13.0,
                              1.0 / 11.0,
                              1.0 / 9.0,
                              1.0 / 7.0,
                              1.0 / 5.0,
                              1.0 / 3.0})
        sum = sum * z + term;
    return e * std::numbers::ln2 + (2.0 * f + 2.0 * f * (z * sum));
}

/// cos(2 pi turn), 0 <= turn < 1: minus the sine of an angle between -pi/2 and pi/2.
inline double cosine_of_turn(double turn) {
    const double x = 2.0 * std::numbers::pi * (0.25 - std::abs(turn - 0.5));
    const double z = x * x;
    double sum = -1.0 / 25852016738884976640000.0;  // 1 / 23!
    for (const double term : {1.0 / 51090942171709440000.0,
                              -1.0 / 121645100408832000.0,
                              1.0 / 355687428096000.0,
                              -1.0 / 1307674368000.0,
                              1.0 / 6227020800.0,
                              -1.0 / 39916800.0,
                              1.0 / 362880.0,
                              -1.0 / 5040.0,
                              1.0 / 120.0,
                              -1.0 / 6.0})
        sum = sum * z + term;
    return -(x + x * (z * sum));
}

/// Box-Muller: a normal number of two uniform ones in [0, 1).
inline double normal_of(double first, double turn) {
    return std::sqrt(-2.0 * natural_log(1.0 - first)) * cosine_of_turn(turn);
}

constexpr std::size_t kChunk = 256;

/// Uniform numbers of a chunk, then normal ones instead of the first.
struct Chunk {
    double first[kChunk];
    double turn[kChunk];
};

WB_SEVERAL_AT_A_TIME void make_normal(Chunk& chunk) {
    for (std::size_t i = 0; i < kChunk; ++i)
        chunk.first[i] = normal_of(chunk.first[i], chunk.turn[i]);
}

}  // namespace

double Random::normal() {
    const double first = uniform();
    return normal_of(first, uniform());
}

void Random::normals(float* values, std::size_t n) {
    Chunk chunk = {};
    for (std::size_t done = 0; done < n; done += kChunk) {
        const std::size_t some = std::min(kChunk, n - done);
        for (std::size_t i = 0; i < some; ++i) {
            chunk.first[i] = uniform();
            chunk.turn[i] = uniform();
        }
        make_normal(chunk);
        for (std::size_t i = 0; i < some; ++i)
            values[done + i] = static_cast<float>(chunk.first[i]);
    }
}

std::vector<float> random_normal(std::int64_t n, std::uint64_t seed) {
    constexpr std::int64_t kOutlierEvery = 64;
    constexpr double kOutlierFactor = 100.0;
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(n));
    Chunk chunk = {};
    bool is_outlier[kChunk] = {};
    for (std::size_t done = 0; done < values.size(); done += kChunk) {
        const std::size_t some = std::min(kChunk, values.size() - done);
        for (std::size_t i = 0; i < some; ++i) {
            is_outlier[i] = random.below(kOutlierEvery) == 0;
            chunk.first[i] = random.uniform();
            chunk.turn[i] = random.uniform();
        }
        make_normal(chunk);
        for (std::size_t i = 0; i < some; ++i) {
            const double factor = is_outlier[i] ? kOutlierFactor : 1.0;
            values[done + i] = static_cast<float>(chunk.first[i] * factor);
        }
    }
    return values;
}

}  // namespace wb::testing
