#include <wb/bench/statistics.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace wb::bench {

double quantile(const std::vector<double>& sorted, double q) {
    const double position = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(position));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = position - std::floor(position);
    return sorted[below] + weight * (sorted[above] - sorted[below]);
}

Statistics summarise(std::vector<double> samples) {
    if (samples.empty()) throw std::invalid_argument("summarise: there are no samples");
    std::sort(samples.begin(), samples.end());
    const auto count = static_cast<double>(samples.size());
    double mean = 0.0;
    for (const double sample : samples)
        mean += sample / count;
    double squares = 0.0;
    for (const double sample : samples)
        squares += (sample - mean) * (sample - mean);
    return {static_cast<int>(samples.size()),
            samples.front(),
            quantile(samples, 0.1),
            quantile(samples, 0.5),
            quantile(samples, 0.9),
            samples.back(),
            mean,
            samples.size() > 1 ? std::sqrt(squares / (count - 1.0)) : 0.0,
            quantile(samples, 0.95),
            quantile(samples, 0.99)};
}

std::string in_a_line(const Statistics& s) {
    char text[200];
    std::snprintf(text,
                  sizeof text,
                  "mean %.2f, min %.2f, max %.2f, std %.2f, P50 %.2f, P90 %.2f, "
                  "P95 %.2f, P99 %.2f of %d",
                  s.mean,
                  s.min,
                  s.max,
                  s.deviation,
                  s.median,
                  s.p90,
                  s.p95,
                  s.p99,
                  s.count);
    return text;
}

}  // namespace wb::bench
