#include <wb/testing/compare.h>

#include <cmath>
#include <limits>

namespace wb::testing {

std::int64_t elements(const Shape& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t index) {
    std::vector<std::int64_t> result(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        const std::int64_t extent = shape[d] > 0 ? shape[d] : 1;
        result[d] = index % extent;
        index /= extent;
    }
    return result;
}

Comparison compare(const Observed& got,
                   const std::vector<double>& expected,
                   const Bound& bound) {
    Comparison result;
    for (const std::int64_t extent : got.shape)
        result.wrong_at.emplace_back(static_cast<std::size_t>(extent), false);
    double worst_ratio = -1.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        const bool infinite = std::isinf(expected[i]);
        // A share of an infinity is a bound that any number is within.
        const double allowed = infinite ? 0.0 : bound(index);
        const bool same_infinity = infinite && got.values[i] == expected[i];
        // Wanted to the bit: a reference that went wrong has other bounds. What nobody
        // wrote is a NaN, too.
        const bool both_nan = allowed == 0.0 && std::isnan(expected[i]) &&
                              std::isnan(got.values[i]) && !got.untouched[i];
        const double error =
            same_infinity || both_nan ? 0.0 : std::abs(got.values[i] - expected[i]);
        // Written so that a NaN error, or a NaN bound, takes the failing branch.
        if (!both_nan && !(error <= allowed)) {
            if (result.wrong++ == 0) result.first_wrong = index;
            const std::vector<std::int64_t> at = coordinates(got.shape, index);
            for (std::size_t d = 0; d < at.size(); ++d)
                result.wrong_at[d][static_cast<std::size_t>(at[d])] = true;
        }
        const double ratio = std::isnan(error) ? std::numeric_limits<double>::infinity()
                             : allowed > 0.0   ? error / allowed
                             : error > 0.0     ? std::numeric_limits<double>::infinity()
                                               : 0.0;
        if (ratio > worst_ratio) {
            worst_ratio = ratio;
            result.worst = index;
            result.worst_error = error;
            result.worst_bound = allowed;
        }
    }
    return result;
}

}  // namespace wb::testing
