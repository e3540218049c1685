// Calls every version of mma_sync_fp16() and mma_sync_bf16(), and compares.
#pragma once

#include "mma_sync.h"

#include <wb/implementations.h>
#include <wb/reference/gemm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../laid_out.h"

namespace mma_sync_grading {

using gemm_grading::laid_out;
using gemm_grading::rounded_by;

using wb::testing::FewMultiprocessors;
using wb::testing::Grader;

template <class T>
using Function = void(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream);

/// What the tests know of a type of factors.
template <class T>
struct Format;
template <>
struct Format<__half> {
    static constexpr const char* kFunction = "mma_sync_fp16";
    static constexpr Function<__half>* kContract = mma_sync_fp16;
    static constexpr int kBits = 11;  ///< of a factor, the first one included
    static float round(float x) { return static_cast<float>(static_cast<__half>(x)); }
};
template <>
struct Format<__nv_bfloat16> {
    static constexpr const char* kFunction = "mma_sync_bf16";
    static constexpr Function<__nv_bfloat16>* kContract = mma_sync_bf16;
    static constexpr int kBits = 8;
    static float round(float x) {
        return static_cast<float>(static_cast<__nv_bfloat16>(x));
    }
};

/// One launch. The arrays may begin at any element of their memory, and rows may be
/// further apart than they are long.
struct Call {
    int64_t M;
    int64_t N;
    int64_t K;
    int64_t gap_a = 0;  ///< lda - K
    int64_t gap_b = 0;
    int64_t gap_c = 0;
    int64_t a_from = 0;
    int64_t b_from = 0;
    int64_t c_from = 0;

    wb::GemmShape shape() const {
        return {M, N, K, false, false, K + gap_a, N + gap_b, N + gap_c};
    }
    int64_t lda() const { return K + gap_a; }
    int64_t ldb() const { return N + gap_b; }
    int64_t ldc() const { return N + gap_c; }
    /// From the first byte of C's memory to C's last element.
    int64_t c_elements() const { return c_from + (M - 1) * ldc() + N; }
    std::string text() const {
        std::string text = "M = " + std::to_string(M) + ", N = " + std::to_string(N) +
                           ", K = " + std::to_string(K);
        const auto add = [&](const char* what, int64_t value) {
            if (value != 0) text += std::string(", ") + what + std::to_string(value);
        };
        add("lda = K + ", gap_a);
        add("ldb = N + ", gap_b);
        add("ldc = N + ", gap_c);
        add("A from element ", a_from);
        add("B from element ", b_from);
        add("C from element ", c_from);
        return text;
    }
};

/// Both factors, without gaps, of any float: each type rounds them.
struct Factors {
    std::vector<float> a;  ///< [M, K]
    std::vector<float> b;  ///< [K, N]
};

inline Factors random_factors(const Call& c, uint64_t seed) {
    return {wb::testing::random_normal(c.M * c.K, 2 * seed),
            wb::testing::random_normal(c.K * c.N, 2 * seed + 1)};
}

/// What C must be, and how far from it a kernel may be.
struct Expected {
    std::vector<double> c;
    std::vector<double> bounds;
};

/// Products of two factors are exact. Tensor cores add a few of them at a time to a
/// sum, at one exponent, the largest, and cut off what lies below 24 bits: each of K +
/// 1 terms may lose a unit of 2^-23 of that largest one, and so may each sum when it is
/// brought to 24 bits again. Rounding to float, in any order, is less.
///
/// @param f  rounded
inline Expected expected_of(const Call& c, const Factors& f, bool is_exact) {
    const std::vector<float> nothing(static_cast<size_t>(c.M * c.N));
    const auto exact =
        wb::reference::gemm(c.shape().packed(), 1.0, f.a, f.b, 0.0, nothing);
    Expected expected{exact.c, {}};
    const double relative =
        wb::testing::gamma(2.0 * static_cast<double>(c.K) + 2.0, 0x1p-23);
    for (size_t i = 0; i < exact.c.size(); ++i) {
        const bool is_bit_by_bit = is_exact || !std::isfinite(exact.c[i]);
        expected.bounds.push_back(is_bit_by_bit ? 0.0
                                                : relative * exact.magnitude[i] +
                                                      wb::testing::kSmallestFloat);
    }
    return expected;
}

/// Factors for one type: what is in memory, and what is expected of it.
template <class T>
struct Problem {
    std::vector<T> a;
    std::vector<T> b;
    Expected expected;

    Problem(const Call& c, const Factors& factors, bool is_exact)
        : a(laid_out<T>(factors.a, c.M, c.K, c.lda(), c.a_from, kGap)),
          b(laid_out<T>(factors.b, c.K, c.N, c.ldb(), c.b_from, kGap)),
          expected(expected_of(c,
                               {rounded_by(Format<T>::round, factors.a),
                                rounded_by(Format<T>::round, factors.b)},
                               is_exact)) {}

    /// Between the rows, where nothing must be used: NaN.
    static constexpr float kGap = std::numeric_limits<float>::quiet_NaN();
};

/// Between the rows of C, where nothing must be changed.
inline constexpr float kUntouched = 7.0f;

/// One launcher on these factors. Returns the memory of C.
template <class T>
std::vector<double> grade_one(const std::string& name,
                              Function<T>* launcher,
                              const Call& c,
                              const Problem<T>& p,
                              const std::string& what) {
    Grader grade(name, c.text() + what);
    const T* d_a = grade.input("A", p.a) + c.a_from;
    const T* d_b = grade.input("B", p.b) + c.b_from;
    float* d_c = nullptr;
    const bool is_dense = c.c_from == 0 && c.gap_c == 0;
    if (is_dense) {
        d_c = grade.output<float>("C", {c.M, c.N});
    } else {  // elements are NaN at first, gaps are not
        const std::vector<float> nan(static_cast<size_t>(c.M * c.N),
                                     std::numeric_limits<float>::quiet_NaN());
        const auto memory =
            laid_out<float>(nan, c.M, c.N, c.ldc(), c.c_from, kUntouched);
        d_c = grade.in_out("C", {c.c_elements()}, memory) + c.c_from;
    }
    grade.run([&](cudaStream_t stream) { launcher(c.shape(), d_a, d_b, d_c, stream); });
    if (is_dense) {
        grade.expect("C", p.expected.c, [&](int64_t i) {
            return p.expected.bounds[static_cast<size_t>(i)];
        });
        return grade.read("C");
    }
    std::vector<double> all(static_cast<size_t>(c.c_elements()), double{kUntouched});
    std::vector<double> bounds(all.size(), 0.0);
    for (int64_t m = 0; m < c.M; ++m)
        for (int64_t n = 0; n < c.N; ++n) {
            const auto to = static_cast<size_t>(c.c_from + m * c.ldc() + n);
            const auto from = static_cast<size_t>(m * c.N + n);
            all[to] = p.expected.c[from];
            bounds[to] = p.expected.bounds[from];
        }
    grade.expect("C", all, [&](int64_t i) { return bounds[static_cast<size_t>(i)]; });
    return grade.read("C");
}

/// All versions for one type.
template <class T>
void grade_type(const Call& c,
                const Factors& factors,
                const std::string& what,
                bool is_exact = false) {
    const Problem<T> problem(c, factors, is_exact);
    for (const auto& [name, idea, launcher] :
         wb::implementations(Format<T>::kFunction, Format<T>::kContract))
        grade_one<T>(name, launcher, c, problem, what);
}

/// All versions for all types.
inline void grade(const Call& c,
                  const Factors& factors,
                  const std::string& what,
                  bool is_exact = false) {
    grade_type<__half>(c, factors, what, is_exact);
    grade_type<__nv_bfloat16>(c, factors, what, is_exact);
}

inline void grade_random(const Call& c, uint64_t seed = 1) {
    grade(c, random_factors(c, seed), ", seed " + std::to_string(seed));
}

/// The contract's function for bf16 alone, for goals.
inline void grade_contract(const Call& c) {
    const Problem<__nv_bfloat16> problem(c, random_factors(c, 1), false);
    grade_one<__nv_bfloat16>("mma_sync_bf16", mma_sync_bf16, c, problem, ", seed 1");
}

}  // namespace mma_sync_grading
