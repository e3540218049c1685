/// wb/bench/statistics.h: what is told of many samples.
#pragma once

#include <string>
#include <vector>

namespace wb::bench {

/// The order statistics of a set of samples, in their unit.
struct Statistics {
    int count = 0;
    double min = 0.0;
    double p10 = 0.0;  ///< one in ten samples is smaller
    double median = 0.0;
    double p90 = 0.0;  ///< one in ten samples is larger
    double max = 0.0;
    double mean = 0.0;
    double deviation = 0.0;  ///< standard deviation of the samples; 0 of one
    double p95 = 0.0;
    double p99 = 0.0;

    /// The width of the middle 80 %, relative to the median: 0.02 is 2 %.
    double spread() const { return median > 0.0 ? (p90 - p10) / median : 0.0; }
};

/// The value below which the fraction `q` of the samples lies, interpolated linearly
/// between neighbours.
///
/// @param sorted  ascending, not empty
/// @param q       in [0, 1]
double quantile(const std::vector<double>& sorted, double q);

/// Throws std::invalid_argument if there are no samples.
Statistics summarise(std::vector<double> samples);

/// All of them in a line, as reports on latency have it: "mean 12.31, min 12.02, max
/// 14.10, std 0.25, P50 12.25, P90 12.50, P95 12.71, P99 13.90 of 500".
std::string in_a_line(const Statistics& statistics);

}  // namespace wb::bench
