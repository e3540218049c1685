// Grades day06-llm-attention/09-blackwell-attention.
#include "blackwell_attention.h"

#include <wb/arguments.h>
#include <wb/testing/attention.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "tables.h"

namespace {

using namespace wb::testing;
using tables::Field;
using wb::AttentionShape;

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

using wb::testing::result_of;

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

/// Inputs as the kernel gets them, and what is expected of it.
void grade(const AttentionShape& shape, uint64_t seed) {
    const auto widened = [](const std::vector<float>& values) {
        std::vector<float> result;
        for (const float value : values)
            result.push_back(__bfloat162float(__float2bfloat16(value)));
        return result;
    };
    const auto stored = [](const std::vector<float>& values) {
        std::vector<__nv_bfloat16> result;
        for (const float value : values)
            result.push_back(__float2bfloat16(value));
        return result;
    };
    AttentionInputs inputs = random_attention(shape, seed);
    inputs = {widened(inputs.q), widened(inputs.k), widened(inputs.v)};
    const AttentionExpected expected = expect_attention(shape, inputs);
    // Sum of weight * |v|, of which each weight may be off by one rounding to bfloat16.
    AttentionInputs sizes = inputs;
    for (float& value : sizes.v)
        value = std::fabs(value);
    const AttentionExpected magnitude = expect_attention(shape, sizes);

    Grader grader("blackwell_attention",
                  wb::describe(shape) + ", seed " + std::to_string(seed));
    const auto* q = grader.input("q", stored(inputs.q));
    const auto* k = grader.input("k", stored(inputs.k));
    const auto* v = grader.input("v", stored(inputs.v));
    auto* o = grader.output<__nv_bfloat16>(
        "o", {shape.batch, shape.query_heads, shape.queries, shape.head_dim});
    auto* lse =
        grader.output<float>("lse", {shape.batch, shape.query_heads, shape.queries});
    grader.run([&](cudaStream_t stream) {
        blackwell_attention(shape, q, k, v, o, lse, stream);
    });
    grader.expect("o", expected.o, [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        const double exact = std::fabs(expected.o[at]);
        return expected.o_bound[at] +
               0x1p-8 * (magnitude.o[at] + exact + 2 * expected.o_bound[at]) + 0x1p-126;
    });
    grader.expect("lse", expected.lse, [&](int64_t i) {
        return expected.lse_bound[static_cast<size_t>(i)];
    });
}

/// Null pointers, but it is the shape, or the GPU, that must be refused first.
void expect_refusal(const AttentionShape& shape, const char* text) {
    std::string message = "nothing was thrown";
    result_of([&] {
        try {
            blackwell_attention(
                shape, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
        } catch (const wb::InvalidArgument& error) {
            message = error.what();
        }
        return 0;
    });
    if (message.find(text) == std::string::npos)
        fail("blackwell_attention does not refuse " + wb::describe(shape) + " with \"" +
                 text + "\"",
             message);
    CHECK(message.find(text) != std::string::npos);
}

/// True where the kernel can run: in the simulator, and on a Blackwell.
bool has_tensor_memory() {
#ifdef SIMT_CPU
    return true;
#else
    cudaDeviceProp prop;
    return cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.major == 10 &&
           prop.minor == 0;
#endif
}

/// Elsewhere the entry says so, whatever the shape.
void grade_or_expect_refusal(const AttentionShape& shape, uint64_t seed) {
    if (has_tensor_memory())
        grade(shape, seed);
    else
        expect_refusal(shape, "sm_100a");
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
            for (const int column : {0, 1, 31, 128, 255}) {
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
    for (int row = 0; row < 24; ++row)
        for (int byte = 0; byte < 128; ++byte)
            expect_equal(
                call_of("swizzled_byte", {row, byte}),
                result_of([&] { return swizzled_byte(row, byte); }),
                row * 128 + tables::kSwizzle128[row % 8][byte / 16] * 16 + byte % 16);
}

TEST_CASE("steps along K: 32 bytes in a panel, then the next panel") {
    // Where TMA puts element 16 * step of row 0: found by writing a tile as it does.
    for (const int rows : {8, 64, 128, 256})
        for (int step = 0; step < 16; ++step)
            expect_equal(call_of("key_step_bytes", {rows, step}),
                         result_of([&] { return key_step_bytes(rows, step); }),
                         tables::first_byte_of_panels(rows, 16 * step));
}

TEST_CASE("weights: a row in each lane, two keys in each cell") {
    for (int row = 0; row < 128; ++row)
        for (int key = 0; key < 128; ++key) {
            const WeightPlace place = result_of([&] { return weight_place(row, key); });
            const std::string call = call_of("weight_place", {row, key});
            expect_equal("the lane of " + call, place.lane, row);
            // As in an array of bfloat16 on a little-endian machine.
            expect_equal("the cell of " + call, place.column, 2 * key / 4);
            expect_equal("the lowest bit of " + call, place.bit, (16 * key) % 32);
        }
}

TEST_CASE("attention: one tile, and parts of one") {
    grade_or_expect_refusal(plain_attention(1, 1, 128, 128, 64), 1);
    grade_or_expect_refusal(plain_attention(1, 2, 1, 1, 64), 2);
    grade_or_expect_refusal(plain_attention(1, 1, 100, 77, 128), 3);
}

TEST_CASE("attention: several tiles of keys, both head dimensions") {
    grade_or_expect_refusal(plain_attention(1, 2, 130, 300, 64), 4);
    grade_or_expect_refusal(plain_attention(2, 1, 129, 513, 128), 5);
}

TEST_CASE("attention: causal, with shared keys, and rows that see nothing") {
    AttentionShape shape = plain_attention(1, 4, 200, 200, 64);
    shape.causal = true;
    grade_or_expect_refusal(shape, 6);
    shape.kv_heads = 2;
    shape.head_dim = 128;
    shape.keys = 333;
    grade_or_expect_refusal(shape, 7);
    shape.keys = 60;
    grade_or_expect_refusal(shape, 8);
}

TEST_CASE("attention: what is refused") {
    expect_refusal(plain_attention(1, 1, 64, 64, 96), "head_dim");
    AttentionShape shape = plain_attention(1, 1, 64, 64, 64);
    shape.scale = -1.0f;
    expect_refusal(shape, "scale");
    expect_refusal(plain_attention(1, 1, 64, 64, 64),
                   has_tensor_memory() ? "q" : "must be 100");
}
