// Grades day04-gemm/01-sgemm: calls in the arrays of an earlier one, from which they
// differ in one thing; factors of any kind; long sides for kernels that take vectors.
#include "sgemm_cases.h"

#include <algorithm>

namespace {

std::vector<float> floats(const std::vector<double>& values) {
    return std::vector<float>(values.begin(), values.end());
}

/// A call, and one after it in the same arrays that is another one.
void grade_after(const Call& before, const Call& now, const std::string& what) {
    constexpr int64_t kElements = 40 * 48;  // of all shapes, gaps between rows included
    const auto a = wb::testing::random_normal(kElements, 1);
    const auto b = wb::testing::random_normal(kElements, 2);
    const auto c = wb::testing::random_normal(kElements, 3);
    const auto multiply = [&](const Call& call, const std::vector<float>& to) {
        return wb::reference::gemm(call.shape, call.alpha, a, b, call.beta, to);
    };
    const auto first = multiply(before, c);
    const auto second = multiply(now, floats(first.c));
    // The last two versions, or the learner's.
    const auto versions = wb::implementations("sgemm", sgemm);
    for (size_t v = versions.size() - std::min<size_t>(versions.size(), 2);
         v < versions.size();
         ++v) {
        const auto& [name, idea, launcher] = versions[v];
        Grader grade(name, now.text() + ", as before but for " + what);
        const float* const d_a = grade.input("A", a);
        const float* const d_b = grade.input("B", b);
        float* const d_c = grade.in_out("C", {kElements}, c);
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            for (const Call& call : {before, now})
                launcher(call.shape, call.alpha, d_a, d_b, call.beta, d_c, stream);
        });
        // What the second call adds to may be off already.
        grade.expect("C", second.c, [&](int64_t i) {
            const auto at = static_cast<size_t>(i);
            const auto roundings = static_cast<double>(before.shape.K + 3);
            const double size = first.magnitude[at] + second.magnitude[at];
            return size == 0.0 ? 0.0 : wb::testing::float_bound(roundings, size);
        });
    }
}

}  // namespace

TEST_CASE("once more in the same arrays, but for one thing") {
    const GemmShape shape{20, 36, 24, false, false, 40, 40, 40};
    const Call before{shape, 1.5f, 1.0f};
    const auto but_for = [&](const char* what, auto change) {
        Call now = before;
        change(now);
        grade_after(before, now, what);
    };
    but_for("lda", [](Call& now) { now.shape.lda = 44; });
    but_for("ldb", [](Call& now) { now.shape.ldb = 44; });
    but_for("ldc", [](Call& now) { now.shape.ldc = 44; });
    but_for("M", [](Call& now) { now.shape.M = 17; });
    but_for("N", [](Call& now) { now.shape.N = 32; });
    but_for("K", [](Call& now) { now.shape.K = 20; });
    but_for("A's layout", [](Call& now) { now.shape.transpose_a = true; });
    but_for("B's layout", [](Call& now) { now.shape.transpose_b = true; });
    but_for("alpha", [](Call& now) { now.alpha = -2.0f; });
    but_for("beta", [](Call& now) { now.beta = -0.5f; });
    but_for("beta of 0", [](Call& now) { now.beta = 0.0f; });
}

TEST_CASE("alpha and beta may be any number") {
    // Of 24 digits, tiny, NaN and infinite: only 0 means that nothing is read.
    const auto [alpha, beta] =
        GENERATE(table<float, float>({{1.0f + 0x1p-20f, 1.0f - 0x1p-20f},
                                      {0x1p-100f, 0x1p-110f},
                                      {kNan, 1.0f},
                                      {1.0f, kNan},
                                      {kInfinity, 0.0f},
                                      {0.0f, -kInfinity}}));
    const int64_t K = std::isfinite(alpha) && std::isfinite(beta) ? 70 : 9;
    const Call call{GemmShape{35, 40, K}.packed(), alpha, beta};
    auto numbers = random_numbers(call);
    if (alpha == 0x1p-100f)
        for (auto* matrix : {&numbers.a, &numbers.c})
            for (float& value : *matrix)
                value *= matrix == &numbers.c ? 0x1p100f : 0x1p90f;
    grade_numbers(call, numbers, ", seed 1");
}

TEST_CASE("C may hold NaN and infinities where it is added to") {
    Call call{GemmShape{35, 40, 9}.packed(), 1.0f, -0.5f};
    auto numbers = random_numbers(call);
    numbers.c[3] = kNan;
    numbers.c[50] = kInfinity;
    numbers.c.back() = -kInfinity;
    grade_numbers(call, numbers, ", NaN and infinities in C");
}

TEST_CASE("each side past 4096 where all begins at multiples of 16 bytes", "[long]") {
    const auto [M, N, K] = GENERATE(
        table<int64_t, int64_t, int64_t>({{4132, 4, 4}, {4, 4132, 4}, {4, 8, 4132}}));
    const Call call{GemmShape{M, N, K}.packed()};
    grade_one("sgemm", sgemm, call, random_numbers(call), ", the contract alone");
}

TEST_CASE("more rows, or columns, than 16 bits count", "[long]") {
    const bool is_tall = GENERATE(false, true);
    constexpr int64_t kMany = 65'600;
    const Call call{GemmShape{is_tall ? kMany : 1, is_tall ? 1 : kMany, 1}.packed()};
    grade_one("sgemm", sgemm, call, random_numbers(call), ", the contract alone");
}
