// Grades day01-basics/02-vector-add.
#include "vector_add.h"

#include <wb/implementations.h>
#include <wb/reference/vector_add.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

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

}  // namespace

TEST_CASE("one block is enough for up to 256 elements") {
    grade_sum(GENERATE(as<int64_t>(), 1, 31, 32, 33, 256), 1);
}

TEST_CASE("more elements than one block has threads") {
    grade_sum(GENERATE(as<int64_t>(), 257, 1000, 4096), GENERATE(1, 2));
}

TEST_CASE("a prime number of elements, so that nothing divides evenly") {
    grade_sum(GENERATE(as<int64_t>(), 97, 1009, 65537), GENERATE(1, 2, 3));
}

TEST_CASE("a million elements and one more", "[long]") {
    grade_sum((1 << 20) + 1, 1);
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

TEST_CASE("a slice that starts at any element") {
    // x + 1 is no address for a float4.
    constexpr int64_t kN = 1003;
    const auto a = wb::testing::random_normal(kN, 1);
    const auto b = wb::testing::random_normal(kN, 2);
    auto expected = wb::reference::vector_add(a, b);
    expected.erase(expected.begin());
    Grader grade("vector_add", "all arrays start one element later");
    const float* d_a = grade.input("a", a);
    const float* d_b = grade.input("b", b);
    std::vector<float> before(kN, 0.0f);
    float* d_c = grade.in_out("c", {kN}, before);
    grade.run(
        [&](cudaStream_t s) { vector_add(d_a + 1, d_b + 1, d_c + 1, kN - 1, s); });
    expected.insert(expected.begin(), 0.0);  // c[0] is not part of the slice
    grade.expect("c", expected, [&](int64_t i) {
        return wb::testing::float_bound(1, std::abs(expected[i]));
    });
}

TEST_CASE("nothing is kept from call to call") {
    // The first call again, behind another one.
    for (const int64_t n : {300, 2000, 300})
        grade_sum(n, static_cast<uint64_t>(n));
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
