// An exercise that nobody has solved, under the tests of a chapter; expect_caught.cmake
// tries each cheat of cheats.cu.
#include "cheats.h"

#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

using namespace wb::testing;

TEST_CASE("doubles") {
    const std::vector<float> x = {1, 2, 3, 4, 5};
    Grader grade("launch_twice", "n = 5");
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {5});
    grade.run([&](cudaStream_t s) { launch_twice(d_x, d_y, 5, s); });
    grade.expect("y", {2, 4, 6, 8, 10}, [](int64_t) { return 0.0; });
}

// What a wrong solution passes, too.
TEST_CASE("is trivial") {
    SUCCEED();
}
