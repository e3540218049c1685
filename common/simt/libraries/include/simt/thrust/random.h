/// simt/thrust/random.h: engines and distributions.
///
/// Engines and uniform real numbers are those of thrust. Normal numbers have the right
/// distribution, but other values.
#pragma once
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

namespace thrust {
namespace random {
/// x = (a x + c) mod m, with m < 2^32
template <class UInt, UInt a, UInt c, UInt m>
class linear_congruential_engine {
 public:
    using result_type = UInt;
    static constexpr UInt default_seed = 1;

    explicit linear_congruential_engine(UInt start = default_seed) { seed(start); }
    void seed(UInt start = default_seed) {
        state_ = c % m == 0 && start % m == 0 ? 1 : start % m;
    }
    UInt operator()() { return state_ = step(a, state_, c); }
    /// Skips n numbers, in time log n: composes x -> a x + c with itself.
    void discard(unsigned long long n) {
        UInt factor = a, increment = c;
        for (; n != 0; n /= 2) {
            if (n % 2 != 0) state_ = step(factor, state_, increment);
            increment = step(factor, increment, increment);
            factor = step(factor, factor, 0);
        }
    }
    static constexpr UInt min() { return c == 0 ? 1 : 0; }
    static constexpr UInt max() { return m - 1; }
    friend bool operator==(const linear_congruential_engine&,
                           const linear_congruential_engine&) = default;

 private:
    static UInt step(UInt factor, UInt x, UInt increment) {
        return static_cast<UInt>((std::uint64_t(factor) * x + increment) % m);
    }
    UInt state_;
};
using minstd_rand0 = linear_congruential_engine<std::uint32_t, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<std::uint32_t, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;
using std::ranlux24;
using std::ranlux48;

/// Uniform in [a, b).
template <class T = double>
class uniform_real_distribution {
 public:
    using result_type = T;
    explicit uniform_real_distribution(T a = 0, T b = 1) : a_(a), b_(b) {}
    template <class Engine>
    T operator()(Engine& engine) const {
        T x = static_cast<T>(engine() - Engine::min());
        x /= T(1) + static_cast<T>(Engine::max() - Engine::min());
        return x * (b_ - a_) + a_;
    }
    T a() const { return a_; }
    T b() const { return b_; }
    void reset() {}

 private:
    T a_, b_;
};
/// Uniform in [a, b], both included.
template <class T = int>
class uniform_int_distribution {
 public:
    using result_type = T;
    explicit uniform_int_distribution(T a = 0, T b = std::numeric_limits<T>::max())
        : a_(a), b_(b) {}
    template <class Engine>
    T operator()(Engine& engine) const {
        const uniform_real_distribution<double> real(static_cast<double>(a_),
                                                     static_cast<double>(b_) + 1.0);
        return static_cast<T>(real(engine));
    }
    T a() const { return a_; }
    T b() const { return b_; }
    void reset() {}

 private:
    T a_, b_;
};
using std::normal_distribution;
}  // namespace random
using random::default_random_engine;
using random::linear_congruential_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::ranlux24;
using random::ranlux48;
using random::uniform_int_distribution;
using random::uniform_real_distribution;
}  // namespace thrust
