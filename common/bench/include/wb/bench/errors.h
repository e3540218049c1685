/// wb/bench/errors.h: how far a result is from the exact one, measured on inputs that
/// make rounding hard: beside our kernels and a library's, on the same numbers.
///
/// The unit is 2^-24 times the sum of the magnitudes of an element's terms: half of a
/// float's last digit, if all terms had one sign. A sum whose K additions all round the
/// same way has an error of K; one whose roundings are random, of the root of K.
#pragma once

#include <wb/bench/array.h>
#include <wb/bench/bench.h>
#include <wb/bench/random_numbers.h>
#include <wb/gemm.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace wb::bench {

/// An element of a result as it should be, computed in double.
struct Exact {
    int64_t index;
    double value;
    double magnitude;  ///< the sum of |terms|
};

/// Of many elements, in units of 2^-24 times their magnitude.
struct Errors {
    double max;
    double rms;
};

/// @param result  all elements; those at exact's indices are looked at
/// A NaN among them makes both numbers NaN. An element of magnitude 0 must be exact:
/// anything else is infinitely wrong.
inline Errors errors_of(const std::vector<Exact>& exact,
                        const std::vector<float>& result) {
    double worst = 0.0;
    double squares = 0.0;
    for (const auto& [index, value, magnitude] : exact) {
        const double off =
            std::abs(static_cast<double>(result[static_cast<size_t>(index)]) - value);
        const double error = off == 0.0 ? 0.0 : off / (magnitude * 0x1p-24);
        if (std::isnan(error) || error > worst) worst = error;  // a NaN stays
        squares += error * error;
    }
    const auto count = static_cast<double>(exact.size());
    return {worst, exact.empty() ? 0.0 : std::sqrt(squares / count)};
}

/// Standard normal numbers of T, each 997th of them a hundred times as large. (997 is a
/// prime, so that outliers are in all columns of a matrix.)
template <class T>
Array<T> numbers_with_outliers(Bench& bench, int64_t count) {
    std::vector<float> wide = bench.random_normal(count).host();
    for (size_t i = 0; i < wide.size(); i += 997)
        wide[i] *= 100.0f;
    std::vector<T> numbers(wide.size());
    for (size_t i = 0; i < wide.size(); ++i)
        numbers[i] = static_cast<T>(wide[i]);
    Array<T> result(count);
    result.upload(numbers);
    return result;
}

/// Errors of matrix products C = op(A) op(B), of factors T and a C without gaps, at
/// 4096 elements of C: the first, the last, and random ones. Where C has 16 bits, what
/// its own rounding costs is a part of the error.
template <class T, class CType = float>
class ProductErrors {
 public:
    static constexpr int kPlaces = 4096;

    ProductErrors(Bench& bench, const GemmShape& shape)
        : a_(numbers_with_outliers<T>(bench, shape.M * shape.K)),
          b_(numbers_with_outliers<T>(bench, shape.K * shape.N)),
          c_(bench.output<CType>(shape.M * shape.N)) {
        const auto a = a_.host();
        const auto b = b_.host();
        for (const int64_t i : Problem::sampled_indices(c_.size(), kPlaces))
            exact_.push_back(exact_element(shape.packed(), a, b, i));
    }

    /// Multiplies once, and notes the errors for the problem's next row.
    /// @param launch  (const T* A, const T* B, CType* C, cudaStream_t stream)
    template <class Function>
    void note(Problem& problem, Function launch) const {
        c_.poison();
        CUDA_CHECK(cudaDeviceSynchronize());
        launch(a_.data(), b_.data(), c_.data(), cudaStream_t{});
        CUDA_CHECK(cudaDeviceSynchronize());
        std::vector<float> result;
        for (const CType c : c_.host())
            result.push_back(static_cast<float>(c));
        const Errors errors = errors_of(exact_, result);
        problem.note("error_max", errors.max);
        problem.note("error_rms", errors.rms);
    }

    /// The exact element i of C.
    static Exact exact_element(const GemmShape& s,
                               const std::vector<T>& a,
                               const std::vector<T>& b,
                               int64_t i) {
        const int64_t row = i / s.N;
        const int64_t col = i % s.N;
        Exact exact{i, 0.0, 0.0};
        for (int64_t k = 0; k < s.K; ++k) {
            const int64_t of_a = s.transpose_a ? k * s.lda + row : row * s.lda + k;
            const int64_t of_b = s.transpose_b ? col * s.ldb + k : k * s.ldb + col;
            const double term = number(a[static_cast<size_t>(of_a)]) *
                                number(b[static_cast<size_t>(of_b)]);
            exact.value += term;
            exact.magnitude += std::abs(term);
        }
        return exact;
    }

 private:
    static double number(T x) { return static_cast<double>(static_cast<float>(x)); }

    Array<T> a_;
    Array<T> b_;
    Array<CType> c_;
    std::vector<Exact> exact_;
};

/// The errors of products of this size, if it is one at which they are measured: the
/// size of the ladders, and in the simulator the small ones; not with --row. Factors of
/// 8 bits have B transposed there.
template <class T, class CType = float>
std::optional<ProductErrors<T, CType>> product_errors(Bench& bench,
                                                      const GemmShape& shape) {
    if (bench.is_for_a_profiler()) return std::nullopt;
    const int64_t work = shape.M * shape.N * shape.K;
    const bool is_of_the_ladder = work == int64_t{4096} * 4096 * 4096 &&
                                  !shape.transpose_a &&
                                  shape.transpose_b == (sizeof(T) == 1);
    if (!is_of_the_ladder && work > 1'000'000) return std::nullopt;
    return ProductErrors<T, CType>(bench, shape);
}

}  // namespace wb::bench
