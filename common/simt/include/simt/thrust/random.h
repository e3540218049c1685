/// simt/thrust/random.h: thrust's random engines and distributions.
#pragma once
#include <cmath>
#include <random>

namespace thrust {

using std::minstd_rand;
using std::minstd_rand0;
using default_random_engine = std::minstd_rand;

/// Uniform in [a, b).
template <class Real = double>
class uniform_real_distribution {
 public:
    using result_type = Real;
    explicit uniform_real_distribution(Real a = 0, Real b = 1) : a_(a), b_(b) {}
    template <class Engine>
    Real operator()(Engine& engine) const {
        const Real range = Real(Engine::max() - Engine::min()) + Real(1);
        return Real(engine() - Engine::min()) / range * (b_ - a_) + a_;
    }

 private:
    Real a_, b_;
};
/// Uniform in {a, ..., b}.
template <class Integer = int>
class uniform_int_distribution {
 public:
    using result_type = Integer;
    explicit uniform_int_distribution(Integer a = 0, Integer b = 0x7fffffff)
        : a_(a), b_(b) {}
    template <class Engine>
    Integer operator()(Engine& engine) const {
        uniform_real_distribution<double> real(a_, double(b_) + 1);
        return static_cast<Integer>(std::floor(real(engine)));
    }

 private:
    Integer a_, b_;
};
template <class Real = double>
using normal_distribution = std::normal_distribution<Real>;

namespace random {
using thrust::default_random_engine;
using thrust::minstd_rand;
using thrust::normal_distribution;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
}  // namespace random

}  // namespace thrust
