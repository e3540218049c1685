/// wb/bench/statistics.h: what is told of many samples.
#pragma once

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

}  // namespace wb::bench
