// Grades day04-gemm/01-sgemm: what is not read, NaN, arguments, costs.
#include "sgemm_cases.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <algorithm>

TEST_CASE("beta = 0: C is not read, whatever it holds") {
    // Gaps between rows, so that C holds NaN beforehand and not only the poison.
    const bool has_gaps = GENERATE(false, true);
    Call call{GemmShape{34, 40, 9}.packed(), -2.0f, 0.0f};
    if (has_gaps) call.shape.ldc += 4;
    auto numbers = random_numbers(call);
    for (size_t i = 0; i < numbers.c.size(); i += 2)
        numbers.c[i] = kInfinity;
    grade_numbers(call, numbers, ", C NaN and infinite");
    call.beta = -0.0f;
    grade_numbers(call, numbers, ", C NaN and infinite");
}

TEST_CASE("alpha = 0, or K = 0: A and B are not read, C is scaled") {
    const int64_t K = GENERATE(as<int64_t>(), 0, 1, 40);
    const float beta = GENERATE(0.0f, 1.0f, -3.0f);
    const FewMultiprocessors few(GENERATE(1, 132));
    Call call{GemmShape{33, 68, K}.packed(), K == 0 ? 2.0f : 0.0f, beta};
    Call gaps = call;
    gaps.shape.ldc += GENERATE(0, 4, 5);
    auto numbers = random_numbers(gaps);
    numbers.a.assign(numbers.a.size(), kNan);
    numbers.b.assign(numbers.b.size(), kInfinity);
    grade_numbers(gaps, numbers, ", A NaN, B infinite");
    for (const auto& [name, idea, launcher] : wb::implementations("sgemm", sgemm)) {
        Grader grade(name, call.text() + ", A and B null pointers");
        float* const d_c = grade.in_out("C", {33, 68}, std::vector<float>(33 * 68, 2));
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(call.shape, call.alpha, nullptr, nullptr, beta, d_c, stream);
        });
        grade.expect(
            "C", std::vector<double>(33 * 68, 2.0 * beta), [](int64_t) { return 0.0; });
    }
}

TEST_CASE("NaN and infinities reach their row and their column, and no other") {
    const bool ta = GENERATE(false, true);
    const bool tb = GENERATE(false, true);
    const int64_t K = GENERATE(as<int64_t>(), 19, 32);
    const Call call{GemmShape{36, 40, K, ta, tb}.packed(), 1.0f, 0.0f};
    const GemmShape& s = call.shape;
    auto numbers = random_numbers(call);
    const auto set = [&](auto& matrix,
                         bool transposed,
                         int64_t ld,
                         int64_t row,
                         int64_t col,
                         float value) {
        matrix[static_cast<size_t>(transposed ? col * ld + row : row * ld + col)] =
            value;
    };
    set(numbers.a, ta, s.lda, 3, 0, kNan);
    set(numbers.a, ta, s.lda, 35, K - 1, kInfinity);
    set(numbers.b, tb, s.ldb, K - 1, 39, -kInfinity);
    set(numbers.b, tb, s.ldb, 1, 2, kNan);
    set(numbers.a, ta, s.lda, 5, K - 1, 0.0f);  // times an infinity: NaN
    grade_numbers(call, numbers, ", with NaN and infinities");
}

TEST_CASE("small whole numbers: every sum is exact") {
    const Call call{GemmShape{65, 67, 70}.packed(), 2.0f, -1.0f};
    auto numbers = random_numbers(call);
    for (auto* matrix : {&numbers.a, &numbers.b, &numbers.c})
        for (size_t i = 0; i < matrix->size(); ++i)
            (*matrix)[i] = static_cast<float>(i * 7 % 13) - 6.0f;
    grade_numbers(call, numbers, ", whole numbers");
}

TEST_CASE("A and B may be the same array") {
    const bool tb = GENERATE(false, true);
    const GemmShape s = GemmShape{34, 34, 34, false, tb}.packed();
    const auto a = wb::testing::random_normal(34 * 34, 1);
    const auto exact =
        wb::reference::gemm(s, 1.0, a, a, 0.0, std::vector<float>(34 * 34));
    for (const auto& [name, idea, launcher] : wb::implementations("sgemm", sgemm)) {
        Grader grade(name, tb ? "A times A transposed" : "A times A");
        const float* const d_a = grade.input("A", a);
        float* const d_c = grade.output<float>("C", {34, 34});
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(s, 1.0f, d_a, d_a, 0.0f, d_c, stream);
        });
        grade.expect("C", exact.c, [&](int64_t i) {
            const double magnitude = exact.magnitude[static_cast<size_t>(i)];
            return wb::testing::float_bound(34 + 3, magnitude);
        });
    }
}

TEST_CASE("no rows or no columns: nothing is launched") {
    const auto [M, N, K] = GENERATE(
        table<int64_t, int64_t, int64_t>({{0, 0, 0}, {0, 5, 3}, {5, 0, 3}, {0, 5, 0}}));
    Grader("sgemm", "M * N = 0").expect_no_work([&, M = M, N = N, K = K](auto stream) {
        sgemm(
            GemmShape{M, N, K}.packed(), 1.0f, nullptr, nullptr, 1.0f, nullptr, stream);
    });
    grade_random({GemmShape{3, 5, 2}.packed()});  // and then it is
}

TEST_CASE("wrong arguments are refused by name") {
    Grader memory("sgemm", "wrong arguments");
    float* const d = memory.output<float>("d", {64});
    float host[64] = {};
    struct Arguments {
        GemmShape shape;
        const float* A;
        const float* B;
        float* C;
    };
    const GemmShape shape{2, 3, 4, false, false, 4, 3, 3};  // 8, 12 and 6 elements
    const auto refuse = [&](const char* part, auto change) {
        Arguments wrong{shape, d, d + 16, d + 32};
        change(wrong);
        wb::testing::expect_refused("sgemm", part, part, [&] {
            sgemm(wrong.shape, 1.0f, wrong.A, wrong.B, 1.0f, wrong.C, nullptr);
        });
    };
    constexpr int64_t kHuge = (int64_t{1} << 30) + 1;
    constexpr int64_t kFar = int64_t{1} << 60;
    const auto odd = [](float* x) {
        return reinterpret_cast<float*>(reinterpret_cast<char*>(x) + 2);
    };
    refuse("shape.M is -1", [](auto& w) { w.shape.M = -1; });
    refuse("shape.N is -2", [](auto& w) { w.shape.N = -2; });
    refuse("shape.K is -3", [](auto& w) { w.shape.K = -3; });
    refuse("shape.K is -3", [](auto& w) { w.shape = {0, 0, -3}; });
    refuse("shape.M is 1073741825", [&](auto& w) { w.shape.M = kHuge; });
    refuse("shape.lda is 3", [](auto& w) { w.shape.lda = 3; });
    refuse("shape.lda is 1", [](auto& w) {
        w.shape.transpose_a = true;
        w.shape.lda = 1;
    });
    refuse("shape.ldb is 2", [](auto& w) { w.shape.ldb = 2; });
    refuse("shape.ldc is -3", [](auto& w) { w.shape.ldc = -3; });
    refuse("rows * lda * bytes = 2 * ", [&](auto& w) { w.shape.lda = kFar; });
    refuse("rows * ldb * bytes = 4 * ", [&](auto& w) { w.shape.ldb = kFar; });
    refuse("rows * ldc * bytes = 2 * ", [&](auto& w) { w.shape.ldc = kFar; });
    refuse("A is a null pointer", [](auto& w) { w.A = nullptr; });
    refuse("B is a null pointer", [](auto& w) { w.B = nullptr; });
    refuse("C is a null pointer", [](auto& w) { w.C = nullptr; });
    refuse("A is a host pointer", [&](auto& w) { w.A = host; });
    refuse("B is a host pointer", [&](auto& w) { w.B = host; });
    refuse("C is a host pointer", [&](auto& w) { w.C = host; });
    refuse("A is not aligned", [&](auto& w) { w.A = odd(d); });
    refuse("B is not aligned", [&](auto& w) { w.B = odd(d + 16); });
    refuse("C is not aligned", [&](auto& w) { w.C = odd(d + 32); });
    refuse("C - A in bytes is 28", [&](auto& w) { w.C = d + 7; });
    refuse("C - B in bytes is -20", [&](auto& w) { w.C = d + 11; });
    refuse("C - A in bytes is 32", [&](auto& w) {  // in a gap: rows of A are 9 apart
        w.shape.lda = 9;
        w.C = d + 8;
        w.B = d + 32;
    });
}

TEST_CASE("more than 2^31 elements between first and last", "[large][serial]") {
    Grader("sgemm", "M = 0").expect_no_work([](cudaStream_t stream) {
        sgemm(GemmShape{0, 1, 1}.packed(), 1, nullptr, nullptr, 0, nullptr, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    // 34 rows, 2^26 elements apart, of one matrix after the other.
    constexpr int64_t kFar = int64_t{1} << 26;
    constexpr int64_t kSide = 34;
    const char* const which = GENERATE("A", "A transposed", "B", "B transposed", "C");
    const std::string name = which;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    constexpr size_t kBytes = kFar * kSide * sizeof(float);
    if (free_bytes < kBytes + (size_t{1} << 30)) WB_SKIP("needs 10 GB of GPU memory");
    GemmShape s{kSide, kSide, kSide, name == "A transposed", name == "B transposed"};
    s = s.packed();
    (name[0] == 'A' ? s.lda : name[0] == 'B' ? s.ldb : s.ldc) = kFar;
    const Call packed{GemmShape(s).packed()};
    const auto numbers = random_numbers(packed);
    const auto exact =
        wb::reference::gemm(packed.shape, 1.0, numbers.a, numbers.b, 0.0, numbers.c);
    for (const auto& [rung, idea, launcher] : wb::implementations("sgemm", sgemm)) {
        Grader grade(rung, name + " has rows 2^26 elements apart");
        const float* d_a = grade.input("A", numbers.a);
        const float* d_b = grade.input("B", numbers.b);
        float* const few = grade.output<float>("C", {kSide, kSide});
        float* far = nullptr;
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&far), kBytes));
        const auto copy = [&](float* to, const float* from, bool is_out, auto stream) {
            constexpr size_t kRow = kSide * sizeof(float);
            constexpr size_t kApart = kFar * sizeof(float);
            CUDA_CHECK(cudaMemcpy2DAsync(to,
                                         is_out ? kRow : kApart,
                                         from,
                                         is_out ? kApart : kRow,
                                         kRow,
                                         kSide,
                                         cudaMemcpyDeviceToDevice,
                                         stream));
        };
        grade.run_and_wait([&, launcher = launcher](cudaStream_t stream) {
            if (name[0] != 'C') copy(far, name[0] == 'A' ? d_a : d_b, false, stream);
            launcher(s,
                     1.0f,
                     name[0] == 'A' ? far : d_a,
                     name[0] == 'B' ? far : d_b,
                     0.0f,
                     name[0] == 'C' ? far : few,
                     stream);
            if (name[0] == 'C') copy(few, far, true, stream);
        });
        grade.expect("C", exact.c, [&](int64_t i) {
            const double magnitude = exact.magnitude[static_cast<size_t>(i)];
            return wb::testing::float_bound(kSide + 3, magnitude);
        });
        CUDA_CHECK(cudaFree(far));
    }
#endif
}

namespace {

using wb::testing::Goal;

/// The contract's function alone, on whole tiles; misses the goal if more sectors are
/// loaded than this, or if a product takes more loads from shared memory.
void grade_goal(const GemmShape& shape, double sectors, double shared_loads) {
    const Goal goal("sgemm");
    const Call call{shape.packed()};
    grade_one("sgemm", sgemm, call, random_numbers(call), ", seed 1");
#ifdef SIMT_CPU
    const auto counted = simt::check::counters("");
    const auto loaded = counted.global_load.sectors + counted.async_load.sectors;
    goal.require(static_cast<double>(loaded) <= 1.02 * sectors,
                 std::to_string(loaded) + " sectors are loaded, " +
                     std::to_string(std::lround(sectors)) + " would do");
    const auto products = static_cast<double>(shape.M * shape.N * shape.K);
    const double most = shared_loads * products / 32.0;
    const auto requests = counted.shared_load.requests;
    goal.require(static_cast<double>(requests) <= 1.02 * most,
                 std::to_string(requests) + " loads of a warp from shared memory, " +
                     std::to_string(std::lround(most)) + " would do");
#else
    (void)sectors, (void)shared_loads;
#endif
}

/// Sectors of A and B if an element of A is loaded once for a tile of so many columns,
/// and an element of B once for a tile of so many rows.
double sectors_of(const GemmShape& s, double rows, double columns) {
    const auto size = [](int64_t value) { return static_cast<double>(value); };
    return size(s.M) * size(s.K) / 8 * std::max(1.0, size(s.N) / columns) +
           size(s.K) * size(s.N) / 8 * std::max(1.0, size(s.M) / rows);
}

}  // namespace

TEST_CASE("an element is loaded once for 32 products", "[.][goal]") {
    const GemmShape shape{64, 96, 64};
    grade_goal(shape, sectors_of(shape, 32, 32), 2.0);
}

TEST_CASE("an element is loaded once for 85 products", "[.][goal][fast]") {
    const FewMultiprocessors few(1);
    const GemmShape shape{128, 256, 32};
    grade_goal(shape, sectors_of(shape, 64, 128), 2.0);
}

TEST_CASE("four products for each load from shared memory", "[.][goal][fast]") {
    const FewMultiprocessors few(1);
    const bool transposed = GENERATE(false, true);
    const GemmShape shape{128, 128, 32, transposed, transposed};
    grade_goal(shape, sectors_of(shape, 64, 128), 0.25);
}
