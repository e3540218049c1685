// What the benchmark of a layer computes with: sizes, numbers, and the right results.
#pragma once

#include "fused_epilogue.h"

#include <wb/bench/bench.h>
#include <wb/bench/errors.h>
#include <wb/bench/random_numbers.h>
#include <wb/reference/activations.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fused_epilogue_bench {

using namespace wb::bench;
using Bf16 = __nv_bfloat16;

inline const char* name_of(Activation activation) {
    return activation == Activation::silu ? "silu" : "gelu";
}

inline double act(Activation activation, double z) {
    return activation == Activation::silu ? wb::reference::silu(z)
                                          : wb::reference::gelu_tanh(z);
}

inline double slope(Activation activation, double z) {
    return activation == Activation::silu ? wb::reference::silu_slope(z)
                                          : wb::reference::gelu_tanh_slope(z);
}

struct Size {
    int64_t M;
    int64_t N;
    int64_t K;
    Activation activation;
    bool residual = false;

    std::string text() const {
        return std::to_string(M) + " x " + std::to_string(N) + " x " +
               std::to_string(K) + ", " + name_of(activation) +
               (residual ? ", residual" : "");
    }
    LinearShape shape() const { return {M, N, K, K, K, N}; }
    double flop() const {
        return 2.0 * static_cast<double>(M) * static_cast<double>(N) *
               static_cast<double>(K);
    }
    double bytes() const {
        return 2.0 * static_cast<double>(M * K + K * N + 3 * M * N);
    }
};

inline std::vector<Size> sizes(const Bench& bench) {
    return bench.sizes<Size>({{96, 80, 64, Activation::silu}},
                             {{1024, 1024, 1024, Activation::silu}},
                             {{4096, 4096, 4096, Activation::silu},
                              {8192, 8192, 8192, Activation::silu},
                              {4096, 4096, 4096, Activation::gelu},
                              {4096, 4096, 4096, Activation::silu, true},
                              {8192, 8192, 1024, Activation::silu}},
                             {{128, 256, 128, Activation::silu}});
}

/// Numbers of a standard deviation of `scale`.
inline Array<Bf16> numbers(Bench& bench, int64_t count, double scale) {
    auto array = random_numbers<Bf16>(bench, count);
    auto host = array.host();
    for (Bf16& value : host)
        value =
            static_cast<Bf16>(static_cast<float>(value) * static_cast<float>(scale));
    array.upload(host);
    return array;
}

/// A sum of products, and the sum of their magnitudes.
struct Sum {
    double value = 0.0;
    double magnitude = 0.0;

    void add(Bf16 a, Bf16 b) {
        const double term = static_cast<double>(a) * static_cast<double>(b);
        value += term;
        magnitude += std::abs(term);
    }
    /// What may be lost; a bf16 has lost more.
    double off(int64_t terms) const {
        return 0x1p-23 * (2.0 * static_cast<double>(terms) + 4.0) * magnitude;
    }
};

/// What a bf16 of this value may be off by; peers round twice.
inline Expected rounded(double value, double off) {
    return {value, 2.0 * off + 0x1p-7 * std::abs(value) + 0x1p-8};
}

/// Buffers of a layer.
struct Layer {
    Array<Bf16> x, w, bias, residual, y;
    /// @param outliers  each 997th number of x is a hundred times as large
    Layer(Bench& bench, const Size& s, bool outliers = false)
        : x(outliers ? numbers_with_outliers<Bf16>(bench, s.M * s.K)
                     : numbers(bench, s.M * s.K, 1.0)),
          w(numbers(bench, s.N * s.K, 1.0 / std::sqrt(static_cast<double>(s.K)))),
          bias(numbers(bench, s.N, 1.0)),
          residual(numbers(bench, s.residual ? s.M * s.N : 0, 1.0)),
          y(bench.output<Bf16>(s.M * s.N)) {}

    LinearInput in(const Size& s) const {
        return {s.shape(),
                s.activation,
                x.data(),
                w.data(),
                bias.data(),
                s.residual ? residual.data() : nullptr};
    }
    Sum sum(const Size& s, int64_t i) const {
        const auto row = x.host(i / s.N * s.K, s.K);
        const auto column = w.host(i % s.N * s.K, s.K);
        Sum result;
        for (size_t k = 0; k < row.size(); ++k)
            result.add(row[k], column[k]);
        return result;
    }
    Expected product(const Size& s, int64_t i) const {
        const Sum exact = sum(s, i);
        return rounded(exact.value, exact.off(s.K));
    }
    Expected element(const Size& s, int64_t i) const {
        const Sum exact = sum(s, i);
        const double z = exact.value + static_cast<double>(bias.at(i % s.N));
        double v = act(s.activation, z);
        if (s.residual) v += static_cast<double>(residual.at(i));
        return rounded(v, exact.off(s.K));
    }
};

/// Errors of a layer's y, on numbers with outliers, at 4096 elements, as errors.h
/// counts them: in units of 2^-24 times the sum of the magnitudes of z's terms.
class LayerErrors {
 public:
    static constexpr int kPlaces = 4096;

    LayerErrors(Bench& bench, const Size& s)
        : layer_(bench, s, true), in_(layer_.in(s)) {
        for (const int64_t i : Problem::sampled_indices(s.M * s.N, kPlaces)) {
            const Sum sum = layer_.sum(s, i);
            const double bias = static_cast<double>(layer_.bias.at(i % s.N));
            exact_.push_back({i,
                              act(s.activation, sum.value + bias),
                              sum.magnitude + std::abs(bias)});
        }
    }

    /// Runs once, and notes the errors for the problem's next row.
    /// @param launch  (const Layer&, const LinearInput&, Bf16* y)
    template <class Function>
    void note(Problem& problem, Function launch) const {
        layer_.y.poison();
        CUDA_CHECK(cudaDeviceSynchronize());
        launch(layer_, in_, layer_.y.data());
        CUDA_CHECK(cudaDeviceSynchronize());
        std::vector<float> result;
        for (const Bf16 y : layer_.y.host())
            result.push_back(static_cast<float>(y));
        const Errors errors = errors_of(exact_, result);
        problem.note("error_max", errors.max);
        problem.note("error_rms", errors.rms);
    }

 private:
    Layer layer_;
    LinearInput in_;
    std::vector<Exact> exact_;
};

/// The errors of a layer of this size, if it is one at which they are measured.
inline std::optional<LayerErrors> layer_errors(Bench& bench, const Size& s) {
    if (bench.is_for_a_profiler()) return std::nullopt;
    const int64_t work = s.M * s.N * s.K;
    const bool is_of_the_ladder = work == int64_t{4096} * 4096 * 4096 && s.M == s.N &&
                                  s.activation == Activation::silu;
    if (s.residual || (!is_of_the_ladder && work > 1'000'000)) return std::nullopt;
    return LayerErrors(bench, s);
}

}  // namespace fused_epilogue_bench
