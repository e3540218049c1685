#include <wb/bench/statistics.h>
#include <wb/testing/catch.h>

#include <cmath>
#include <stdexcept>

using wb::bench::quantile;
using wb::bench::summarise;

TEST_CASE("statistics: the median of an odd and of an even number of samples") {
    CHECK(summarise({3, 1, 2}).median == 2.0);
    CHECK(summarise({4, 1, 3, 2}).median == 2.5);
    CHECK(summarise({7}).median == 7.0);
}

TEST_CASE("statistics: quantiles are interpolated between neighbours") {
    const std::vector<double> eleven = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    CHECK(quantile(eleven, 0.0) == 0.0);
    CHECK(quantile(eleven, 0.1) == 1.0);
    CHECK(quantile(eleven, 0.25) == 2.5);
    CHECK(quantile(eleven, 1.0) == 10.0);
    CHECK(quantile({5}, 0.9) == 5.0);
}

TEST_CASE("statistics: all of them, from samples in any order") {
    const auto s = summarise({10, 8, 6, 4, 2, 0, 9, 7, 5, 3, 1});
    CHECK(s.count == 11);
    CHECK(s.min == 0.0);
    CHECK(s.p10 == 1.0);
    CHECK(s.median == 5.0);
    CHECK(s.p90 == 9.0);
    CHECK(s.max == 10.0);
    CHECK(s.spread() == 1.6);
}

TEST_CASE("statistics: one slow sample moves neither the median nor the spread much") {
    std::vector<double> samples(20, 100.0);
    samples[7] = 5000.0;
    CHECK(summarise(samples).median == 100.0);
    CHECK(summarise(samples).spread() == 0.0);
    CHECK(summarise(samples).max == 5000.0);
}

TEST_CASE("statistics: mean, deviation and the upper percentiles, in a line") {
    std::vector<double> samples;
    for (int i = 100; i >= 0; --i)
        samples.push_back(i);
    const auto s = summarise(samples);
    CHECK(std::abs(s.mean - 50.0) < 1e-9);
    CHECK(std::abs(s.deviation - std::sqrt(101.0 * 102.0 / 12.0)) < 1e-9);
    CHECK(s.p95 == 95.0);
    CHECK(s.p99 == 99.0);
    CHECK(wb::bench::in_a_line(s) ==
          "mean 50.00, min 0.00, max 100.00, std 29.30, P50 50.00, P90 90.00, "
          "P95 95.00, P99 99.00 of 101");
    CHECK(summarise({7}).deviation == 0.0);
    CHECK(summarise({7}).mean == 7.0);
    CHECK(std::abs(summarise({1, 3}).deviation - std::sqrt(2.0)) < 1e-12);  // n - 1
}

TEST_CASE("statistics: nothing is said of no samples") {
    CHECK_THROWS_AS(summarise({}), std::invalid_argument);
}
