/// wb/testing/random.h: inputs that are the same on every machine, with outliers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::testing {

/// Pseudo-random numbers from a printed seed (SplitMix64: Steele, Lea, Flood 2014).
/// Not std::normal_distribution, whose values differ between standard libraries.
class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// 64 uniform random bits.
    std::uint64_t bits() {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    /// Uniform in [0, 1).
    double uniform() {
        return static_cast<double>(static_cast<std::int64_t>(bits() >> 11)) * 0x1p-53;
    }

    /// Standard normal (Box-Muller).
    double normal();

    /// The next n of them at once, which takes a fraction of the time.
    void normals(float* values, std::size_t n);

    /// Uniform integer in [0, n), n > 0.
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(uniform() * static_cast<double>(n));
    }

 private:
    std::uint64_t state_;
};

/// n floats, standard normal, of which about one in 64 is 100 times larger: a kernel
/// that only works on tame data must not pass.
///
/// @param n     >= 0
/// @param seed  the same seed gives the same values
std::vector<float> random_normal(std::int64_t n, std::uint64_t seed);

}  // namespace wb::testing
