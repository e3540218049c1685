/// CPU references of copies that change the order of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// y[i] = x[i * stride] for i in [0, n), as double.
/// @param x  [(n - 1) * stride + 1] or more
template <class T>
std::vector<double> copy_strided(const std::vector<T>& x,
                                 std::int64_t n,
                                 std::int64_t stride) {
    std::vector<double> y;
    for (std::int64_t i = 0; i < n; ++i)
        y.push_back(static_cast<double>(x[static_cast<std::size_t>(i * stride)]));
    return y;
}

/// soa[f, i] = aos[i, f], as double: field after field.
/// @param aos  [n, num_fields] row-major
template <class T>
std::vector<double> aos_to_soa(const std::vector<T>& aos, std::int64_t num_fields) {
    const auto n = static_cast<std::int64_t>(aos.size()) / num_fields;
    std::vector<double> soa;
    for (std::int64_t f = 0; f < num_fields; ++f)
        for (std::int64_t i = 0; i < n; ++i)
            soa.push_back(
                static_cast<double>(aos[static_cast<std::size_t>(i * num_fields + f)]));
    return soa;
}

}  // namespace wb::reference
