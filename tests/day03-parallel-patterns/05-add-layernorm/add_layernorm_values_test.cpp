// Grades day03-parallel-patterns/05-add-layernorm, forward: numbers at which shortcuts
// show, and who is dropped.
#include "add_layernorm_cases.h"

#include <wb/philox.h>

#include <functional>

using namespace add_layernorm_cases;

namespace {

/// Rows of the same width, one for each kind of number.
class Pairs {
 public:
    explicit Pairs(int64_t columns) : columns_(columns) {}

    using Value = std::function<float(int64_t)>;

    /// A row whose elements c are x(c) and other(c).
    void add(const Value& x, const Value& other) {
        for (int64_t c = 0; c < columns_; ++c) {
            x_.push_back(x(c));
            other_.push_back(other(c));
        }
    }
    void grade(const std::string& what,
               const std::vector<int64_t>& functions = {0, 1, 2, 3, 4, 5, 6, 7},
               float eps = 1e-5f) const {
        Sizes s = {static_cast<int64_t>(x_.size()) / columns_, columns_};
        s.eps = eps;
        Numbers numbers = random_numbers({1, columns_});
        numbers.x = x_;
        numbers.other = other_;
        for (const int64_t function : functions)
            grade_numbers(s, numbers, what, function);
    }

 private:
    int64_t columns_;
    Floats x_, other_;
};

/// An ordinary element, not the same in all columns.
float some(int64_t c) {
    return 0.25f * static_cast<float>(c * 5 % 7) - 1.0f;
}
float one(int64_t c) {
    return c % 2 == 0 ? 1.0f : -1.0f;
}

/// For a warp, several of them, a block; and no multiple of a vector.
int64_t widths() {
    return GENERATE(as<int64_t>(), 5, 40, 301, 1504);
}

}  // namespace

TEST_CASE("h is rounded before it is measured: what is stored is what counts") {
    Pairs rows(widths());
    // The numbers of bf16 at 256 are 2 apart: one half of the sums is rounded.
    rows.add([](int64_t c) { return 256.0f + static_cast<float>(c % 3 * 2); }, one);
    rows.add([](int64_t c) { return c % 2 == 0 ? -256.0f : -512.0f; }, some);
    rows.grade(", sums that are rounded", {0, 2});
    Pairs half(widths());
    half.add([](int64_t c) { return 2048.0f + static_cast<float>(c % 3 * 2); }, one);
    half.add([](int64_t c) { return c % 2 == 0 ? 30'000.0f : 29'968.0f; }, some);
    half.grade(", sums that are rounded", {1});
}

TEST_CASE("an eps below the smallest normal number is not 0") {
    Sizes s = {2, widths()};
    s.eps = 1e-40f;
    Numbers numbers = random_numbers(s);
    std::fill_n(numbers.x.begin(), s.columns, 0.0f);
    std::fill_n(numbers.other.begin(), s.columns, 0.0f);
    grade_numbers(s, numbers, ", eps 1e-40", GENERATE(as<int64_t>(), 0, 3, 6));
}

TEST_CASE("a large mean with a small variance keeps its digits") {
    Pairs rows(widths());
    for (const float mean : {1000.0f, -3000.0f, 1e4f, -1e5f}) {
        rows.add([&](int64_t c) { return mean + some(c); }, one);
        rows.add(some, [&](int64_t) { return mean; });
    }
    rows.grade(", large mean", {0, 3, 6});
}

TEST_CASE("a large sum of two, or a sum that is nothing") {
    Pairs rows(widths());
    rows.add([](int64_t c) { return 3000.0f * some(c); },
             [](int64_t c) { return -3000.0f * some(c); });
    rows.add([](int64_t c) { return 3000.0f * some(c); },
             [](int64_t c) { return -3000.0f * some(c) + (c % 3 == 0 ? 2.0f : 0.0f); });
    rows.add([](int64_t) { return 0.1f; }, [](int64_t) { return -0.0f; });
    rows.add([](int64_t) { return -0.0f; }, [](int64_t) { return -0.0f; });
    rows.grade(", sums that cancel");
}

TEST_CASE("sums of squares that fp16 cannot hold") {
    Pairs rows(widths());
    rows.add([](int64_t c) { return c % 2 == 0 ? 3000.0f : -2000.0f; }, some);
    rows.add([](int64_t c) { return 500.0f * some(c); }, one);
    rows.grade(", large numbers");
}

TEST_CASE("eps is added to the variance, under the root") {
    Pairs rows(widths());
    rows.add(some, [](int64_t) { return 0.5f; });
    rows.add([](int64_t c) { return 0.001f * some(c); }, [](int64_t) { return 0.0f; });
    const float eps = GENERATE(1e-12f, 0.5f, 100.0f);
    rows.grade(", eps " + std::to_string(eps), {0, 3, 7}, eps);
}

TEST_CASE("a residual that is large, tiny or 0, or that takes most of y away") {
    Pairs rows(widths());
    rows.add(some, [](int64_t c) { return 1000.0f * one(c); });
    rows.add(some, [](int64_t c) { return 1e-6f * one(c); });
    rows.add(some, [](int64_t) { return 0.0f; });
    rows.add(some, [](int64_t c) { return -2.0f * some(c); });  // takes most of y away
    rows.grade(", residuals");
}

TEST_CASE("a NaN or an infinity: its row, no other, and what is dropped is 0") {
    const int64_t columns = widths();
    Pairs rows(columns);
    for (const float number : {kNan, kInfinity, -kInfinity})
        for (const int64_t place : {int64_t{0}, columns - 1}) {
            rows.add([&](int64_t c) { return c == place ? number : some(c); }, one);
            rows.add(some, one);
        }
    rows.grade(", NaN and infinities");
}

TEST_CASE("a NaN in the residual: of a sum its row, else its element") {
    const int64_t columns = widths();
    Pairs rows(columns);
    rows.add(some, [&](int64_t c) { return c == columns / 2 ? kNan : 1.0f; });
    rows.add(some, one);
    rows.add(some, [](int64_t c) { return c % 4 == 1 ? kNan : 1.0f; });
    rows.grade(", NaN in the residual");
}

TEST_CASE("the generator is the published one, on the host, too") {
    using Words = std::vector<uint32_t>;
    struct Answer {
        Words counter;
        uint64_t seed;
        Words words;
    };
    // Random123, kat_vectors: philox 4x32 10
    const uint32_t ones = 0xffffffff;
    const Answer answers[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{ones, ones, ones, ones},
         0xffffffffffffffff,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         0x299f31d0a4093822,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (const auto& [counter, seed, words] : answers) {
        CHECK(wb::reference::philox(counter, seed) == words);
        const wb::Words4 got =
            wb::philox({{counter[0], counter[1], counter[2], counter[3]}}, seed);
        for (size_t i = 0; i < 4; ++i)
            CHECK(got.word[i] == words[i]);
    }
    Sizes s = {1, 4};
    s.dropout = {0.5f, 0, 0};  // the first of them decides
    grade_random(s, 6);
}

TEST_CASE("who is dropped depends on seed, offset, row and column alone") {
    const auto [p, seed, offset] =
        GENERATE(table<float, uint64_t, uint64_t>({{0.0f, 0, 0},
                                                   {0.5f, 0, 0},
                                                   {0.1f, 0xFEDCBA9876543210, 3},
                                                   {0.25f, 5, 0x123456789ABCDEF},
                                                   {0.75f, 1, uint64_t{1} << 32},
                                                   {1.0f - 0x1p-24f, 9, 1},
                                                   {1e-9f, 1, 2}}));
    Sizes s = {7, GENERATE(as<int64_t>(), 6, 257, 320)};
    s.dropout = {p, seed, offset};
    grade_random(s, 6);
    s.gap = 1;
    grade_random(s, 7);
}

TEST_CASE("a word that is p * 2^32 is not below it: its element is kept") {
    Sizes s = {1, 8};
    uint32_t word = 1;
    while (word % 256 != 0)  // p has 24 bits
        word = wb::philox({{0, 0, 7, 0}}, ++s.dropout.seed).word[0];
    s.dropout.p = static_cast<float>(word) * 0x1p-32f;
    grade_random(s, 6);
    grade_random(s, 7);
    s.gap = 1;  // no vectors
    grade_random(s, 7);
}

TEST_CASE("about as many are dropped as there should be") {
    Sizes s = {64, 512};
    s.dropout = {0.25f, 2026, 1};
    wb::reference::DropoutMask mask = {0.25, 2026, 1};
    int dropped = 0;
    for (int64_t i = 0; i < s.count(); ++i)
        dropped += mask.factor(i / s.columns, i % s.columns) == 0.0 ? 1 : 0;
    // Six standard deviations of a sum of 32,768: the reference itself is looked at.
    CHECK(std::abs(dropped - 8192) < 6 * 79);
    grade_random(s, 6);
}
