// Grades day05-quantization/01-int8: rows in 8 bits, for many sizes and numbers.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace int8_grading;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("quantise: one row of 16, symmetric and asymmetric") {
    std::vector<float> x;
    for (int i = 0; i < 16; ++i)
        x.push_back(static_cast<float>(i - 5));
    grade_quantize(stored(x), 16, Wanted::scales, "");
    grade_quantize(stored(x), 16, Wanted::zeros_and_sums, "");
}

TEST_CASE("quantise: ties go to the even number") {
    // 127 is there, so that scales are 1: halves are ties. Asymmetric: 255 in all.
    std::vector<float> x = {127.0f,
                            0.5f,
                            1.5f,
                            2.5f,
                            -0.5f,
                            -1.5f,
                            -2.5f,
                            3.5f,
                            0.25f,
                            0.75f,
                            -0.75f,
                            63.5f,
                            -63.5f,
                            62.5f,
                            -62.5f,
                            0.0f};
    grade_quantize(stored(x), 16, Wanted::sums, ", halves");
    x[0] = 255.0f;
    for (std::size_t i = 1; i < x.size(); ++i)
        x[i] = std::abs(x[i]);
    grade_quantize(stored(x), 16, Wanted::zeros, ", halves");
    // An odd zero: whether it is added before or after rounding is seen.
    x[15] = -5.0f;
    x[0] = 250.0f;
    grade_quantize(stored(x), 16, Wanted::zeros, ", halves, and an odd zero");
}

TEST_CASE("quantise: x * r is rounded once") {
    // Products that are a tie to a float, but not to a number with all their digits.
    // Which ones are is looked for: all numbers of bf16 from 0.5 to 1, for many scales.
    std::vector<float> x;
    int found = 0;
    for (uint32_t largest = 0x3F80; largest < 0x4000; ++largest) {
        const auto float_of = [](uint32_t bits) {
            float value = 0.0f;
            bits <<= 16;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        };
        const float a = float_of(largest);
        const float r = 1.0f / (a / 127.0f);
        for (uint32_t bits = 0x3C00; bits < largest; ++bits) {
            const float value = float_of(bits);
            if (std::nearbyint(double{value} * r) == std::nearbyintf(value * r))
                continue;
            x.resize((at(found) + 1) * 16, 0.0f);
            x[at(found) * 16 + 3] = a;
            x[at(found) * 16 + 11] = value;
            ++found;
            break;
        }
    }
    INFO("rows with such a number: " << found);
    if (found > 0) grade_quantize(stored(x), 16, Wanted::scales, ", nearly ties");
    grade_quantize(random_rows(2, 16, 1), 16, Wanted::scales, "");
}

TEST_CASE("quantise: what is largest may be negative, and may be anywhere") {
    const int64_t columns = 560;
    std::vector<float> x;
    std::vector<int64_t> places = {0, 1, 7, 8, 15, 16, 127, 128, 255, 256, 511, 559};
    for (std::size_t row = 0; row < places.size(); ++row) {
        for (int64_t c = 0; c < columns; ++c)
            x.push_back(0.01f * static_cast<float>(c % 13 - 6));
        x[row * at(columns) + at(places[row])] = row % 2 == 0 ? -9.0f : 9.0f;
    }
    grade_quantize(stored(x), columns, Wanted::sums, ", one outlier a row");
    grade_quantize(stored(x), columns, Wanted::zeros_and_sums, ", one outlier a row");
}

TEST_CASE("quantise: rows of one sign, of zeros, and tiny ones") {
    std::vector<float> x(16 * 8, 0.0f);
    for (std::size_t i = 0; i < 16; ++i) {
        x[16 + i] = 1.0f + static_cast<float>(i);   // positive: 0 is among them anyway
        x[32 + i] = -1.0f - static_cast<float>(i);  // negative
        x[48 + i] = 0x1p-133f * static_cast<float>(i);  // the least that bf16 has
        x[64 + i] = i % 2 == 0 ? 3e38f : -3e38f;        // hi - lo is no float
        x[80 + i] = 0x1p-120f * static_cast<float>(i);  // 1 / scale still is one
        x[96 + i] = i == 9 ? -0.0f : 0.0f;
        x[112 + i] = i == 3 ? 0x1p-127f : -0x1p-133f;
    }
    const auto wanted = GENERATE(Wanted::scales, Wanted::zeros_and_sums);
    grade_quantize(stored(x), 16, wanted, ", zeros, one sign, tiny and huge");
}

TEST_CASE("quantise: a NaN or an infinity spoils its row, and no other") {
    const int64_t columns = 304;
    auto x = random_rows(9, columns, 5);
    const float bad[] = {kNan, kInfinity, -kInfinity, -kNan};
    for (int64_t row = 1; row < 9; row += 2) {
        x[at(row * columns + (row * 97) % columns)] =
            static_cast<__nv_bfloat16>(bad[at(row / 2)]);
    }
    const auto wanted = GENERATE(Wanted::scales, Wanted::zeros_and_sums);
    grade_quantize(x, columns, wanted, ", NaN and infinities");
    // One in each element of a pair, and in each thread's last vector.
    for (const int64_t place : {0, 1, 14, 15, 302, 303, 256})
        for (const float value : bad) {
            if (wb::testing::is_watched() && place > 15) continue;
            auto row = random_rows(1, columns, 6);
            row[at(place)] = static_cast<__nv_bfloat16>(value);
            grade_quantize(row, columns, wanted, ", one that is no number");
        }
}

TEST_CASE("quantise: asymmetric rows keep to 8 bits at both ends") {
    // Where the zero and x * r are both rounded up, the largest q would be 128; where
    // both are rounded down, the least would be -129.
    const float ends[][2] = {{-1.0f, 169.0f},
                             {-5.0f, 165.0f},
                             {-255.0f, 255.0f},
                             {-7.0f, 203.0f},
                             {-31.0f, 155.0f},
                             {-57.0f, 133.0f}};
    std::vector<float> x;
    for (const auto& [lo, hi] : ends)
        for (int c = 0; c < 16; ++c)
            x.push_back(c == 4 ? lo : c == 11 ? hi : static_cast<float>(c));
    grade_quantize(stored(x), 16, Wanted::zeros_and_sums, ", ends that are ties");
}

TEST_CASE("quantise: sizes and what is wanted meet") {
    static const auto cases =
        wb::testing::Covering()
            .factor("rows", {1, 2, 3, 33})
            .factor("columns", {16, 32, 48, 112, 240, 528, 2032, 2048, 2064})
            .factor("wanted", {"scales", "sums", "zeros", "zeros and sums"})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            if (wb::testing::is_watched() && c["rows"] * c["columns"] > 5000) continue;
            grade_quantize(random_rows(c["rows"], c["columns"], 3),
                           c["columns"],
                           static_cast<Wanted>(c["wanted"]),
                           "");
        }
}

TEST_CASE("quantise: long rows, and many of them") {
    const bool watched = wb::testing::is_watched();
    for (const int64_t columns : {4096, 4112, 8208, 16400, 65536}) {
        if (watched && columns > 5000) continue;
        grade_quantize(
            random_rows(1, columns, 4), columns, Wanted::zeros_and_sums, ", long");
    }
    grade_quantize(random_rows(watched ? 70 : 1027, 16, 4), 16, Wanted::sums, "");
}

TEST_CASE("quantise: the values are near what they stand for") {
    // That the contract itself is right: half a scale, or a whole one at the ends.
    const auto x = random_rows(3, 64, 8);
    for (const bool is_symmetric : {true, false}) {
        const auto rows = wb::reference::int8_quantized(x, 64, is_symmetric);
        for (int64_t i = 0; i < 3 * 64; ++i) {
            const double value = static_cast<double>(static_cast<float>(x[at(i)]));
            const double scale = rows.scales[at(i / 64)];
            CHECK(std::abs(rows.value(i) - value) <=
                  (is_symmetric ? 0.501 : 1.01) * scale);
        }
    }
    grade_quantize(x, 64, Wanted::scales, "");
}

TEST_CASE("quantise: calls have nothing in common") {
    wb::testing::expect_independent(
        [] { grade_quantize(random_rows(3, 48, 1), 48, Wanted::zeros_and_sums, ""); },
        [] { grade_quantize(random_rows(5, 272, 2), 272, Wanted::scales, ""); });
}
