// Grades dayNN-day/NN-chapter.
#include "chapter_name.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

namespace {

using wb::testing::Grader;

// TODO(author): the reference belongs into common/reference, in double
std::vector<double> reference(const std::vector<float>& x) {
    std::vector<double> y;
    for (const float value : x)
        y.push_back(2.0 * double{value});
    return y;
}

void grade(int64_t n, uint64_t seed) {
    const auto x = wb::testing::random_normal(n, seed);
    const auto expected = reference(x);
    for (const auto& [name, idea, run] :
         wb::implementations("chapter_name", chapter_name)) {
        Grader grader(name,
                      "n = " + std::to_string(n) + ", seed " + std::to_string(seed));
        const float* d_x = grader.input("x", x);
        float* d_y = grader.output<float>("y", {n});
        grader.run([&, run = run](cudaStream_t s) { run(d_x, d_y, n, s); });
        grader.expect("y", expected, [](int64_t) { return 0.0; });
    }
}

}  // namespace

// TODO(author): cases on every edge of every argument, and a [long] one
TEST_CASE("one block is enough for up to 256 elements") {
    grade(GENERATE(as<int64_t>(), 1, 31, 32, 33, 256), 1);
}

TEST_CASE("a prime number of elements, so that nothing divides evenly") {
    grade(GENERATE(as<int64_t>(), 97, 1009, 65537), GENERATE(1, 2, 3));
}

TEST_CASE("no elements: nothing is launched") {
    Grader grader("chapter_name", "n = 0");
    grader.expect_no_work([](cudaStream_t s) { chapter_name(nullptr, nullptr, 0, s); });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("chapter_name", "wrong arguments");
    float* d = memory.output<float>("d", {8});
    float host[8] = {};
    expect_refused(
        "chapter_name", "n = -1", "n is -1", [&] { chapter_name(d, d, -1, nullptr); });
    expect_refused("chapter_name", "x null", "x is a null pointer", [&] {
        chapter_name(nullptr, d, 8, nullptr);
    });
    expect_refused("chapter_name", "y on the host", "y is a host pointer", [&] {
        chapter_name(d, host, 8, nullptr);
    });
}
