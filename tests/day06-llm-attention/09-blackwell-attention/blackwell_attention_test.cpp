// Grades day06-llm-attention/09-blackwell-attention.
#include "blackwell_attention.h"

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/special_attention.h>

#include <array>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

#include "grade_attention.h"
#include "tables.h"

namespace {

using namespace blackwell_grading;
using tables::Field;

constexpr Swizzle kSwizzles[] = {
    Swizzle::none, Swizzle::bytes_128, Swizzle::bytes_64, Swizzle::bytes_32};

std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(
        text, sizeof text, "0x%016llx", static_cast<unsigned long long>(value));
    return text;
}

/// Ends the test case with a report for the learner.
[[noreturn]] void fail(const std::string& what, const std::string& more = "") {
    wb::testing::fail(wb::testing::Kind::wrong_result, what, more);
}

/// Compares a number that a function has returned.
template <class T>
void expect_equal(const std::string& call, T got, T wanted) {
    if (got == wanted) {
        CHECK(got == wanted);  // counted
        return;
    }
    fail(call + " is wrong",
         "got " + std::to_string(got) + ", expected " + std::to_string(wanted));
}

/// Every bit of a word belongs to one field of the table, and holds what it should.
void expect_fields(const std::string& call,
                   uint64_t word,
                   const std::vector<Field>& fields) {
    for (const Field& field : fields) {
        const uint64_t mask = (uint64_t{1} << (field.last - field.first + 1)) - 1;
        const uint64_t got = word >> field.first & mask;
        if (got == field.value) continue;
        fail(call + " is " + hex(word),
             "bits " + std::to_string(field.first) + " to " +
                 std::to_string(field.last) + " (" + field.name + ") hold " + hex(got) +
                 ", expected " + hex(field.value));
    }
    CHECK(fields.back().last >= 31);
}

void expect_word(const std::string& call, uint64_t got, uint64_t wanted) {
    if (got != wanted) fail(call + " is " + hex(got), "expected " + hex(wanted));
    CHECK(got == wanted);
}

std::string call_of(const char* name, std::initializer_list<int64_t> arguments) {
    std::string text = std::string(name) + "(";
    for (const int64_t argument : arguments) {
        if (text.back() != '(') text += ", ";
        text += std::to_string(argument);
    }
    return text + ")";
}

uint64_t shared_of(uint32_t address, uint32_t leading, uint32_t stride, Swizzle s) {
    return result_of([&] { return shared_descriptor(address, leading, stride, s); });
}

uint32_t instruction_of(
    int m, int n, Element type, bool transpose_a, bool transpose_b) {
    return result_of(
        [&] { return instruction_descriptor(m, n, type, transpose_a, transpose_b); });
}

}  // namespace

TEST_CASE("shared memory descriptors, bit by bit") {
    for (const Swizzle swizzle : kSwizzles)
        for (const uint32_t address : {0u, 16u, 1024u, 0x2fc00u, 0x3fff0u, 0x7a3410u})
            for (const uint32_t leading : {16u, 16384u, 0x1f0u, 0x3fff0u, 0x140010u})
                for (const uint32_t stride :
                     {128u, 1024u, 8192u, 0x3fff0u, 0x2c0400u}) {
                    const auto mode = static_cast<uint64_t>(swizzle);
                    expect_fields(
                        call_of("shared_descriptor",
                                {address, leading, stride, int64_t(mode)}),
                        shared_of(address, leading, stride, swizzle),
                        tables::shared_descriptor(address, leading, stride, mode));
                }
}

TEST_CASE("shared memory descriptors: each bit of each argument, alone") {
    for (int bit = 4; bit < 32; ++bit) {
        const uint32_t one = uint32_t{1} << bit;
        for (const auto& [address, leading, stride] : {std::array{one, 0u, 0u},
                                                       std::array{0u, one, 0u},
                                                       std::array{0u, 0u, one}})
            expect_fields(call_of("shared_descriptor", {address, leading, stride, 2}),
                          shared_of(address, leading, stride, Swizzle::bytes_128),
                          tables::shared_descriptor(address, leading, stride, 2));
    }
}

TEST_CASE("shared memory descriptors, whole") {
    // Worked out by hand from the table in the PTX ISA.
    const auto expect = [](uint32_t address,
                           uint32_t leading,
                           uint32_t stride,
                           Swizzle swizzle,
                           uint64_t wanted) {
        expect_word(
            call_of("shared_descriptor", {address, leading, stride, int64_t(swizzle)}),
            shared_of(address, leading, stride, swizzle),
            wanted);
    };
    expect(0x400, 16, 1024, Swizzle::bytes_128, 0x4000404000010040);
    expect(0x8020, 16384, 1024, Swizzle::bytes_128, 0x4000404004000802);
    expect(0x100, 128, 256, Swizzle::none, 0x0000401000080010);
    expect(0x3fff0, 0x3fff0, 0x3fff0, Swizzle::bytes_32, 0xc0007fff3fff3fff);
}

TEST_CASE("instruction descriptors, bit by bit") {
    for (const int m : {64, 128})
        for (int n = 16; n <= 256; n += 16)
            for (const Element type : {Element::half, Element::bfloat16})
                for (const bool a : {false, true})
                    for (const bool b : {false, true})
                        expect_fields(call_of("instruction_descriptor",
                                              {m, n, int64_t(type), a, b}),
                                      instruction_of(m, n, type, a, b),
                                      tables::instruction_descriptor(
                                          m, n, static_cast<uint64_t>(type), a, b));
}

TEST_CASE("instruction descriptors, whole") {
    const auto expect =
        [](int m, int n, Element type, bool a, bool b, uint32_t wanted) {
            expect_word(call_of("instruction_descriptor", {m, n, int64_t(type), a, b}),
                        instruction_of(m, n, type, a, b),
                        wanted);
        };
    expect(128, 128, Element::bfloat16, false, false, 0x08200490);
    expect(128, 64, Element::bfloat16, false, true, 0x08110490);
    expect(64, 256, Element::half, true, false, 0x04408010);
}

TEST_CASE("addresses in tensor memory") {
    for (const uint32_t base : {0u, 32u, 256u})
        for (int lane = 0; lane < 128; ++lane)
            for (const int column : {0, 1, 31, 128, 255, 256, 479, 511}) {
                if (base + static_cast<uint32_t>(column) > 511) continue;
                const auto address =
                    result_of([&] { return tensor_address(base, lane, column); });
                const std::string call =
                    call_of("tensor_address", {base, lane, column});
                expect_equal("the lane in " + call, address / 65536, uint32_t(lane));
                expect_equal("the column in " + call,
                             address % 65536,
                             base + static_cast<uint32_t>(column));
            }
}

TEST_CASE("the 128-byte swizzle is the one in the PTX ISA's figure") {
    for (int row = 0; row < 256; ++row)
        for (int byte = 0; byte < 128; ++byte)
            expect_equal(
                call_of("swizzled_byte", {row, byte}),
                result_of([&] { return swizzled_byte(row, byte); }),
                row * 128 + tables::kSwizzle128[row % 8][byte / 16] * 16 + byte % 16);
}

TEST_CASE("steps along K: 32 bytes in a panel, then the next panel") {
    // Where TMA puts element 16 * step of row 0: found by writing a tile as it does.
    for (const int rows : {8, 24, 64, 96, 128, 192, 256})
        for (int step = 0; step < 40; ++step)
            expect_equal(call_of("key_step_bytes", {rows, step}),
                         result_of([&] { return key_step_bytes(rows, step); }),
                         tables::first_byte_of_panels(rows, 16 * step));
}

TEST_CASE("weights: a row in each lane, two keys in each cell") {
    for (int row = 0; row < 128; ++row)
        for (int key = 0; key < (row == 77 ? 512 : 128); ++key) {
            const WeightPlace place = result_of([&] { return weight_place(row, key); });
            const std::string call = call_of("weight_place", {row, key});
            expect_equal("the lane of " + call, place.lane, row);
            // As in an array of bfloat16 on a little-endian machine.
            expect_equal("the cell of " + call, place.column, 2 * key / 4);
            expect_equal("the lowest bit of " + call, place.bit, (16 * key) % 32);
        }
}

TEST_CASE("attention: one tile, and parts of one") {
    grade(plain_attention(1, 1, 128, 128, 64), 1);
    grade(plain_attention(1, 2, 1, 1, 64), 2);
    grade(plain_attention(1, 1, 100, 77, 128), 3);
}

TEST_CASE("attention: several tiles of keys, both head dimensions") {
    grade(plain_attention(1, 2, 130, 300, 64), 4);
    grade(plain_attention(2, 1, 129, 513, 128), 5);
    grade(plain_attention(1, 1, 130, 1100, 64), 17);
    grade(plain_attention(1, 1, 130, 1100, 128), 18);
}

TEST_CASE("attention: more than 4096 keys, and more batches and heads than usual") {
    grade(plain_attention(1, 1, 3, 4131, 64), 13);
    grade(plain_attention(1, 1, 4099, 3, 64), 16);
    grade(plain_attention(9, 1, 1, 3, 64), 14);
    grade(plain_attention(1, 17, 1, 3, 64), 15);
}

TEST_CASE("attention: edges meet") {
    static const auto cases = [] {
        wb::testing::AttentionLevels levels;
        levels.head_dims = {64, 128};
        levels.kv_heads = {1, 3};
        levels.groups = {1, 2, 4};
        levels.queries = {1, 64, 129};
        levels.keys = {1, 64, 65, 129, 256};
        levels.logits = {wb::testing::Logits::usual,
                         wb::testing::Logits::rising,
                         wb::testing::Logits::falling,
                         wb::testing::Logits::high,
                         wb::testing::Logits::unseen,
                         wb::testing::Logits::low};
        levels.scales = {0.0f, 0.05f, 1.0f};  // not negative
        levels.most_products = 3'000'000;
        return attention_cases(levels);
    }();
    if (!has_tensor_memory()) return expect_refusal(cases[0].shape, "sm_100a");
    for (const auto mask : {wb::testing::Mask::none,
                            wb::testing::Mask::causal,
                            wb::testing::Mask::fewer_queries,
                            wb::testing::Mask::more_queries})
        wb::testing::for_each_case(cases, mask, [](const auto& c) {
            const auto stored = as_stored<Stored>(inputs_of(c));
            grade_stored(
                c.shape, stored, expect_stored(c.shape, stored), c.text, c.with_lse);
        });
}

TEST_CASE("attention: causal, with shared keys, and rows that see nothing") {
    AttentionShape shape = plain_attention(1, 4, 200, 200, 64);
    shape.causal = true;
    grade(shape, 6);
    shape.kv_heads = 2;
    shape.head_dim = 128;
    shape.keys = 333;
    grade(shape, 7);
    shape.keys = 60;
    grade(shape, 8);
}

TEST_CASE("attention: the log-sum-exp is not wanted") {
    AttentionShape shape = plain_attention(1, 2, 150, 140, 64);
    grade(shape, 9, /*with_lse=*/false);
    shape.causal = true;
    shape.keys = 20;  // the first rows see nothing
    grade(shape, 10, /*with_lse=*/false);
    shape.keys = 0;
    grade(shape, 11, /*with_lse=*/false);
    grade(shape, 11);
    grade(plain_attention(3, 2, 5, 0, 128), 11);
}

TEST_CASE("attention: the scale may be anything that is not negative", "[values]") {
    AttentionShape shape = plain_attention(1, 1, 33, 150, 128);
    for (const float scale : {1.0f, 0.01f, 0.0f, -0.0f}) {
        shape.scale = scale;
        grade(shape, 12);
    }
    if (!has_tensor_memory()) return;
    for (const int64_t D : {64, 128})
        for (const bool causal : {false, true}) {
            shape.head_dim = D;
            shape.causal = causal;
            const auto stored = as_stored<Stored>(subnormal_scale(shape));
            grade_stored(shape,
                         stored,
                         expect_stored(shape, stored),
                         ", subnormal scale, products near 2^126");
        }
    shape.scale = 0x1p126f;
    auto small = random_attention(shape, 12);
    for (auto* const numbers : {&small.q, &small.k})
        for (float& number : *numbers)
            number = std::ldexp(number, -65);
    const auto stored = as_stored<Stored>(small);
    grade_stored(shape,
                 stored,
                 expect_stored(shape, stored),
                 ", a scale of 2^126, products near 2^-127");
}

TEST_CASE("attention: a NaN reaches the rows that see it, and no others") {
    const NotFinite numbers(4, 2, 64);
    if (!has_tensor_memory()) return expect_refusal(numbers.shape, "sm_100a");
    const auto stored = as_stored<Stored>(random_attention(numbers.shape, 1));
    grade_stored(numbers.shape,
                 numbers.spoilt(stored),
                 numbers.spoilt(expect_stored(numbers.shape, stored)),
                 numbers.kText);
}

TEST_CASE("attention: values below the smallest number with all its digits",
          "[values]") {
    constexpr double kSmallest = Format<Stored>::kSmallest;
    for (const int64_t D : {64, 128})
        for (const bool causal : {false, true}) {
            const auto shape = plain_attention(1, 2, 9, 70, D, causal);
            if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
            const auto stored = as_stored<Stored>(subnormal_values(shape, kSmallest));
            grade_stored(shape,
                         stored,
                         expect_subnormal(shape, stored, kSmallest, expect_stored),
                         ", subnormal v");
        }
}

TEST_CASE("attention: nothing is kept from call to call") {
    const auto first = plain_attention(1, 2, 5, 33, 64);
    const auto other = plain_attention(2, 3, 35, 17, 128, true);
    if (!has_tensor_memory()) return expect_refusal(first, "sm_100a");
    expect_independent(
        [&] { grade(first, 1); }, [&] { grade(other, 2); }, [&] { grade(first, 3); });
    on_another_device([&] { grade(first, 1); });
}

TEST_CASE("attention: queries, keys and values may be one array") {
    const auto shape = plain_attention(1, 2, 33, 33, 64);
    if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
    auto stored = as_stored<Stored>(random_attention(shape, 1));
    stored.k = stored.v = stored.q;
    const auto expected = expect_stored(shape, stored);
    Grader grader("blackwell_attention", "q, k and v are one array");
    const auto* d = grader.input("q", rounded<Stored>(stored.q));
    auto* o = grader.output<Stored>("o", {1, 2, 33, 64});
    grader.run(
        [&](cudaStream_t s) { blackwell_attention(shape, d, d, d, o, nullptr, s); });
    grader.expect("o", expected.o, [&](int64_t i) {
        return expected.o_bound[static_cast<size_t>(i)];
    });
}

TEST_CASE("attention: what is refused") {
    expect_refusal(plain_attention(1, 1, 64, 64, 96), "head_dim");
    AttentionShape shape = plain_attention(1, 1, 64, 64, 64);
    shape.scale = -1.0f;
    expect_refusal(shape, "scale");
    expect_refusal(plain_attention(1, 1, 64, 64, 64),
                   has_tensor_memory() ? "q" : "must be 100");
}
