/// CPU reference of the histogram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// How many of the values are b, for each b in [0, bins). Others are counted nowhere.
template <class T>
std::vector<double> histogram(const std::vector<T>& values, std::int64_t bins) {
    std::vector<double> counts(static_cast<std::size_t>(bins), 0.0);
    for (const T value : values) {
        const auto bin = static_cast<std::int64_t>(value);
        if (bin >= 0 && bin < bins) counts[static_cast<std::size_t>(bin)] += 1.0;
    }
    return counts;
}

}  // namespace wb::reference
