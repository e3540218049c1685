#include <wb/bench/statistics.h>

#include <algorithm>
#include <cmath>
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
    return {static_cast<int>(samples.size()),
            samples.front(),
            quantile(samples, 0.1),
            quantile(samples, 0.5),
            quantile(samples, 0.9),
            samples.back()};
}

}  // namespace wb::bench
