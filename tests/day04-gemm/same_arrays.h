// Products in the arrays of an earlier one, from which they differ in one thing. What
// was prepared for that one, and is found again by addresses and sizes, is wrong.
#pragma once

#include <wb/gemm.h>
#include <wb/implementations.h>
#include <wb/reference/gemm.h>
#include <wb/testing/grader.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gemm_grading {

/// Grades launch(shape, A, B, C, stream) with whole numbers, whose sums are exact.
///
/// @param shape  the first product; the others are made of it
template <class T, class CType, class Launch>
void grade_in_same_arrays(const std::string& name,
                          const wb::GemmShape& shape,
                          Launch launch) {
    constexpr int64_t kElements = 48 * 64;  // of each shape, gaps between rows included
    std::vector<float> a, b;
    for (int64_t i = 0; i < kElements; ++i) {
        a.push_back(static_cast<float>(i * 5 % 7 - 3));
        b.push_back(static_cast<float>(i * 3 % 5 - 2));
    }
    const std::vector<float> c(kElements, 7.0f);
    const auto but_for = [&](const std::string& what, int64_t wb::GemmShape::*member) {
        // Less of M, N and K; rows further apart.
        wb::GemmShape now = shape;
        now.*member += what.starts_with("ld") ? 16 : -8;
        const auto first = wb::reference::gemm(shape, 1.0, a, b, 0.0, c);
        const std::vector<float> between(first.c.begin(), first.c.end());
        const auto second = wb::reference::gemm(now, 1.0, a, b, 0.0, between);
        wb::testing::Grader grade(name,
                                  "the same arrays as before, another " + what + ": " +
                                      std::to_string(now.*member));
        const T* const d_a = grade.input("A", std::vector<T>(a.begin(), a.end()));
        const T* const d_b = grade.input("B", std::vector<T>(b.begin(), b.end()));
        const std::vector<CType> before(c.begin(), c.end());
        CType* const d_c = grade.in_out("C", {kElements}, before);
        grade.run([&](cudaStream_t stream) {
            launch(shape, d_a, d_b, d_c, stream);
            launch(now, d_a, d_b, d_c, stream);
        });
        grade.expect("C", second.c, [](int64_t) { return 0.0; });
    };
    but_for("M", &wb::GemmShape::M);
    but_for("N", &wb::GemmShape::N);
    but_for("K", &wb::GemmShape::K);
    but_for("lda", &wb::GemmShape::lda);
    but_for("ldb", &wb::GemmShape::ldb);
    but_for("ldc", &wb::GemmShape::ldc);
}

/// The same of every version of a chapter's function for T, or the learner's.
///
/// @tparam Format  of that chapter: says which function
template <template <class> class Format, class T>
void grade_all_in_same_arrays() {
    const wb::GemmShape shape{16, 40, 24, false, false, 48, 48, 48};
    for (const auto& [name, idea, launch] :
         wb::implementations(Format<T>::kFunction, Format<T>::kContract))
        grade_in_same_arrays<T, float>(name, shape, launch);
}

}  // namespace gemm_grading
