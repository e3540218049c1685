#include <wb/testing/catch.h>
#include <wb/testing/random.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

using wb::testing::Random;
using wb::testing::random_normal;

TEST_CASE("random: the bits are those of SplitMix64") {
    // The test vector that its implementations share, for the seed 1234567.
    Random random(1234567);
    CHECK(random.bits() == 6457827717110365317u);
    CHECK(random.bits() == 3203168211198807973u);
    CHECK(random.bits() == 9817491932198370423u);
    CHECK(random.bits() == 4593380528125082431u);
    CHECK(random.bits() == 16408922859458223821u);
}

TEST_CASE("random: normal numbers are those of Box and Muller, one by one or many") {
    constexpr std::size_t kN = 1000;
    Random many(6);
    Random one(6);
    Random uniform(6);
    float values[kN];
    many.normals(values, kN);
    for (const float value : values) {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform.uniform()));
        const double angle = 2.0 * std::numbers::pi * uniform.uniform();
        const double expected = radius * std::cos(angle);
        CHECK(std::abs(one.normal() - expected) <= 1e-14);
        CHECK(std::abs(double{value} - expected) <= 1e-14 + 0x1p-24 * radius);
    }
    CHECK(one.bits() == many.bits());
}

TEST_CASE("random: the same seed gives the same values, another seed others") {
    CHECK(random_normal(1000, 7) == random_normal(1000, 7));
    CHECK(random_normal(1000, 7) != random_normal(1000, 8));
    CHECK(random_normal(0, 7).empty());
}

TEST_CASE("random: a longer array begins like a shorter one") {
    const auto longer = random_normal(1000, 3);
    const auto shorter = random_normal(100, 3);
    CHECK(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST_CASE("random: uniform numbers fill the range from 0 to 1 evenly, without 1") {
    Random random(1);
    int tenths[10] = {};
    for (int i = 0; i < 100000; ++i) {
        const double x = random.uniform();
        REQUIRE(x >= 0.0);
        REQUIRE(x < 1.0);
        ++tenths[static_cast<int>(10.0 * x)];
    }
    // 10000 are expected in each tenth, with a standard deviation of 95.
    for (const int count : tenths)
        CHECK(std::abs(count - 10000) < 500);
}

TEST_CASE("random: integers below n reach both ends and never n") {
    Random random(2);
    int counts[7] = {};
    for (int i = 0; i < 7000; ++i) {
        const auto k = random.below(7);
        REQUIRE(k >= 0);
        REQUIRE(k < 7);
        ++counts[k];
    }
    for (const int count : counts)
        CHECK(std::abs(count - 1000) < 200);
    CHECK(Random(3).below(1) == 0);
}

TEST_CASE("random: normal numbers have mean 0, variance 1 and tails") {
    Random random(4);
    constexpr int kN = 100000;
    double sum = 0.0;
    double squares = 0.0;
    int beyond_two = 0;
    for (int i = 0; i < kN; ++i) {
        const double x = random.normal();
        sum += x;
        squares += x * x;
        beyond_two += std::abs(x) > 2.0 ? 1 : 0;
    }
    CHECK(std::abs(sum / kN) < 0.02);
    CHECK(std::abs(squares / kN - 1.0) < 0.03);
    CHECK(std::abs(beyond_two / static_cast<double>(kN) - 0.0455) < 0.005);
}

TEST_CASE("random: one input in 64 is an outlier, and all are finite") {
    const auto values = random_normal(1 << 16, 5);
    const auto large = std::count_if(
        values.begin(), values.end(), [](float x) { return std::abs(x) > 10.0f; });
    // 1024 outliers, of which 92 % are larger than a tenth of their deviation.
    CHECK(large > 800);
    CHECK(large < 1100);
    CHECK(std::all_of(
        values.begin(), values.end(), [](float x) { return std::isfinite(x); }));
}
