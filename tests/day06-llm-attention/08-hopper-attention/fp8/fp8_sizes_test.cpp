// Tests v6 of Hopper attention, on e4m3 numbers: many blocks, heads and keys.
#include <wb/testing/attention_past_16_bits.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fp8_grading.h"

namespace {

using namespace fp8_grading;

/// Numbers of each head of keys are 2^12 times those of the head before; those of q go
/// the other way, so that scores are usual; those of one block in three are near zero.
void grade_sizes(const AttentionShape& shape, bool with_lse) {
    auto inputs = random_attention(shape, 1);
    const auto factor = [&](float* numbers, int64_t rows, int64_t size, bool is_q) {
        const int64_t group = is_q ? shape.query_heads / shape.kv_heads : 1;
        const int64_t heads = shape.batch * shape.kv_heads * group;
        for (int64_t i = 0; i < heads * rows * 128; ++i) {
            const int64_t head = i / 128 / rows / group;
            const bool is_small = size != 0 && i / 128 % rows / size % 3 == 1;
            const auto power = static_cast<float>(12 * head - 24);
            numbers[i] *= std::exp2((is_q ? -power : power) - (is_small ? 6.0f : 0.0f));
        }
    };
    factor(inputs.q.data(), shape.queries, 64, true);
    factor(inputs.k.data(), shape.keys, 128, false);
    factor(inputs.v.data(), shape.keys, 0, false);
    expect_small_errors(shape, run(shape, inputs, with_lse));
}

}  // namespace

TEST_CASE("e4m3: each head and each block of it has a scale of its own") {
    NEEDS_FP8();
    grade_sizes(grouped(plain_attention(2, 4, 130, 260, 128), 2), true);
    grade_sizes(plain_attention(1, 2, 8200, 2, 128), false);  // 129 blocks of queries
}

TEST_CASE("e4m3: so have blocks of keys, more than eight bits count", "[long]") {
    NEEDS_FP8();
    grade_sizes(plain_attention(1, 1, 1, 33'100, 128), true);
}

TEST_CASE("e4m3: so have blocks of queries, more than eight bits count", "[long]") {
    NEEDS_FP8();
    grade_sizes(plain_attention(1, 1, 16'500, 2, 128), false);
}

TEST_CASE("e4m3: more keys than 16 bits count: the last one decides", "[long]") {
    NEEDS_FP8();
    for (const ManyKeys& c : past_16_bits_of_keys({128}, /*groups=*/true)) {
        DYNAMIC_SECTION(describe(c.shape)) {
            expect_small_errors(c.shape, run(c.shape, c.inputs(), c.with_lse));
        }
    }
}

TEST_CASE("e4m3: more rows than 16 bits count, of all heads or of one", "[long]") {
    NEEDS_FP8();
    for (const auto& shape : past_16_bits_of_rows({128}, /*groups=*/true)) {
        DYNAMIC_SECTION(describe(shape)) {
            auto inputs = constant_inputs(shape, 0.0f, 1.0f, 0.0f);
            inputs.v = random_normal(shape.kv_elements(), 1);
            expect_small_errors(shape, run(shape, inputs));
        }
    }
}

TEST_CASE("e4m3: more than 1024 heads, with values of all sizes", "[long]") {
    NEEDS_FP8();
    const auto shape = plain_attention(1, 1100, 1, 1, 128);
    auto inputs = random_attention(shape, 1);
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = std::ldexp(inputs.v[i], static_cast<int>(i / 128 % 7) * 6);
    expect_small_errors(shape, run(shape, inputs));
}

TEST_CASE("e4m3: of many keys, each counts as much as the first", "[long]") {
    NEEDS_FP8();
    // Equal weights, and values from 1 to 2. Tensor cores keep 14 bits of a sum: after
    // some 6000 keys in one, another value below 1.14 would count nothing, and all
    // others as much as that.
    const auto shape = plain_attention(1, 1, 3, 12'000, 128);
    auto inputs = random_attention(shape, 1);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = 1.0f + static_cast<float>(i * 37 % 101) / 101.0f;
    const auto result = run(shape, inputs);
    for (size_t i = 0; i < result.o.size(); ++i) {
        INFO("row " << i / 128 << ", column " << i % 128);
        REQUIRE(std::abs(result.o[i] - result.expected.o[i]) < 0.015);
    }
}
