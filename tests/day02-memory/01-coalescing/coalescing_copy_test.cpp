// Grades day02-memory/01-coalescing: copy_bytes(), at any alignment.
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_values.h>

using namespace coalescing_grading;

namespace {

/// Copies the bytes from `from` on of an array to `to` in another one, whose other
/// bytes must stay. Nothing lies behind the source's last byte.
void grade_bytes(int64_t num_bytes, int64_t from = 0, int64_t to = 0) {
    constexpr int64_t kAround = 17;
    const auto source = random_bytes(from + num_bytes, 1);
    const auto before = random_bytes(to + num_bytes + kAround, 2);
    const auto moved = part(source, from, num_bytes);
    const auto expected =
        with_slice(before, to, std::vector<double>(moved.begin(), moved.end()));
    const std::string text = std::to_string(num_bytes) + " bytes, from byte " +
                             std::to_string(from) + " to byte " + std::to_string(to);
    for_each_version("copy_bytes", copy_bytes, [&](auto& name, auto copy) {
        Grader grade(name, text);
        const uint8_t* d_source = grade.input("source", source);
        uint8_t* d_destination =
            grade.in_out("destination", {static_cast<int64_t>(before.size())}, before);
        grade.run([&](cudaStream_t s) {
            copy(d_source + from, d_destination + to, num_bytes, s);
        });
        grade.expect("destination", expected, exactly);
    });
}

/// Floats, whose array may begin at any of them. Others lie behind the destination: the
/// guards behind all arrays are alike, and one copied onto another changes nothing.
void grade_floats(int64_t n, int64_t from, int64_t to) {
    const auto source = wb::testing::random_normal(from + n, 1);
    const auto moved = part(source, from, n);
    const std::vector<float> before(at(to + n + 5), 7.0f);
    const auto expected =
        with_slice(before, to, std::vector<double>(moved.begin(), moved.end()));
    for_each_version("copy_bytes", copy_bytes, [&](auto& name, auto copy) {
        Grader grade(name, std::to_string(n) + " floats");
        const float* d_source = grade.input("source", source);
        float* d_destination = grade.in_out("destination", {to + n + 5}, before);
        grade.run([&](cudaStream_t s) {
            copy(d_source + from, d_destination + to, 4 * n, s);
        });
        grade.expect("destination", expected, exactly);
    });
}

/// Source and destination are parts of one array and touch.
void grade_touching(int64_t num_bytes, int64_t start, bool source_first) {
    const auto before = random_bytes(start + 2 * num_bytes, 3);
    const int64_t from = source_first ? start : start + num_bytes;
    const int64_t to = source_first ? start + num_bytes : start;
    const auto moved = part(before, from, num_bytes);
    const auto expected =
        with_slice(before, to, std::vector<double>(moved.begin(), moved.end()));
    for_each_version("copy_bytes", copy_bytes, [&](auto& name, auto copy) {
        Grader grade(name,
                     std::to_string(num_bytes) + " bytes, from byte " +
                         std::to_string(from) + " to byte " + std::to_string(to) +
                         " of one array");
        uint8_t* d =
            grade.in_out("memory", {static_cast<int64_t>(before.size())}, before);
        grade.run([&](cudaStream_t s) { copy(d + from, d + to, num_bytes, s); });
        grade.expect("memory", expected, exactly);
    });
}

}  // namespace

TEST_CASE("a copy: floats of one block") {
    grade_floats(GENERATE(as<int64_t>(), 1, 3, 4, 5, 31, 32, 33, 255, 256), 0, 0);
}

TEST_CASE("a copy: floats, from anywhere to anywhere") {
    const auto [from, to] =
        GENERATE(table<int, int>({{0, 0}, {1, 1}, {1, 0}, {0, 1}, {3, 2}, {2, 0}}));
    grade_floats(10007, from, to);
}

TEST_CASE("a copy: few bytes") {
    // Shorter than head and tail, and as long; no whole word, one, and two.
    constexpr std::pair<int, int> kOffsets[] = {{0, 0}, {1, 1}, {0, 3}, {15, 2}};
    const int64_t num_bytes = GENERATE(range(1, 67));
    if (wb::testing::is_watched() && num_bytes % 5 != 0) return;
    for (const int64_t i : {num_bytes, num_bytes + 1}) {
        const auto [from, to] = kOffsets[i % 4];
        grade_bytes(num_bytes, from, to);
    }
}

TEST_CASE("a copy: each alignment of the source with each of the destination") {
    static const auto cases =
        wb::testing::Covering()
            .factor("bytes",
                    {33, 511, 512, 513, 1023, 2047, 2048, 2049, 4096, 4129, 16411})
            .factor("from", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
            .factor("to", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
            .cases();
    std::size_t last = cases.size();
    if (wb::testing::is_watched()) last = std::min<std::size_t>(last, 64);
    for (std::size_t i = 0; i < last; ++i)
        DYNAMIC_SECTION(cases[i].text()) {
            const auto& c = cases[i];
            grade_bytes(c["bytes"], c["from"], c["to"]);
        }
}

TEST_CASE("a copy: bytes beside the arrays belong to somebody else") {
    // Whoever reads or writes whole words at the ends meets the other array there.
    static const auto cases =
        wb::testing::Covering()
            .factor("bytes", {1, 15, 16, 17, 47, 48, 80, 513, 4099})
            .factor("start", {0, 1, 4, 7, 8, 15})
            .factor("first", {"source", "destination"})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_touching(c["bytes"], c["start"], c["first"] == 0);
        }
}

TEST_CASE("a copy: more words than a grid takes at once", "[long]") {
    const int64_t to = GENERATE(1, 0, 2, 8);
    grade_bytes(1'300'003 << (to == 0 ? 2 : 0), 0, to);
}

TEST_CASE("a copy: any bits, also those of no number") {
    const auto bits = wb::testing::special_bits(1009);
    const std::vector<double> expected(bits.begin(), bits.end());
    for_each_version("copy_bytes", copy_bytes, [&](auto& name, auto copy) {
        Grader grade(name, "odd numbers");
        const uint32_t* d_source = grade.input("source", bits);
        uint32_t* d_destination = grade.output<uint32_t>("destination", {1009});
        grade.run([&](cudaStream_t s) { copy(d_source, d_destination, 4 * 1009, s); });
        grade.expect("destination", expected, exactly);
    });
}

TEST_CASE("a copy is right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade_bytes(10'007, 3, 8);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("a copy: nothing is kept from call to call") {
    wb::testing::expect_independent([] { grade_floats(300, 0, 0); },
                                    [] { grade_floats(9000, 1, 0); });
}

TEST_CASE("a copy is queued on the caller's stream") {
    const auto [from, to] = GENERATE(table<int, int>({{0, 0}, {1, 1}, {1, 0}}));
    for_each_version("copy_bytes", copy_bytes, [&](auto& name, auto copy) {
        Grader grade(name, "1000 bytes");
        const uint8_t* d_source = grade.input("source", std::vector<uint8_t>(1016));
        uint8_t* d_destination = grade.output<uint8_t>("destination", {1016});
        grade.expect_queued([&](cudaStream_t s) {
            copy(d_source + from, d_destination + to, 1000, s);
        });
    });
    Grader("copy_bytes", "no bytes").expect_no_work([](cudaStream_t s) {
        copy_bytes(nullptr, nullptr, 0, s);
    });
}
