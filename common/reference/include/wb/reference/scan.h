/// CPU reference of scans: sums of all elements up to each one, in double, or in
/// integers that wrap.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace wb::reference {

/// What a scan is, and how large the terms of each sum are.
struct Scan {
    std::vector<double> sums;
    std::vector<double> magnitudes;  ///< sums of the absolute values
};

/// sums[i] = x[s] + ... + x[i], where s is the last head that is not behind i. An
/// exclusive scan leaves x[i] out. Integers are added modulo 2^32.
///
/// @param heads  of as many elements as x: not 0 where a segment begins; or empty. The
///               first element is always a head
template <class T>
Scan scan(const std::vector<T>& x,
          const std::vector<std::uint8_t>& heads,
          bool exclusive) {
    Scan result;
    double sum = 0.0;
    double magnitude = 0.0;
    std::uint32_t wrapped = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!heads.empty() && heads[i] != 0) sum = magnitude = wrapped = 0;
        const auto note = [&] {
            if constexpr (std::is_integral_v<T>)
                sum = static_cast<std::int32_t>(wrapped);
            result.sums.push_back(sum);
            result.magnitudes.push_back(magnitude);
        };
        if (exclusive) note();
        wrapped += static_cast<std::uint32_t>(x[i]);
        sum += static_cast<double>(x[i]);
        magnitude += std::abs(static_cast<double>(x[i]));
        if (!exclusive) note();
    }
    return result;
}

}  // namespace wb::reference
