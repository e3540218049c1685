// Tests v6 of Hopper attention, on e4m3 numbers: how large its error is, and scales.
#include <wb/testing/covering.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fp8_grading.h"

namespace {

using namespace fp8_grading;

/// Numbers that e4m3 holds exactly, whose scores are so far apart that one key takes
/// all the weight: then nothing is rounded but o.
/// @param own  448, or a number far below 0, but nearer than that of other keys
AttentionInputs one_key_each(const AttentionShape& shape, float own = 448.0f) {
    AttentionInputs inputs = random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i) {
        const auto row = static_cast<int64_t>(i / 128) % shape.queries;
        inputs.q[i] = static_cast<int64_t>(i % 128) == row % 128 ? 448.0f : 0.0f;
    }
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        const auto key = static_cast<int64_t>(i / 128) % shape.keys;
        inputs.k[i] = static_cast<int64_t>(i % 128) == key % 128 ? own : -448.0f;
    }
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = static_cast<float>(static_cast<int>(i * 7 % 15) - 7) * 64.0f;
    return inputs;
}

}  // namespace

TEST_CASE("e4m3: one key takes all the weight, and o is its value") {
    // Row i sees only the key i: which number of v goes where shows.
    const auto shape = plain_attention(1, 1, 128, 128, 128);
    auto inputs = one_key_each(shape);
    const auto result = run(shape, inputs);
    if (!result.why_not.empty()) WB_SKIP(result.why_not);
    for (size_t i = 0; i < result.o.size(); ++i) {
        INFO("row " << i / 128 << ", column " << i % 128);
        REQUIRE(result.o[i] == result.expected.o[i]);
    }
    // All scores far below 0, and scales of all sizes; lse is the largest score. The
    // larger it is, the coarser is what a float holds of it, and the weight is rounded.
    for (const float own : {448.0f, -64.0f})
        for (const float scale : {0x1p-9f, 3.0f, 16.0f}) {
            auto scaled = shape;
            scaled.scale = scale;
            const auto of_scale = run(scaled, one_key_each(scaled, own));
            for (size_t i = 0; i < result.o.size(); ++i) {
                INFO("scale " << scale << ", row " << i / 128 << ", column "
                              << i % 128);
                REQUIRE(std::abs(of_scale.o[i] - result.o[i]) <=
                        0x1p-4 * std::abs(result.o[i]));
            }
            for (size_t row = 0; row < 128; ++row) {
                INFO("scale " << scale << ", row " << row);
                const double wanted = 448.0 * own * scale;
                REQUIRE(std::abs(of_scale.lse[row] / wanted - 1.0) < 1e-6);
            }
        }
    // The last number of each block is eight times as large as the others of it.
    auto uneven = one_key_each(shape);
    for (size_t i = 0; i < inputs.q.size(); ++i) {
        if (i / 128 % 64 != 63) uneven.q[i] /= 8.0f;
        if (i / 128 % 128 != 127) uneven.k[i] /= 8.0f;
    }
    const auto of_uneven = run(shape, uneven);
    for (size_t row = 0; row < 128; ++row) {
        INFO("blocks of uneven numbers, row " << row);
        const double q = row % 64 == 63 ? 448.0 : 56.0;
        const double k = row == 127 ? 448.0 : 56.0;
        REQUIRE(std::abs(of_uneven.lse[row] / (q * k * shape.scale) - 1.0) < 1e-6);
        REQUIRE(of_uneven.o[row * 128] == result.o[row * 128]);
    }
    // From one e4m3 number to the next are 16 / 128 of a power of two: a number that
    // lies 7 / 128 above one is rounded back to it.
    for (float& v : inputs.v)
        if (v != 0.0f && std::abs(v) != 448.0f)
            v += std::copysign(std::ldexp(7.0f / 128, std::ilogb(v)), v);
    const auto rounded_back = run(shape, inputs);
    for (size_t i = 0; i < result.o.size(); ++i) {
        INFO("row " << i / 128 << ", column " << i % 128);
        REQUIRE(rounded_back.o[i] == result.o[i]);
    }
}

TEST_CASE("e4m3: errors of a few percent, whatever the shape") {
    struct Case {
        AttentionShape shape;
        const char* name;
    };
    const std::vector<Case> cases = {
        {plain_attention(1, 1, 200, 130, 128), "N 200, 130 keys"},
        {plain_attention(1, 2, 333, 333, 128, true), "causal, N 333"},
        {grouped(plain_attention(2, 4, 70, 70, 128), 2), "two heads share keys"},
        {plain_attention(1, 1, 65, 1000, 128), "1000 keys"},
        {plain_attention(1, 2, 3, 5003, 128), "5003 keys"},
        {plain_attention(1, 1, 5003, 3, 128), "5003 queries"},
    };
    for (const auto& [shape, name] : cases) {
        const auto result = run(shape, random_attention(shape, 1));
        if (!result.why_not.empty()) WB_SKIP(result.why_not);
        const double error = relative_error(result.o, result.expected.o);
        std::printf(
            "%-24s error of o %.4f (root mean square, relative)\n", name, error);
        INFO(name << ": relative error " << error);
        // A number is rounded by up to 2^-4, in the mean by 0.026. Weights are products
        // of rounded q and k, then rounded themselves, and so is v: errors of that size
        // from each.
        CHECK(error < 0.12);
        CHECK(error > 0.005);  // else it is not e4m3
        double lse_error = 0.0;
        for (size_t i = 0; i < result.lse.size(); ++i)
            lse_error =
                std::max(lse_error, std::abs(result.lse[i] - result.expected.lse[i]));
        CHECK(lse_error < 0.5);
    }
}

TEST_CASE("e4m3: rows that see no key") {
    const auto shape = plain_attention(1, 1, 150, 40, 128, true);
    const auto result = run(shape, random_attention(shape, 1));
    if (!result.why_not.empty()) WB_SKIP(result.why_not);
    for (size_t row = 0; row < 110; ++row) {
        REQUIRE(result.lse[row] == -std::numeric_limits<double>::infinity());
        for (size_t d = 0; d < 128; ++d)
            REQUIRE(result.o[row * 128 + d] == 0.0);
    }
}

TEST_CASE("e4m3: scales follow the numbers, block by block") {
    // Keys and queries whose sizes differ by 1000 from block to block: one scale for
    // all would lose the small ones.
    const auto shape = plain_attention(1, 1, 128, 256, 128);
    auto inputs = random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] *= i / 128 < 64 ? 1000.0f : 0.001f;
    for (size_t i = 0; i < inputs.k.size(); ++i)
        inputs.k[i] *= i / 128 < 128 ? 0.001f : 0.002f;
    const auto result = run(shape, inputs);
    if (!result.why_not.empty()) WB_SKIP(result.why_not);
    CHECK(relative_error(result.o, result.expected.o) < 0.12);
}

TEST_CASE("e4m3: small numbers of a block count beside large ones of its neighbours") {
    NEEDS_FP8();
    // Each second block of queries has its numbers in the last 64 columns, where each
    // second block of keys has its own; all others have theirs in the first. Sizes are
    // 2^20 apart, and scores usual.
    const auto shape = plain_attention(1, 2, 200, 300, 128);
    auto inputs = random_attention(shape, 1);
    const auto set = [](auto& numbers, int64_t rows, int64_t size, int power) {
        for (size_t i = 0; i < numbers.size(); ++i) {
            const bool is_second = static_cast<int64_t>(i) / 128 % rows / size % 2 == 1;
            const bool is_used = (i % 128 >= 64) == is_second;
            numbers[i] =
                is_used ? std::ldexp(numbers[i], is_second ? -power : power) : 0;
        }
    };
    set(inputs.q, shape.queries, 64, 10);
    set(inputs.k, shape.keys, 128, -10);
    expect_small_errors(shape, run(shape, inputs));
}

TEST_CASE("e4m3: blocks that take many tiles each") {
    NEEDS_FP8();
    // More tiles than stages of q, and more blocks of keys than stages of these.
    const wb::testing::FewMultiprocessors few(1);
    grade_random(plain_attention(1, 3, 200, 700, 128));
}

TEST_CASE("e4m3: an infinity of a head stays in it") {
    NEEDS_FP8();
    // In v of the second head, in q of query 70 of the first, in k of the third.
    const auto shape = plain_attention(1, 4, 100, 100, 128);
    auto inputs = random_attention(shape, 1);
    const auto expected = expect_half<T>(shape, as_stored<T>(inputs));
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    inputs.v[(100 + 7) * 128 + 3] = kInfinity;
    inputs.q[70 * 128 + 3] = kInfinity;
    inputs.k[(200 + 7) * 128 + 3] = kInfinity;
    const auto result = run(shape, inputs);
    for (size_t i = 100 * 128; i < 200 * 128; ++i)
        REQUIRE((std::isnan(result.o[i]) || result.o[i] == 0.0));
    for (const size_t first : {size_t{0}, size_t{300} * 128}) {
        const size_t last = first == 0 ? 64 * 128 : 400 * 128;
        REQUIRE(relative_error(result.o, expected.o, first, last) < 0.12);
    }
}

TEST_CASE("e4m3: the largest value of a head, wherever it is") {
    NEEDS_FP8();
    // The last value of the second head is 400 times as large as any other: a scale
    // without it cuts it.
    const auto shape = plain_attention(1, 2, 20, 5000, 128);
    auto inputs = random_attention(shape, 1);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = static_cast<float>(i % 3) - 1.0f;
    for (const float largest : {400.0f, -400.0f}) {
        inputs.v.back() = largest;
        const auto result = run(shape, inputs);
        for (size_t row = 20; row < 40; ++row) {
            INFO("value " << largest << ", row " << row);
            const size_t at = row * 128 + 127;
            REQUIRE(std::abs(result.o[at] - result.expected.o[at]) < 0.03);
        }
    }
}

TEST_CASE("e4m3: numbers are rounded to the nearest one, not cut off", "[values]") {
    NEEDS_FP8();
    // Of many numbers, the errors of rounding cancel out, and those of cutting off are
    // 3 % of each. All values are 1: o is 1 if weights are right.
    auto shape = plain_attention(1, 1, 64, 600, 128);
    auto inputs = random_attention(shape, 1);
    std::fill(inputs.v.begin(), inputs.v.end(), 1.0f);
    const auto near = [](const Result& result, const char* text) {
        INFO(text);
        for (size_t i = 0; i < result.o.size(); ++i) {
            INFO("row " << i / 128 << ", column " << i % 128);
            REQUIRE(std::abs(result.o[i] - result.expected.o[i]) < 0.015);
        }
    };
    near(run(shape, inputs), "every value is 1");
    // Values from 1 to 2, with equal weights.
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = 1.0f + static_cast<float>(i * 37 % 101) / 101.0f;
    near(run(shape, inputs), "equal weights, values from 1 to 2");
    // The first and the last key with a score of 0, and those of all others -8.25:
    // together they count.
    shape.scale = 0.125f;
    for (size_t row = 0; row < 64; ++row)
        inputs.q[row * 128] = 1.0f;
    std::fill(inputs.k.begin(), inputs.k.end(), 0.0f);
    for (size_t key = 1; key < 599; ++key)
        inputs.k[key * 128] = -66.0f;
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = i < 128 || i >= 599 * 128 ? 0.0f : 1.0f;
    near(run(shape, inputs), "weights of 2^-12, 598 of them");
}

TEST_CASE("e4m3: values have four bits, and so have weights, queries and keys",
          "[values]") {
    NEEDS_FP8();
    // The rest is exact. Numbers of four bits are off by 0.026 of them, root mean
    // square, and those of e5m2, which have three, by twice as much.
    const auto error_of = [](const AttentionShape& shape,
                             const AttentionInputs& inputs) {
        const auto result = run(shape, inputs);
        return relative_error(result.o, result.expected.o);
    };
    auto shape = plain_attention(1, 2, 64, 400, 128);
    auto inputs = random_attention(shape, 1);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);  // all weights are 1
    const double of_values = error_of(shape, inputs);
    INFO("values: " << of_values);
    CHECK(of_values < 0.035);
    CHECK(of_values > 0.018);
    // Small integers, and in each row 448, so that e4m3 has them as they are: where q
    // has it, k has 0. Values are 1 or -1. The largest weight of a row, which counts
    // most, is a power of 2: 0.017 are left, and of three bits 0.034.
    shape.scale = 0x1p-6f;
    inputs = random_attention(shape, 1);
    const auto set = [](auto& numbers, size_t largest, size_t zero) {
        for (size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = std::clamp(std::round(numbers[i] * 3.0f), -8.0f, 8.0f);
            if (i % 128 == largest) numbers[i] = 448.0f;
            if (i % 128 == zero) numbers[i] = 0.0f;
        }
    };
    set(inputs.q, 0, 1);
    set(inputs.k, 1, 0);
    for (float& value : inputs.v)
        value = std::copysign(1.0f, value);
    const double of_weights = error_of(shape, inputs);
    INFO("weights: " << of_weights);
    CHECK(of_weights < 0.025);
    CHECK(of_weights > 0.01);
    // Of one key, the log-sum-exp is the score.
    shape = plain_attention(1, 2, 500, 1, 128);
    const auto result = run(shape, random_attention(shape, 1));
    const double of_scores = relative_error(result.lse, result.expected.lse);
    INFO("scores: " << of_scores);
    CHECK(of_scores < 0.055);
    CHECK(of_scores > 0.025);
}

TEST_CASE("e4m3: shapes, masks, log-sum-exp or none, and scales") {
    NEEDS_FP8();
    wb::testing::Covering design;
    design.factor("batch", {1, 3})
        .factor("kv heads", {1, 5})
        .factor("share keys", {1, 2, 3})
        .factor("Nq", {1, 65, 192, 193})
        .factor("Nk", {1, 127, 129, 304})
        .factor("mask", {"none", "causal"})
        .factor("scale", {"usual", "0", "0.03"})
        .factor("lse", {"wanted", "null"})
        .forbid({"batch", "kv heads", "share keys", "Nq", "Nk"},
                [](const std::vector<int64_t>& v) {
                    return v[0] * v[1] * v[2] * v[3] * v[4] > 30'000;  // takes long
                });
    for (const auto& c : design.cases()) {
        const int64_t heads = c["kv heads"] * c["share keys"];
        auto shape = grouped(
            plain_attention(c["batch"], heads, c["Nq"], c["Nk"], 128, c["mask"] == 1),
            c["kv heads"]);
        if (c["scale"] != 0) shape.scale = std::stof(c.words("scale"));
        INFO(c.text());
        grade_random(shape, c["lse"] == 0);
    }
    auto many = plain_attention(2, 130, 2, 3, 128);
    grade_random(many);
    many.kv_heads = 2;
    grade_random(many);
    many.batch = 260;
    many.query_heads = many.kv_heads = 1;
    grade_random(many);
}

TEST_CASE("e4m3: zeros, and numbers near zero") {
    NEEDS_FP8();
    const auto shape = plain_attention(1, 2, 70, 130, 128);
    auto inputs = random_attention(shape, 1);
    for (float* const part : {inputs.q.data(), inputs.k.data()})
        std::fill_n(part, 70 * 128, 0.0f);  // of the first head, or of its first keys
    expect_small_errors(shape, run(shape, inputs));
    std::fill(inputs.v.begin(), inputs.v.end(), 0.0f);
    for (const double o : run(shape, inputs).o)
        REQUIRE(o == 0.0);
    for (const int power : {90, -90, -106}) {
        inputs = random_attention(shape, 1);
        for (float& value : inputs.v)
            value = std::ldexp(value, power);
        for (float& number : inputs.q)
            number = std::ldexp(number, power);
        for (float& number : inputs.k)
            number = std::ldexp(number, -power);
        expect_small_errors(shape, run(shape, inputs));
    }
    // Numbers whose scales' product is no float, but is one with that of the call.
    for (const auto& [power, scale] : {std::pair{71, 0x1p-146f}, {-60, 0x1p116f}}) {
        auto scaled = shape;
        scaled.scale = scale;
        auto scaled_inputs = random_attention(shape, 1);
        for (float& number : scaled_inputs.q)
            number = std::ldexp(number, power);
        for (float& number : scaled_inputs.k)
            number = std::ldexp(number, power);
        expect_small_errors(scaled, run(scaled, scaled_inputs));
    }
    // Scales whose product is no float but 0, and masked keys.
    auto masked = plain_attention(1, 2, 70, 130, 128, true);
    masked.scale = -0.0f;  // which is not negative
    for (float& number : inputs.k)
        number *= 0x1p-140f;
    expect_small_errors(masked, run(masked, inputs));
}

TEST_CASE("e4m3: a NaN reaches the rows that see it, and no others") {
    NEEDS_FP8();
    const auto shape = plain_attention(1, 3, 100, 100, 128, true);
    auto inputs = random_attention(shape, 1);
    const auto expected = expect_half<T>(shape, as_stored<T>(inputs));
    inputs.q[70 * 128 + 3] = std::nanf("");          // query 70 of the first head
    inputs.k[(100 + 80) * 128 + 3] = std::nanf("");  // key 80 of the second
    inputs.v[200 * 128 + 3] = std::nanf("");         // key 0 of the third, column 3
    auto result = run(shape, inputs);
    for (size_t row = 0; row < 300; ++row) {
        const bool all = row == 70 || (row >= 180 && row < 200);
        INFO("row " << row);
        REQUIRE(std::isnan(result.lse[row]) == all);
        for (size_t d = 0; d < 128; ++d) {
            INFO("column " << d);
            const bool is_nan = all || (row >= 200 && d == 3);
            const size_t at = row * 128 + d;
            REQUIRE(std::isnan(result.o[at]) == is_nan);
            if (is_nan) result.o[at] = expected.o[at];
        }
    }
    REQUIRE(relative_error(result.o, expected.o) < 0.12);
}
