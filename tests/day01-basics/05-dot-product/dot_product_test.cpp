// Grades day01-basics/05-dot-product.
#include "dot_product.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/dot_product.h>
#include <wb/scratch.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using wb::testing::Grader;

std::string sizes(int64_t n, uint64_t seed) {
    return "n = " + std::to_string(n) + ", seed " + std::to_string(seed);
}

/// Numbers from -2 to 2, of which all products and, up to 2^22 elements, all sums of
/// products are whole numbers below 2^24: floats hold them exactly, so that no order of
/// addition may change the result by as much as one bit. A single element that is
/// forgotten among a million, or added twice, shows.
std::vector<float> small_integers(int64_t n, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values)
        value = static_cast<float>(random.below(5) - 2);
    return values;
}

/// Every rung (or the learner's function) on these numbers.
/// @param roundings  on the way of one product into the sum; 0: all sums are exact
void grade_dot(const std::vector<float>& a,
               const std::vector<float>& b,
               double roundings,
               const std::string& case_text) {
    const auto n = static_cast<int64_t>(a.size());
    const auto expected = wb::reference::dot_product(a, b);
    const double bound =
        roundings == 0 ? 0.0 : wb::testing::float_bound(roundings, expected.magnitude);
    for (const auto& [name, idea, dot] :
         wb::implementations("dot_product", dot_product)) {
        Grader grade(name, case_text);
        const float* d_a = grade.input("a", a);
        const float* d_b = grade.input("b", b);
        float* d_result = grade.output<float>("result", {1});
        grade.run([&, dot = dot](cudaStream_t s) { dot(d_a, d_b, d_result, n, s); });
        grade.expect("result", {expected.sum}, [&](int64_t) { return bound; });
    }
}

/// The contract's function alone, on whole numbers: for goals.
void grade_contract(int64_t n) {
    const auto a = small_integers(n, 1);
    const auto b = small_integers(n, 2);
    Grader grade("dot_product", "whole numbers, " + sizes(n, 1));
    const float* d_a = grade.input("a", a);
    const float* d_b = grade.input("b", b);
    float* d_result = grade.output<float>("result", {1});
    grade.run([&](cudaStream_t s) { dot_product(d_a, d_b, d_result, n, s); });
    grade.expect(
        "result", {wb::reference::dot_product(a, b).sum}, [](int64_t) { return 0.0; });
}

/// Normal numbers with outliers: the products round, and so do their sums. Whatever the
/// order, no product passes more than its own rounding and n - 1 additions.
void grade_random(int64_t n, uint64_t seed) {
    grade_dot(wb::testing::random_normal(n, seed),
              wb::testing::random_normal(n, seed + 1000),
              static_cast<double>(n),
              sizes(n, seed));
}

/// Whole numbers: the result must be exact.
void grade_exact(int64_t n, uint64_t seed) {
    grade_dot(small_integers(n, seed),
              small_integers(n, seed + 1000),
              0,
              "whole numbers, " + sizes(n, seed));
}

/// Slices that start at elements of their own; what lies around them is NaN. All sums
/// are exact.
void grade_slices(const wb::testing::Combination& c) {
    const int64_t n = c["n"];
    const bool is_a = c.words("b is") == "a";
    const auto around = [&](int64_t start, uint64_t seed) {
        std::vector<float> values = small_integers(n, seed);
        for (int64_t i = 0; i < n; ++i) {
            if ((c["numbers"] == 1 && i < n - 1) || (c["numbers"] == 2 && i > 0))
                values[static_cast<size_t>(i)] = 0.0f;
        }
        if (c["numbers"] == 1) values.back() = 3.0f;
        if (c["numbers"] == 2) values.front() = 3.0f;
        std::vector<float> result(static_cast<size_t>(n + 3), NAN);
        std::copy(values.begin(), values.end(), result.begin() + start);
        return result;
    };
    const int64_t a_start = c["a from"];
    const int64_t b_start = is_a ? a_start : c["b from"];
    const auto a = around(a_start, 1);
    const auto b = is_a ? a : around(b_start, 2);
    double sum = 0.0;
    for (int64_t i = 0; i < n; ++i)
        sum += double{a[size_t(a_start + i)]} * double{b[size_t(b_start + i)]};
    for (const auto& [name, idea, dot] :
         wb::implementations("dot_product", dot_product)) {
        Grader grade(name, c.text());
        const float* d_a = grade.input("a", a);
        const float* d_b = is_a ? d_a : grade.input("b", b);
        float* d_result = grade.output<float>("result", {1});
        grade.run([&, dot = dot](cudaStream_t s) {
            dot(d_a + a_start, d_b + b_start, d_result, n, s);
        });
        grade.expect("result", {sum}, [](int64_t) { return 0.0; });
    }
}

}  // namespace

TEST_CASE("one block is enough for up to 256 elements") {
    grade_random(GENERATE(as<int64_t>(), 1, 2, 3, 4, 5, 7, 31, 32, 33, 255, 256),
                 GENERATE(1, 2));
}

TEST_CASE("more elements than one block has threads") {
    grade_random(GENERATE(as<int64_t>(), 257, 1000, 4096), GENERATE(1, 2));
}

TEST_CASE("nothing is kept from call to call") {
    // Sizes of one kind, and of another: few blocks and many.
    const auto [first, second] =
        GENERATE(table<int64_t, int64_t>({{300, 2000}, {20'000, 9000}}));
    wb::testing::expect_independent([&, n = first] { grade_random(n, 1); },
                                    [&, n = second] { grade_random(n, 2); },
                                    [&, n = first] { grade_random(n, 3); });
}

TEST_CASE("a prime number of elements, so that nothing divides evenly") {
    grade_random(GENERATE(as<int64_t>(), 97, 1009, 65537), GENERATE(1, 2, 3));
}

TEST_CASE("whole numbers add up exactly, in any order") {
    grade_exact(GENERATE(as<int64_t>(), 1, 33, 255, 256, 257, 1009, 65537), 1);
}

TEST_CASE("on a GPU of many multiprocessors, whose blocks are more than 256") {
    const wb::testing::FewMultiprocessors many(1000);
    grade_exact(300'003, 1);
}

TEST_CASE("a product is rounded to nearest") {
    // One term is not 0, so that one rounding is all that may be seen.
    const auto seed = GENERATE(range(1, 13));
    const auto one = wb::testing::random_normal(2, static_cast<uint64_t>(seed));
    std::vector<float> a(300, 0.0f);
    auto b = a;
    a[299] = one[0];
    b[299] = one[1];
    grade_dot(a, b, 1, "all but the last are 0, seed " + std::to_string(seed));
}

TEST_CASE("a million whole numbers and one more", "[long]") {
    grade_exact((1 << 20) + 1, GENERATE(1, 2));
}

TEST_CASE("few numbers of many digits among many zeros") {
    // Their sum has fewer than 24 bits: it is exact in any order, but not with products
    // of 11 bits (TF32), let alone of 8. Bounds that grow with n would let these pass.
    const auto n = GENERATE(as<int64_t>(), 257, 65537, 262'147);
    wb::testing::Random random(1);
    std::vector<float> a(static_cast<size_t>(n), 0.0f);
    auto b = a;
    for (int i = 0; i < 100; ++i) {
        const auto at = static_cast<size_t>(random.below(n));
        (i % 2 == 0 ? a : b)[at] =
            static_cast<float>(0x10001 + 2 * random.below(0x7FFF));
        (i % 2 == 0 ? b : a)[at] = i % 3 == 0 ? -1.0f : 1.0f;
    }
    grade_dot(a, b, 0, "100 numbers of 17 bits, n = " + std::to_string(n));
}

TEST_CASE("only the last element counts") {
    const auto n = GENERATE(as<int64_t>(), 1, 3, 255, 1023, 65537);
    std::vector<float> a(static_cast<size_t>(n), 0.0f);
    const std::vector<float> b(a.size(), 3.0f);
    a.back() = 7.0f;
    grade_dot(a, b, 0, "a is 0 but for a[n - 1], n = " + std::to_string(n));
}

TEST_CASE("a last block with a single product") {
    // Shared memory holds NaN when the launch begins, and squares do not cancel: what
    // the 255 threads without a product leave behind is not overlooked.
    const auto n = GENERATE(as<int64_t>(), 1, 257, 65537);
    const auto a = small_integers(n, 1);
    grade_dot(a, a, 0, "b = a, whole numbers, " + sizes(n, 1));
}

TEST_CASE("a sum is right whatever order the threads run in") {
    constexpr int64_t kN = 1 << 18;
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade_exact(kN, seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("the same sum, eight times over", "[long]") {
    constexpr int64_t kN = 100'003;
    const auto a = wb::testing::random_normal(kN, 1);
    const auto b = wb::testing::random_normal(kN, 2);
    const auto exact = wb::reference::dot_product(a, b);
    const double bound = wb::testing::float_bound(kN, exact.magnitude);
    for (const auto& [name, idea, dot] :
         wb::implementations("dot_product", dot_product)) {
        double first = 0.0;
        for (unsigned repeat = 0; repeat < 8; ++repeat) {
            wb::testing::shuffle_threads(repeat);
            Grader grade(name, "once more, " + sizes(kN, 1));
            const float* d_a = grade.input("a", a);
            const float* d_b = grade.input("b", b);
            float* d_result = grade.output<float>("result", {1});
            grade.run(
                [&, dot = dot](cudaStream_t s) { dot(d_a, d_b, d_result, kN, s); });
            grade.expect("result", {exact.sum}, [&](int64_t) { return bound; });
            if (repeat == 0) first = grade.read("result")[0];
            // Atomics add in any order; v5 alone promises the same bits each time.
            if (name != "dot_product_v5") continue;
            grade.expect("result", {first}, [](int64_t) { return 0.0; });
        }
    }
    wb::testing::shuffle_threads(0);
}

TEST_CASE("five million whole numbers and one more", "[long]") {
    // More than a grid of 4096 blocks takes at once, also as float4: threads add up
    // several of them. The sums stay below 2^24, as they did up to 2^22 elements.
    grade_exact((5 << 20) + 1, 1);
}

TEST_CASE("more elements than 65535 blocks have threads, or a float can count",
          "[long]") {
    constexpr int64_t kN = (int64_t{1} << 24) + 3;
    std::vector<float> a(static_cast<size_t>(kN), 0.0f);
    for (int64_t i = 1; i <= 5; ++i)
        a[static_cast<size_t>(kN - i)] = static_cast<float>(i);
    Grader grade("dot_product", "b is a: zeros, then 5 4 3 2 1, n = 2^24 + 3");
    const float* d_a = grade.input("a", a);
    float* d_result = grade.output<float>("result", {1});
    grade.run([&](cudaStream_t s) { dot_product(d_a, d_a, d_result, kN, s); });
    grade.expect("result", {55.0}, [](int64_t) { return 0.0; });
}

TEST_CASE("arrays that start at any element") {
    constexpr int64_t kN = 1003;
    constexpr int64_t kSlice = kN - 3;
    const auto starts =
        GENERATE(table<int, int>({{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 3}, {3, 0}}));
    const auto [a_start, b_start] = starts;
    const auto a = small_integers(kN, 1);
    const auto b = small_integers(kN, 2);
    const auto part = [](const std::vector<float>& x, int start) {
        return std::vector<float>(x.begin() + start, x.begin() + start + kSlice);
    };
    const auto expected =
        wb::reference::dot_product(part(a, a_start), part(b, b_start));
    for (const auto& [name, idea, dot] :
         wb::implementations("dot_product", dot_product)) {
        Grader grade(name,
                     "a and b start at elements " + std::to_string(a_start) + " and " +
                         std::to_string(b_start) + " of their arrays");
        const float* d_a = grade.input("a", a) + a_start;
        const float* d_b = grade.input("b", b) + b_start;
        float* d_result = grade.output<float>("result", {1});
        grade.run(
            [&, dot = dot](cudaStream_t s) { dot(d_a, d_b, d_result, kSlice, s); });
        grade.expect("result", {expected.sum}, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("tiny numbers add up exactly, too") {
    // Products of a power of two times whole numbers: none is rounded. Not of 2^-149,
    // the smallest float: a GPU's atomicAdd() in global memory takes numbers below
    // 2^-126 for zeros (PTX ISA, "atom", .f32).
    const auto n = GENERATE(as<int64_t>(), 33, 1009);
    const float unit = 0x1p-126f;
    auto a = small_integers(n, 1);
    const auto b = small_integers(n, 2);
    for (float& value : a)
        value *= unit;
    grade_dot(a, b, 0, "tiny whole numbers, " + sizes(n, 1));
}

TEST_CASE("infinities and no numbers at all show in the sum") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float specials[] = {kInfinity, -kInfinity, NAN};
    const float special = specials[GENERATE(0, 1, 2)];
    constexpr int64_t kN = 1009;
    auto a = small_integers(kN, 1);
    const std::vector<float> b(a.size(), 1.0f);
    a[static_cast<size_t>(GENERATE(0, 500, 1008))] = special;
    const double sum = double{special};
    for (const auto& [name, idea, dot] :
         wb::implementations("dot_product", dot_product)) {
        Grader grade(name, "an element is " + std::to_string(special));
        const float* d_a = grade.input("a", a);
        const float* d_b = grade.input("b", b);
        float* d_result = grade.output<float>("result", {1});
        grade.run([&, dot = dot](cudaStream_t s) { dot(d_a, d_b, d_result, kN, s); });
        grade.expect("result", {sum}, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("no product is left out: a zero times an infinity is no number") {
    constexpr int64_t kN = 1009;
    const float special = GENERATE(std::numeric_limits<float>::infinity(), NAN);
    const float other = GENERATE(0.0f, 1.0f, -1.0f);
    const auto at = GENERATE(as<size_t>(), 1, 500, 1008);
    auto a = small_integers(kN, 1);
    auto b = small_integers(kN, 2);
    const bool is_in_a = GENERATE(true, false);
    (is_in_a ? a : b)[at] = special;
    (is_in_a ? b : a)[at] = other;
    grade_dot(a,
              b,
              0,
              std::string("an element of ") + (is_in_a ? "a" : "b") + " is " +
                  std::to_string(special) + ", the other one " + std::to_string(other));
}

TEST_CASE(
    "subnormal numbers count, too, where what they are multiplied with is large") {
    const bool is_in_a = GENERATE(true, false);
    auto a = small_integers(1009, 1);
    auto b = small_integers(1009, 2);
    for (size_t i = 0; i < a.size(); ++i) {
        (is_in_a ? a : b)[i] *= 0x1p-130f;
        (is_in_a ? b : a)[i] *= 0x1p120f;
    }
    grade_dot(a, b, 0, std::string(is_in_a ? "a" : "b") + " is subnormal, n = 1009");
}

TEST_CASE("whole blocks of 1024, and one element more or less") {
    grade_exact(GENERATE(as<int64_t>(), 65535, 65536, 8192), 1);
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    // Aligned for a float4, and not; and nothing to add up, but a zero to write.
    const auto [start, n] =
        GENERATE(table<int, int64_t>({{0, 1000}, {1, 1000}, {0, 0}}));
    for (const auto& [name, idea, dot] :
         wb::implementations("dot_product", dot_product)) {
        if (n == 0 && name != "dot_product") continue;  // the contract's, before it
        Grader grade(name,
                     sizes(n, 1) + ", from element " + std::to_string(start) + " on");
        const std::vector<float> zeros(1001, 0.0f);
        const float* d_a = grade.input("a", zeros) + start;
        const float* d_b = grade.input("b", zeros) + start;
        float* d_result = grade.output<float>("result", {1});
        grade.expect_queued(
            [&, dot = dot, n = n](cudaStream_t s) { dot(d_a, d_b, d_result, n, s); });
    }
}

TEST_CASE("edges meet: sizes, where arrays start, what they hold") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 2, 3, 4, 31, 32, 33, 255, 256, 257, 1023, 1025, 4097})
            .factor("a from", {0, 1, 2, 3})
            .factor("b from", {0, 1, 2, 3})
            .factor("numbers", {"whole", "the last counts", "the first counts"})
            .factor("b is", {"another array", "a"})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_slices(c);
        }
}

TEST_CASE("a and b may be the same array") {
    constexpr int64_t kN = 1009;
    const auto a = small_integers(kN, 4);
    const auto expected = wb::reference::dot_product(a, a);
    Grader grade("dot_product", "b is a, " + sizes(kN, 4));
    const float* d_a = grade.input("a", a);
    float* d_result = grade.output<float>("result", {1});
    grade.run([&](cudaStream_t s) { dot_product(d_a, d_a, d_result, kN, s); });
    grade.expect("result", {expected.sum}, [](int64_t) { return 0.0; });
}

TEST_CASE("more than 2^31 elements", "[large]") {
    Grader unsolved("dot_product", "n = 0");
    float* d_zero = unsolved.output<float>("result", {1});
    unsolved.run([&](cudaStream_t s) { dot_product(nullptr, nullptr, d_zero, 0, s); });
#ifdef SIMT_CPU
    WB_SKIP("17 GB of memory and 2^31 products are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 33;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < 2 * kN * sizeof(float) + (size_t{1} << 30)) {
        WB_SKIP("needs 19 GB of free GPU memory");
    }
    const wb::Scratch<float> a(kN, nullptr);
    const wb::Scratch<float> b(kN, nullptr);
    CUDA_CHECK(cudaMemset(a.data(), 0, kN * sizeof(float)));
    CUDA_CHECK(cudaMemset(b.data(), 0, kN * sizeof(float)));
    // The products of the last elements alone are not zero: 3 * 5 + 7 * 11.
    const float last_a[] = {3.0f, 7.0f};
    const float last_b[] = {5.0f, 11.0f};
    CUDA_CHECK(
        cudaMemcpy(a.data() + kN - 2, last_a, sizeof(last_a), cudaMemcpyHostToDevice));
    CUDA_CHECK(
        cudaMemcpy(b.data() + kN - 2, last_b, sizeof(last_b), cudaMemcpyHostToDevice));
    for (const auto& [name, idea, dot] :
         wb::implementations("dot_product", dot_product)) {
        Grader grade(name, "n = 2^31 + 33, all zeros but for the last elements");
        float* d_result = grade.output<float>("result", {1});
        grade.run([&, dot = dot](cudaStream_t s) {
            dot(a.data(), b.data(), d_result, kN, s);
        });
        grade.expect("result", {92.0}, [](int64_t) { return 0.0; });
    }
#endif
}

TEST_CASE("no elements: the sum is zero, and it is written") {
    Grader grade("dot_product", "n = 0");
    float* d_result = grade.output<float>("result", {1});
    grade.run([&](cudaStream_t s) { dot_product(nullptr, nullptr, d_result, 0, s); });
    grade.expect("result", {0.0}, [](int64_t) { return 0.0; });
}

TEST_CASE("a block adds up before it takes an atomic", "[.][goal]") {
    constexpr int64_t kN = 1 << 16;
    constexpr int64_t kElementsOfABlock = 256;
    wb::testing::Goal goal("dot_product");
    grade_contract(kN);
    goal.atomics_at_most(kN / kElementsOfABlock);
    goal.moves_at_most(1.1);
    goal.conflicts_at_most(1.1);
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("dot_product", "wrong arguments");
    float* d = memory.output<float>("d", {8});
    float host[8] = {};
    expect_refused(
        "dot_product", "n = -1", "n is -1", [&] { dot_product(d, d, d, -1, nullptr); });
    expect_refused("dot_product", "n = -2^32", "n is -4294967296", [&] {
        dot_product(d, d, d, -(int64_t{1} << 32), nullptr);
    });
    expect_refused("dot_product", "a null", "a is a null pointer", [&] {
        dot_product(nullptr, d, d, 7, nullptr);
    });
    expect_refused("dot_product", "b on the host", "b is a host pointer", [&] {
        dot_product(d, host, d, 7, nullptr);
    });
    for (const int64_t n : {0, 7}) {
        expect_refused("dot_product", "result null", "result is a null pointer", [&] {
            dot_product(d, d, nullptr, n, nullptr);
        });
        expect_refused("dot_product", "result on the host", "result is a host", [&] {
            dot_product(d, d, host, n, nullptr);
        });
    }
}
