// Grades day05-quantization/04-fp4-linear: weights become 4 bits, each bit of them.
#include "grading.h"

#include <wb/testing/covering.h>

using namespace fp4_grading;

namespace {

/// Rows whose quotients are these: scales are 1, because each group has a 6.
std::vector<float> filled(const Call& c, const std::vector<float>& values) {
    std::vector<float> w;
    for (int64_t i = 0; i < c.N * c.K; ++i)
        w.push_back(i % 16 == 0 ? 6.0f : values[at(i) % values.size()]);
    return w;
}

}  // namespace

TEST_CASE("quantise: random weights with outliers") {
    const Fp4Scales scales = any_scales();
    const auto N = GENERATE(as<int64_t>(), 8, 24);
    const auto K = GENERATE(as<int64_t>(), 32, 96, 544);
    const Call c{1, N, K, scales};
    for (const uint64_t seed : {1, 2})
        grade_quantize(c, wb::testing::random_normal(N * K, seed), ", random");
}

TEST_CASE("quantise: a row longer than a block, and rows that end with half a warp") {
    const Fp4Scales scales = any_scales();
    const int64_t K = wb::testing::is_watched() ? 1056 : 8224;
    grade_quantize({1, 8, K, scales}, wb::testing::random_normal(8 * K, 3), ", random");
}

TEST_CASE("quantise: middles go to the even code, neighbours to their side") {
    const Fp4Scales scales = any_scales();
    std::vector<float> values;
    for (const float middle : {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f})
        for (const float x :
             {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 9.0f)}) {
            values.push_back(x);
            values.push_back(-x);
        }
    values.push_back(0.0f);
    grade_quantize({1, 8, 96, scales}, filled({1, 8, 96}, values), ", middles", 1.0f);
}

TEST_CASE("quantise: each code, and -0") {
    const Fp4Scales scales = any_scales();
    std::vector<float> values;
    for (int q = 0; q < 15; ++q)
        values.push_back(static_cast<float>(wb::reference::e2m1_value(q)));
    values.push_back(1e-6f);
    values.push_back(-1e-6f);
    grade_quantize({1, 8, 64, scales}, filled({1, 8, 64}, values), ", each code", 1.0f);
}

TEST_CASE("quantise: what is beyond 6 becomes 6") {
    // mx: a power of two is no larger than the weights, 7.9 is beyond. nvfp4: the scale
    // cannot be larger than 448, or is rounded down.
    const Fp4Scales scales = any_scales();
    std::vector<float> w;
    for (int i = 0; i < 8 * 64; ++i)
        w.push_back((i % 2 == 0 ? 7.9f : -6.9f) * static_cast<float>(i % 5 - 2));
    grade_quantize({1, 8, 64, scales}, w, ", 7.9 at most", 1.0f);
    grade_quantize({1, 8, 64, scales}, w, ", a global scale that is too small", 1e-4f);
}

TEST_CASE("quantise: scales of nvfp4 around the middles of E4M3") {
    // A group's largest weight is 6 scales, and scales lie around all middles.
    const Call c{1, 8, 512, Fp4Scales::nvfp4};
    for (int part = 0; part < 3; ++part) {
        std::vector<float> w(at(c.N * c.K), 0.0f);
        for (int g = 0; g < 256; ++g) {
            const int byte = g / 2;
            const double scale = (wb::reference::e4m3_value(std::min(byte, 125)) +
                                  wb::reference::e4m3_value(std::min(byte + 1, 126))) /
                                 2.0;
            auto x = static_cast<float>(6.0 * scale);
            if (part == 1) x = std::nextafter(x, g % 2 == 0 ? 0.0f : 1e9f);
            if (part == 2) x *= g % 2 == 0 ? 1.01f : 0.99f;
            w[at(g * 16 + g % 16)] = g % 3 == 0 ? -x : x;
            w[at(g * 16 + (g + 7) % 16)] = x / 3.0f;
        }
        grade_quantize(c, w, ", scales around the middles of E4M3", 1.0f);
    }
}

TEST_CASE("quantise: groups of zeros, and tiny ones") {
    const Fp4Scales scales = any_scales();
    const Call c{1, 8, 64, scales};
    std::vector<float> w(at(c.N * c.K), 0.0f);
    grade_quantize(c, w, ", zeros");
    for (int64_t i = 0; i < c.N * c.K; i += 3)
        w[at(i)] = (i % 2 == 0 ? 1.0f : -1.0f) *
                   std::ldexp(1.0f + static_cast<float>(i % 7) / 8.0f,
                              -120 - static_cast<int>(i / 32) * 2);
    w[at(5)] = 1e-45f;
    grade_quantize(c, w, ", down to 2^-149", 1.0f);
    if (scales == Fp4Scales::nvfp4) grade_quantize(c, w, ", a tiny global scale");
}

TEST_CASE("quantise: large weights") {
    const Fp4Scales scales = any_scales();
    const Call c{1, 8, 64, scales};
    std::vector<float> w = wb::testing::random_normal(c.N * c.K, 4);
    for (float& x : w)
        x = std::ldexp(x, 118);
    w[at(70)] = 3.4e38f;
    grade_quantize(c, w, ", up to 3.4e38");
}

TEST_CASE("quantise: a NaN or an infinity spoils its group, and no other one") {
    const Fp4Scales scales = any_scales();
    const float bad = GENERATE(kNan, kInfinity, -kInfinity);
    const Call c{1, 8, 64, scales};
    std::vector<float> w = wb::testing::random_normal(c.N * c.K, 5);
    const float global = wb::reference::fp4_global_scale(w);
    w[at(64 + 37)] = bad;
    grade_quantize(c, w, ", one bad weight", global);
}

TEST_CASE("memory: what 4 bits and their scales take, beside floats") {
    grade_whole({1, 8, 32});
    const auto part = [](Fp4Scales scales) {
        const Fp4Shape shape = {1, 4096, 4096, scales};
        return static_cast<double>(shape.weight_bytes()) / (4.0 * 4096 * 4096);
    };
    CHECK(part(Fp4Scales::channel) == 0.125 + 1.0 / 4096);
    CHECK(part(Fp4Scales::mx) == 0.125 + 1.0 / 128);
    CHECK(part(Fp4Scales::nvfp4) == 0.125 + 1.0 / 64 + 1.0 / (4096.0 * 4096));
}

TEST_CASE("quantise: middles, where a scale has no exact reciprocal") {
    // Rows whose scales are odd numbers: a quotient is exactly a middle, a product with
    // the reciprocal, which is rounded itself, often is not.
    const Call c{1, 64, 32, Fp4Scales::channel};
    const float middles[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    std::vector<float> w;
    for (int64_t i = 0; i < c.N * c.K; ++i) {
        const float scale = static_cast<float>(2 * (i / c.K) + 3);
        w.push_back(scale * (i % c.K == 0 ? 6.0f : middles[at(i % c.K % 7)]));
    }
    grade_quantize(c, w, ", middles");
}

TEST_CASE("quantise: right in any order of threads and blocks") {
    // Whichever warp has the largest weight of a row.
    const Fp4Scales scales = any_scales();
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3, 6);
    const Call c{1, 16, 1024, scales};
    auto w = wb::testing::random_normal(c.N * c.K, seed);
    for (int64_t n = 0; n < c.N; ++n)
        w[at(n * c.K + n % 8 * 128 + 5 * n)] = 99.0f;
    wb::testing::shuffle_threads(seed);
    grade_quantize(c, w, ", each warp has the largest weight of a row");
    wb::testing::shuffle_threads(0);
}
