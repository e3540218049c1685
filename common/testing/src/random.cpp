#include <wb/testing/random.h>

#include <cmath>
#include <numbers>

namespace wb::testing {

std::uint64_t Random::bits() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double Random::uniform() {
    return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double Random::normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::int64_t Random::below(std::int64_t n) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(n));
}

std::vector<float> random_normal(std::int64_t n, std::uint64_t seed) {
    constexpr std::int64_t kOutlierEvery = 64;
    constexpr double kOutlierFactor = 100.0;
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& value : values) {
        const bool outlier = random.below(kOutlierEvery) == 0;
        const double x = random.normal() * (outlier ? kOutlierFactor : 1.0);
        value = static_cast<float>(x);
    }
    return values;
}

}  // namespace wb::testing
