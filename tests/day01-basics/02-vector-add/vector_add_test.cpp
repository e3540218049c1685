// Grades day01-basics/02-vector-add.
#include "vector_add.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/vector_add.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/random.h>
#include <wb/testing/special_values.h>

#include <algorithm>
#include <limits>

namespace {

using wb::testing::Grader;

std::string sizes(int64_t n, uint64_t seed) {
    return "n = " + std::to_string(n) + ", seed " + std::to_string(seed);
}

/// One correctly rounded addition, whatever its size.
void grade_sum(int64_t n, uint64_t seed) {
    const auto a = wb::testing::random_normal(n, seed);
    const auto b = wb::testing::random_normal(n, seed + 1000);
    const auto expected = wb::reference::vector_add(a, b);
    for (const auto& [name, idea, add] :
         wb::implementations("vector_add", vector_add)) {
        Grader grade(name, sizes(n, seed));
        const float* d_a = grade.input("a", a);
        const float* d_b = grade.input("b", b);
        float* d_c = grade.output<float>("c", {n});
        grade.run([&, add = add](cudaStream_t s) { add(d_a, d_b, d_c, n, s); });
        grade.expect("c", expected, [&](int64_t i) {
            return wb::testing::float_bound(1, std::abs(expected[i]));
        });
    }
}

/// Slices that start at elements of their own; c may be a or b.
void grade_slices(const wb::testing::Combination& c) {
    const int64_t n = c["n"];
    const int64_t a_start = c["a from"];
    const int64_t b_start = c["b from"];
    const bool is_a = c.words("c is") == "a";
    const bool is_b = c.words("c is") == "b";
    const int64_t c_start = is_a ? a_start : is_b ? b_start : c["c from"];
    const auto a = wb::testing::random_normal(n + 3, 1);
    const auto b = wb::testing::random_normal(n + 3, 2);
    const auto at = [](int64_t i) { return static_cast<size_t>(i); };
    const std::vector<float> before = is_a   ? a
                                      : is_b ? b
                                             : std::vector<float>(at(n + 3));
    std::vector<double> expected(before.begin(), before.end());
    std::vector<bool> in_slice(before.size());
    for (int64_t i = 0; i < n; ++i) {
        expected[at(c_start + i)] =
            double{a[at(a_start + i)]} + double{b[at(b_start + i)]};
        in_slice[at(c_start + i)] = true;
    }
    for (const auto& [name, idea, add] :
         wb::implementations("vector_add", vector_add)) {
        Grader grade(name, c.text());
        float* d_c = grade.in_out("c", {n + 3}, before);
        const float* d_a = is_a ? d_c : grade.input("a", a);
        const float* d_b = is_b ? d_c : grade.input("b", b);
        grade.run([&, add = add](cudaStream_t s) {
            add(d_a + a_start, d_b + b_start, d_c + c_start, n, s);
        });
        grade.expect("c", expected, [&](int64_t i) {
            return in_slice[at(i)]
                       ? wb::testing::float_bound(1, std::abs(expected[at(i)]))
                       : 0.0;
        });
    }
}

}  // namespace

TEST_CASE("one block is enough for up to 256 elements") {
    grade_sum(GENERATE(as<int64_t>(), 1, 2, 3, 4, 5, 31, 32, 33, 256), 1);
}

TEST_CASE("more elements than one block has threads") {
    grade_sum(GENERATE(as<int64_t>(), 257, 1000, 4096), GENERATE(1, 2));
}

TEST_CASE("a prime number of elements, so that nothing divides evenly") {
    grade_sum(GENERATE(as<int64_t>(), 97, 1009, 65537), GENERATE(1, 2, 3));
}

TEST_CASE("two million elements and one more", "[long]") {
    grade_sum((1 << 21) + 1, 1);
}

TEST_CASE("the result may be written over an input") {
    constexpr int64_t kN = 1000;
    const auto a = wb::testing::random_normal(kN, 1);
    const auto b = wb::testing::random_normal(kN, 2);
    const auto expected = wb::reference::vector_add(a, b);
    Grader grade("vector_add", "c is a, " + sizes(kN, 1));
    float* d_a = grade.in_out("a", {kN}, a);
    const float* d_b = grade.input("b", b);
    grade.run([&](cudaStream_t s) { vector_add(d_a, d_b, d_a, kN, s); });
    grade.expect("a", expected, [&](int64_t i) {
        return wb::testing::float_bound(1, std::abs(expected[i]));
    });
}

TEST_CASE("slices that start at any element") {
    // x + 1 is no address for a float4, and each array may be one when others are not.
    constexpr int64_t kN = 1003;
    constexpr int64_t kSlice = kN - 3;
    const auto starts = GENERATE(table<int, int, int>(
        {{0, 0, 0}, {1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {4, 2, 3}, {3, 0, 3}}));
    const auto [a_start, b_start, c_start] = starts;
    const auto a = wb::testing::random_normal(kN + 1, 1);
    const auto b = wb::testing::random_normal(kN + 1, 2);
    const auto part = [](const std::vector<float>& x, int start) {
        return std::vector<float>(x.begin() + start, x.begin() + start + kSlice);
    };
    const auto sum = wb::reference::vector_add(part(a, a_start), part(b, b_start));
    std::vector<double> expected(kN, 0.0);  // what is not part of the slice
    std::copy(sum.begin(), sum.end(), expected.begin() + c_start);
    for (const auto& [name, idea, add] :
         wb::implementations("vector_add", vector_add)) {
        Grader grade(name,
                     "a, b and c start at elements " + std::to_string(a_start) + ", " +
                         std::to_string(b_start) + " and " + std::to_string(c_start) +
                         " of their arrays");
        const float* d_a = grade.input("a", a) + a_start;
        const float* d_b = grade.input("b", b) + b_start;
        float* d_c = grade.in_out("c", {kN}, std::vector<float>(kN, 0.0f)) + c_start;
        grade.run([&, add = add](cudaStream_t s) { add(d_a, d_b, d_c, kSlice, s); });
        grade.expect("c", expected, [&](int64_t i) {
            return wb::testing::float_bound(1, std::abs(expected[i]));
        });
    }
}

TEST_CASE("tiny numbers, infinities and no numbers at all") {
    // No slack for what underflows: a sum of floats that is subnormal is exact.
    const auto [a, b] = wb::testing::special_pairs();
    const auto n = static_cast<int64_t>(a.size());
    std::vector<double> expected;
    for (size_t i = 0; i < a.size(); ++i)
        expected.push_back(a[i] + b[i]);
    for (const auto& [name, idea, add] :
         wb::implementations("vector_add", vector_add)) {
        Grader grade(name, "special numbers, each with each");
        const float* d_a = grade.input("a", a);
        const float* d_b = grade.input("b", b);
        float* d_c = grade.output<float>("c", {n});
        grade.run([&, add = add](cudaStream_t s) { add(d_a, d_b, d_c, n, s); });
        grade.expect("c", expected, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("whole blocks of 1024, and one element more or less") {
    grade_sum(GENERATE(as<int64_t>(), 65535, 65536, 8192), 1);
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    // Aligned for a float4, and not.
    const int start = GENERATE(0, 1);
    constexpr int64_t kN = 1000;
    for (const auto& [name, idea, add] :
         wb::implementations("vector_add", vector_add)) {
        Grader grade(name, "n = 1000, from element " + std::to_string(start) + " on");
        const std::vector<float> zeros(kN + 1, 0.0f);
        const float* d_a = grade.input("a", zeros) + start;
        const float* d_b = grade.input("b", zeros) + start;
        float* d_c = grade.output<float>("c", {kN + 1}) + start;
        grade.expect_queued(
            [&, add = add](cudaStream_t s) { add(d_a, d_b, d_c, kN, s); });
    }
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent([&] { grade_sum(300, 1); },
                                    [&] { grade_sum(2000, 2); });
}

TEST_CASE("edges meet: sizes, where slices start, and what the result is") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 3, 4, 31, 32, 33, 255, 256, 257, 1023, 1025, 4097})
            .factor("a from", {0, 1, 2, 3})
            .factor("b from", {0, 1, 2, 3})
            .factor("c from", {0, 1, 2, 3})
            .factor("c is", {"another array", "a", "b"})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_slices(c);
        }
}

TEST_CASE("more than 2^31 elements", "[large]") {
    Grader("vector_add", "n = 0").expect_no_work([](cudaStream_t s) {
        vector_add(nullptr, nullptr, nullptr, 0, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^32 threads are too much for the simulator");
#else
    // a is b and zeros, but for 7 at the end, where a 32-bit index does not reach: 2^31
    // is a negative int, and past 2^32 an unsigned one begins again at 0.
    constexpr int64_t kN = (int64_t{1} << 32) + 5;
    constexpr size_t kBytes = static_cast<size_t>(kN) * sizeof(float);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < 2 * kBytes + (size_t{1} << 30))
        WB_SKIP("needs 36 GB of free GPU memory");
    float* d_a = nullptr;
    float* d_c = nullptr;
    CUDA_CHECK(cudaMalloc(&d_a, kBytes));
    CUDA_CHECK(cudaMalloc(&d_c, kBytes));
    CUDA_CHECK(cudaMemset(d_a, 0, kBytes));
    const std::vector<int64_t> places = {0, int64_t{1} << 31, kN - 1};
    for (const int64_t place : places) {
        const float value = place == 0 ? 1.0f : 7.0f;
        CUDA_CHECK(
            cudaMemcpy(d_a + place, &value, sizeof(float), cudaMemcpyHostToDevice));
    }
    for (const auto& [name, idea, add] :
         wb::implementations("vector_add", vector_add)) {
        Grader grade(name, "n = 2^32 + 5, elements 0, 2^31 and n - 1");
        float* d_few = grade.output<float>("c", {3});
        CUDA_CHECK(cudaMemset(d_c, 0xFF, kBytes));
        grade.run([&, add = add](cudaStream_t s) {
            add(d_a, d_a, d_c, kN, s);
            for (size_t i = 0; i < places.size(); ++i) {
                CUDA_CHECK(cudaMemcpyAsync(d_few + i,
                                           d_c + places[i],
                                           sizeof(float),
                                           cudaMemcpyDeviceToDevice,
                                           s));
            }
        });
        grade.expect("c", {2.0, 14.0, 14.0}, [](int64_t) { return 0.0; });
    }
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_c));
#endif
}

TEST_CASE("no elements: nothing is launched") {
    Grader grade("vector_add", "n = 0");
    grade.expect_no_work(
        [](cudaStream_t s) { vector_add(nullptr, nullptr, nullptr, 0, s); });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("vector_add", "wrong arguments");
    float* d = memory.output<float>("d", {8});
    float host[8] = {};
    expect_refused(
        "vector_add", "n = -1", "n is -1", [&] { vector_add(d, d, d, -1, nullptr); });
    expect_refused("vector_add", "a null", "a is a null pointer", [&] {
        vector_add(nullptr, d, d, 8, nullptr);
    });
    expect_refused("vector_add", "b on the host", "b is a host pointer", [&] {
        vector_add(d, host, d, 8, nullptr);
    });
    expect_refused("vector_add", "c on the host", "c is a host pointer", [&] {
        vector_add(d, d, host, 8, nullptr);
    });
}
