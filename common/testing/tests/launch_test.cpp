#include <wb/errors.h>
#include <wb/exercise.h>
#include <wb/launch.h>
#include <wb/testing/bounds.h>

#include <cstdint>
#include <cstdio>
#include <fstream>

#include "support.h"

using wb::testing::contains;

TEST_CASE("launch: ceil_div rounds up and does not overflow") {
    CHECK(wb::ceil_div(0, 256) == 0);
    CHECK(wb::ceil_div(1, 256) == 1);
    CHECK(wb::ceil_div(256, 256) == 1);
    CHECK(wb::ceil_div(257, 256) == 2);
    CHECK(wb::ceil_div(INT64_MAX, int64_t{2}) == int64_t{1} << 62);
    CHECK(wb::ceil_div(INT32_MAX, 1) == INT32_MAX);
    static_assert(wb::ceil_div(7, 2) == 4, "usable in constants");
}

TEST_CASE("launch: grid_size gives every item a thread") {
    CHECK(wb::grid_size(1, 256) == 1u);
    CHECK(wb::grid_size(256, 256) == 1u);
    CHECK(wb::grid_size(257, 256) == 2u);
    CHECK(wb::grid_size(INT32_MAX, 1) == 2147483647u);
}

TEST_CASE("launch: a grid that CUDA would refuse is refused with its numbers") {
    CHECK_THROWS_AS(wb::grid_size(0, 256), std::length_error);
    CHECK_THROWS_AS(wb::grid_size(-1, 256), std::length_error);
    CHECK_THROWS_WITH(wb::grid_size(int64_t{1} << 31, 1),
                      contains("2147483648 blocks"));
}

TEST_CASE("bounds: one rounding is half a unit in the last place") {
    using namespace wb::testing;
    CHECK(kUnitRoundoff<float> == 0x1p-24);
    CHECK(kUnitRoundoff<double> == 0x1p-53);
    // The float next to 1 is 2^-23 away: wrong by one unit must not pass.
    CHECK(float_bound(1, 1.0) >= 0x1p-24);
    CHECK(float_bound(1, 1.0) < 0x1p-23);
}

TEST_CASE(
    "bounds: they grow with the number of roundings, a little more than linearly") {
    using wb::testing::gamma;
    CHECK(gamma(0, 0x1p-24) == 0.0);
    CHECK(gamma(1000, 0x1p-24) > 1000 * 0x1p-24);
    CHECK(gamma(1000, 0x1p-24) < 1001 * 0x1p-24);
}

TEST_CASE("bounds: a denormal result may lose all its digits") {
    CHECK(wb::testing::float_bound(0, 0.0) == 0x1p-126);
}

TEST_CASE("exercise: an unsolved one names the lines of its TODOs") {
    char path[] = "/tmp/wb_day09_XXXXXX";
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    std::ofstream(path) << "first line\n// TODO(learner): a\n\n  // TODO(learner): b\n";
    std::string message;
    try {
        wb::not_solved(path, 3);
    } catch (const wb::NotSolved& unsolved) {
        message = unsolved.what();
    }
    std::remove(path);
    const std::string file = path;
    CHECK(message == "not solved yet: write the TODO in " + file + ":2, " + file +
                         ":4, then delete WB_NOT_SOLVED() in " + file + ":3");
}

TEST_CASE("exercise: the path starts at the day, as the learner types it") {
    CHECK_THROWS_WITH(
        wb::not_solved("/home/me/warpbook/day01-basics/02-vector-add/vector_add.cu",
                       30),
        contains("TODO in day01-basics/02-vector-add/vector_add.cu:30"));
}
