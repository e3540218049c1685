// Tests of rows in 8 bits: scales, ties, ends, and the migration of scales.
#include <wb/reference/int8.h>
#include <wb/testing/catch.h>
#include <wb/testing/random.h>

#include <cmath>
#include <vector>

using namespace wb::reference;

TEST_CASE("int8: symmetric rows end at 127, ties are even") {
    const std::vector<float> x = {
        127.0f, -127.0f, 0.5f, 1.5f, -2.5f, 0.0f, 63.4f, -0.6f};
    const Int8Rows rows = int8_quantized(x, 8, true);
    CHECK(rows.q == std::vector<int8_t>{127, -127, 0, 2, -2, 0, 63, -1});
    CHECK(rows.scales == std::vector<float>{1.0f});
    CHECK(rows.zeros == std::vector<int32_t>{0});
    CHECK(rows.sums == std::vector<int32_t>{62});
}

TEST_CASE("int8: asymmetric rows use all 256 numbers, and 0 is one of them") {
    const std::vector<float> x = {
        0.0f, 255.0f, 10.0f, 0.5f, -5.0f, 250.0f, 0.0f, -1.0f};
    const Int8Rows rows = int8_quantized(x, 4, false);
    CHECK(rows.zeros == std::vector<int32_t>{-128, -123});
    CHECK(rows.q == std::vector<int8_t>{-128, 127, -118, -128, -128, 127, -123, -124});
    for (int64_t i = 0; i < 8; ++i)
        CHECK(std::abs(rows.value(i) - x[static_cast<std::size_t>(i)]) <= 0.501);
}

TEST_CASE("int8: zeros stay zeros, and no number makes a row of none") {
    const float nan = std::nanf("");
    const Int8Rows rows =
        int8_quantized(std::vector<float>{0.0f, 0.0f, 1.0f, nan}, 2, true);
    CHECK(rows.scales[0] == 0.0f);
    CHECK(std::isnan(rows.scales[1]));
    CHECK(rows.q == std::vector<int8_t>{0, 0, 0, 0});
}

TEST_CASE("int8: smoothing makes columns alike, and leaves the product alone") {
    const std::vector<double> x_max = {100.0, 1.0, 4.0, 0.0};
    const std::vector<double> w_max = {1.0, 1.0, 0.25, 2.0};
    const auto half = smooth_factors(x_max, w_max, 0.5);
    CHECK(half == std::vector<double>{10.0, 1.0, 4.0, 1.0});
    // What is left of x and what w gets are the same then.
    for (std::size_t j = 0; j < 3; ++j)
        CHECK(x_max[j] / half[j] == w_max[j] * half[j]);
    CHECK(smooth_factors(x_max, w_max, 1.0) ==
          std::vector<double>{100.0, 1.0, 4.0, 1.0});
    CHECK(smooth_factors(x_max, w_max, 0.0) == std::vector<double>{1.0, 1.0, 4.0, 0.5});
}

TEST_CASE("int8: the largest of each column") {
    CHECK(largest_of_columns({1.0f, -5.0f, 0.0f, -2.0f, 4.0f, 0.0f}, 3) ==
          std::vector<double>{2.0, 5.0, 0.0});
}
