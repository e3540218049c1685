// Calls every version of wgmma_tma_bf16(), _fp16() and _fp8(), and compares.
#pragma once

#include "wgmma_tma.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "factors.h"

namespace wgmma_tma_grading {

using wb::testing::FewMultiprocessors;
using wb::testing::Grader;

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
        // Where the contract lets them begin, and at no rounder address.
        d_scale_a = grade.input("scale_a", p.scale_a, wb::testing::Begin::anywhere);
        d_scale_b = grade.input("scale_b", p.scale_b, wb::testing::Begin::pairs);
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
