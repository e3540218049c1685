// Calls every version of wgmma_tma_bf16(), _fp16() and _fp8(), and compares.
#pragma once

#include "wgmma_tma.h"

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
#include <type_traits>
#include <vector>

namespace wgmma_tma_grading {

using wb::testing::FewMultiprocessors;
using wb::testing::Grader;

/// What the tests know of a type of factors. kUnit is of the accumulator: what an
/// addition may lose of the largest number that takes part.
template <class T>
struct Format;
template <>
struct Format<__half> {
    using CType = __half;
    static constexpr const char* kFunction = "wgmma_tma_fp16";
    static constexpr double kUnit = 0x1p-23;
    static constexpr double kRoundC = 0x1p-11;
    static constexpr double kSmallestC = 0x1p-24;
};
template <>
struct Format<__nv_bfloat16> {
    using CType = __nv_bfloat16;
    static constexpr const char* kFunction = "wgmma_tma_bf16";
    static constexpr double kUnit = 0x1p-23;
    static constexpr double kRoundC = 0x1p-8;
    static constexpr double kSmallestC = 0x1p-133;
};
template <>
struct Format<__nv_fp8_e4m3> {
    using CType = __nv_bfloat16;
    static constexpr const char* kFunction = "wgmma_tma_fp8";
    static constexpr double kUnit = 0x1p-13;
    static constexpr double kRoundC = 0x1p-8;
    static constexpr double kSmallestC = 0x1p-133;
};

/// A number as a T has it.
template <class T>
float round_to(double x) {
    return static_cast<float>(static_cast<T>(static_cast<float>(x)));
}

/// One launch. Gaps and first elements are counted in units of 16 bytes.
struct Call {
    int64_t M;
    int64_t N;
    int64_t K;
    bool transpose_b = false;
    int64_t gap_a = 0;  ///< between the end of a row, rounded up, and the next
    int64_t gap_b = 0;
    int64_t gap_c = 0;
    int64_t a_from = 0;
    int64_t b_from = 0;
    int64_t c_from = 0;

    int64_t rows_of_b() const { return transpose_b ? N : K; }
    int64_t columns_of_b() const { return transpose_b ? K : N; }

    template <class T>
    wb::GemmShape shape() const {
        return {M,
                N,
                K,
                false,
                transpose_b,
                ld<T>(K, gap_a),
                ld<T>(columns_of_b(), gap_b),
                ld<typename Format<T>::CType>(N, gap_c)};
    }
    template <class T>
    static int64_t units(int64_t count) {
        return count * int64_t{16 / sizeof(T)};
    }
    std::string text() const {
        std::string text = "M = " + std::to_string(M) + ", N = " + std::to_string(N) +
                           ", K = " + std::to_string(K);
        if (transpose_b) text += ", B as [N, K]";
        const auto add = [&](const char* what, int64_t value) {
            if (value != 0) text += what + std::to_string(value) + " * 16 B";
        };
        add(", gaps in A of ", gap_a);
        add(", gaps in B of ", gap_b);
        add(", gaps in C of ", gap_c);
        add(", A from ", a_from);
        add(", B from ", b_from);
        add(", C from ", c_from);
        return text;
    }

 private:
    template <class T>
    static int64_t ld(int64_t columns, int64_t gap) {
        constexpr int64_t kUnit = 16 / sizeof(T);
        return (columns + kUnit - 1) / kUnit * kUnit + gap * kUnit;
    }
};

/// The factors without gaps, of any float: each type rounds them. And the scales, which
/// only FP8 has.
struct Factors {
    std::vector<float> a;  ///< [M, K]
    std::vector<float> b;  ///< as it is stored
    std::vector<float> scale_a;
    std::vector<float> scale_b;
};

/// Scales that are powers of two: a product with them is exact.
inline std::vector<float> powers_of_two(int64_t count, int64_t first) {
    std::vector<float> scales;
    for (int64_t i = 0; i < count; ++i)
        scales.push_back(std::ldexp(1.0f, static_cast<int>((first + 5 * i) % 7 - 3)));
    return scales;
}

inline Factors random_factors(const Call& c, uint64_t seed) {
    Factors f = {wb::testing::random_normal(c.M * c.K, 4 * seed),
                 wb::testing::random_normal(c.K * c.N, 4 * seed + 1),
                 wb::testing::random_normal(c.M, 4 * seed + 2),
                 wb::testing::random_normal(c.N, 4 * seed + 3)};
    return f;
}

/// The same, a sixteenth as large: no sum is past the largest half.
inline Factors small_factors(const Call& c, uint64_t seed) {
    Factors f = random_factors(c, seed);
    for (float& a : f.a)
        a /= 16.0f;
    for (float& b : f.b)
        b /= 16.0f;
    return f;
}

/// Whole numbers from -3 to 3. Sums of some hundred products are exact in any
/// accumulator, in any order.
inline Factors whole_numbers(const Call& c, uint64_t seed = 1) {
    wb::testing::Random random(seed);
    const auto some = [&](int64_t count) {
        std::vector<float> values;
        for (int64_t i = 0; i < count; ++i)
            values.push_back(std::floor(static_cast<float>(random.uniform() * 7.0)) -
                             3.0f);
        return values;
    };
    return {
        some(c.M * c.K), some(c.K * c.N), powers_of_two(c.M, 1), powers_of_two(c.N, 2)};
}

/// Where a matrix lies in memory: its rows are ld apart from element `from` on, and
/// `gap` is what stands in all other places.
template <class T>
std::vector<T> laid_out(const std::vector<float>& values,
                        int64_t rows,
                        int64_t columns,
                        int64_t ld,
                        int64_t from,
                        float gap) {
    if (rows == 0 || columns == 0) return {};
    const int64_t count = from + (rows - 1) * ld + columns;
    std::vector<T> memory(static_cast<size_t>(count), static_cast<T>(gap));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < columns; ++i)
            memory[static_cast<size_t>(from + r * ld + i)] =
                static_cast<T>(values[static_cast<size_t>(r * columns + i)]);
    return memory;
}

template <class T>
std::vector<float> rounded(const std::vector<float>& values) {
    std::vector<float> result;
    for (const float value : values)
        result.push_back(round_to<T>(value));
    return result;
}

/// What C must be, and how far from it a kernel may be.
struct Expected {
    std::vector<double> c;
    std::vector<double> bounds;
};

/// Products of two factors are exact. Tensor cores add a few of them at a time to a
/// sum, at one exponent, the largest, and cut off what lies behind their digits: each
/// of K + 1 terms may lose a unit of that largest one, and so may each sum when it is
/// brought to as many digits again. Two products with scales and rounding to C's type
/// come behind it.
///
/// @param is_exact  the sum is: only the rounding to C's type is left, and all have to
///                  make it in the same way
template <class T>
Expected expected_of(const Call& c, const Factors& f, bool is_exact) {
    using F = Format<T>;
    constexpr bool kScaled = sizeof(T) == 1;
    const std::vector<float> nothing(static_cast<size_t>(c.M * c.N));
    const auto exact = wb::reference::gemm(c.template shape<T>().packed(),
                                           1.0,
                                           rounded<T>(f.a),
                                           rounded<T>(f.b),
                                           0.0,
                                           nothing);
    Expected expected;
    const double relative =
        wb::testing::gamma(2.0 * static_cast<double>(c.K) + 2.0, F::kUnit);
    for (size_t i = 0; i < exact.c.size(); ++i) {
        const size_t m = i / static_cast<size_t>(c.N);
        const size_t n = i % static_cast<size_t>(c.N);
        const double scale = kScaled ? double{f.scale_a[m]} * f.scale_b[n] : 1.0;
        const double value = exact.c[i] * scale;
        if (is_exact || !std::isfinite(value)) {
            expected.c.push_back(double{round_to<typename F::CType>(value)});
            expected.bounds.push_back(0.0);
            continue;
        }
        double bound = relative * exact.magnitude[i] * std::abs(scale);
        if (kScaled) bound += wb::testing::float_bound(3.0, std::abs(value) + bound);
        bound += F::kRoundC * (std::abs(value) + bound) + F::kSmallestC;
        expected.c.push_back(value);
        expected.bounds.push_back(bound + wb::testing::kSmallestFloat);
    }
    return expected;
}

/// Factors for one type: what is in memory, and what is expected of it.
template <class T>
struct Problem {
    std::vector<T> a;
    std::vector<T> b;
    std::vector<float> scale_a;
    std::vector<float> scale_b;
    Expected expected;

    Problem(const Call& c, const Factors& f, bool is_exact)
        : scale_a(f.scale_a),
          scale_b(f.scale_b),
          expected(expected_of<T>(c, f, is_exact)) {
        // Between the rows, where nothing must be used: NaN.
        constexpr float kGap = std::numeric_limits<float>::quiet_NaN();
        const wb::GemmShape s = c.template shape<T>();
        a = laid_out<T>(f.a, c.M, c.K, s.lda, Call::units<T>(c.a_from), kGap);
        b = laid_out<T>(f.b,
                        c.rows_of_b(),
                        c.columns_of_b(),
                        s.ldb,
                        Call::units<T>(c.b_from),
                        kGap);
    }
};

/// Between the rows of C, where nothing must be changed.
inline constexpr float kUntouched = 7.0f;

/// All versions of the function for a type, as functions of the same arguments.
///
/// @param use  takes (name, launcher(shape, A, B, scale_a, scale_b, C, stream))
template <class T, class Use>
void for_each_version(Use use) {
    if constexpr (sizeof(T) == 1) {
        for (const auto& [name, idea, launcher] :
             wb::implementations(Format<T>::kFunction, wgmma_tma_fp8))
            use(name, launcher);
    } else {
        const auto with_scales = [&](auto* contract) {
            for (const auto& [name, idea, launcher] :
                 wb::implementations(Format<T>::kFunction, contract))
                use(name,
                    [launcher = launcher](const wb::GemmShape& shape,
                                          const T* A,
                                          const T* B,
                                          const float*,
                                          const float*,
                                          T* C,
                                          cudaStream_t stream) {
                        launcher(shape, A, B, C, stream);
                    });
        };
        if constexpr (std::is_same_v<T, __half>)
            with_scales(wgmma_tma_fp16);
        else
            with_scales(wgmma_tma_bf16);
    }
}

/// One launcher on these factors. Returns the memory of C.
template <class T, class Launcher>
std::vector<double> grade_one(const std::string& name,
                              Launcher launcher,
                              const Call& c,
                              const Problem<T>& p,
                              const std::string& what) {
    using CType = typename Format<T>::CType;
    Grader grade(name, c.text() + what);
    const wb::GemmShape s = c.template shape<T>();
    const T* d_a = grade.input("A", p.a) + Call::units<T>(c.a_from);
    const T* d_b = grade.input("B", p.b) + Call::units<T>(c.b_from);
    const float* d_scale_a = nullptr;
    const float* d_scale_b = nullptr;
    if (sizeof(T) == 1) {
        d_scale_a = grade.input("scale_a", p.scale_a);
        d_scale_b = grade.input("scale_b", p.scale_b);
    }
    CType* d_c = nullptr;
    const bool is_dense = c.c_from == 0 && s.ldc == c.N;
    const int64_t from = Call::units<CType>(c.c_from);
    const int64_t count = from + (c.M - 1) * s.ldc + c.N;
    if (is_dense) {
        d_c = grade.output<CType>("C", {c.M, c.N});
    } else {  // elements are NaN at first, gaps are not
        const std::vector<float> nan(static_cast<size_t>(c.M * c.N),
                                     std::numeric_limits<float>::quiet_NaN());
        d_c =
            grade.in_out(
                "C", {count}, laid_out<CType>(nan, c.M, c.N, s.ldc, from, kUntouched)) +
            from;
    }
    grade.run([&](cudaStream_t stream) {
        launcher(s, d_a, d_b, d_scale_a, d_scale_b, d_c, stream);
    });
    if (is_dense) {
        grade.expect("C", p.expected.c, [&](int64_t i) {
            return p.expected.bounds[static_cast<size_t>(i)];
        });
        return grade.read("C");
    }
    std::vector<double> all(static_cast<size_t>(count), double{kUntouched});
    std::vector<double> bounds(all.size(), 0.0);
    for (int64_t m = 0; m < c.M; ++m)
        for (int64_t n = 0; n < c.N; ++n) {
            const auto to = static_cast<size_t>(from + m * s.ldc + n);
            const auto i = static_cast<size_t>(m * c.N + n);
            all[to] = p.expected.c[i];
            bounds[to] = p.expected.bounds[i];
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
    for_each_version<T>([&](const std::string& name, auto launcher) {
        grade_one<T>(name, launcher, c, problem, what);
    });
}

/// Whole numbers, for all types.
inline void grade_whole(const Call& c) {
    const Factors f = whole_numbers(c);
    grade_type<__nv_bfloat16>(c, f, ", whole numbers", true);
    grade_type<__half>(c, f, ", whole numbers", true);
    Call k_major = c;
    k_major.transpose_b = true;
    grade_type<__nv_fp8_e4m3>(k_major, whole_numbers(k_major), ", whole numbers", true);
}

/// The contract's function for bf16 alone, on these factors. Returns the memory of C.
inline std::vector<double> grade_contract(const Call& c,
                                          const Factors& factors,
                                          const std::string& what,
                                          bool is_exact = false) {
    const Problem<__nv_bfloat16> problem(c, factors, is_exact);
    return grade_one<__nv_bfloat16>(
        "wgmma_tma_bf16",
        [](const wb::GemmShape& shape,
           const __nv_bfloat16* A,
           const __nv_bfloat16* B,
           const float*,
           const float*,
           __nv_bfloat16* C,
           cudaStream_t stream) { wgmma_tma_bf16(shape, A, B, C, stream); },
        c,
        problem,
        what);
}

/// The same for goals.
inline void grade_contract(const Call& c) {
    grade_contract(c, random_factors(c, 1), ", seed 1");
}

}  // namespace wgmma_tma_grading
