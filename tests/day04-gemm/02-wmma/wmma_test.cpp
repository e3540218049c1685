// Grades day04-gemm/02-wmma: sizes, edges, and how matrices lie in memory.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

#include "../same_arrays.h"

using namespace wmma_grading;

namespace {

/// Whole numbers that are different in most places. Their products and sums are exact,
/// in any order, and so C has to be.
Factors whole_numbers(const Call& c) {
    Factors factors = {std::vector<float>(static_cast<size_t>(c.M * c.K)),
                       std::vector<float>(static_cast<size_t>(c.K * c.N))};
    for (int64_t m = 0; m < c.M; ++m)
        for (int64_t k = 0; k < c.K; ++k)
            factors.a[static_cast<size_t>(m * c.K + k)] =
                static_cast<float>((7 * m + 13 * k) % 61 - 30);
    for (int64_t k = 0; k < c.K; ++k)
        for (int64_t n = 0; n < c.N; ++n)
            factors.b[static_cast<size_t>(k * c.N + n)] =
                static_cast<float>((11 * k + 5 * n) % 53 - 26);
    return factors;
}

void grade_whole(const Call& c) {
    grade(c, whole_numbers(c), ", whole numbers", true);
}

}  // namespace

TEST_CASE("one tile, and what one dimension more or less changes") {
    const auto size = GENERATE(as<int64_t>(), 1, 7, 8, 9, 15, 16, 17, 31, 32, 33);
    grade_random({size, 16, 16});
    grade_random({16, size, 16});
    grade_random({16, 16, size});
}

TEST_CASE("whole numbers: the product is exact") {
    grade_whole({16, 16, 16});
    grade_whole({48, 32, 64});
    grade_whole({33, 65, 31});
}

TEST_CASE("K = 0: all of C becomes 0") {
    grade_whole({20, 33, 0});
    grade_whole({16, 16, 0, 0, 0, 8});
}

TEST_CASE("each dimension is a prime number") {
    grade_random({67, 131, 37});
}

TEST_CASE("each dimension past 4096, with gaps between rows", "[long]") {
    grade_random({4131, 3, 5, 3, 5, 2});
    grade_random({3, 4131, 5, 3, 5, 2});
    grade_random({3, 5, 4131, 5, 3, 1});
}

TEST_CASE("more than one block in each direction") {
    // Past 128 rows and 256 columns there are several blocks of any version.
    const FewMultiprocessors few(1);
    const auto c = GENERATE(Call{144, 288, 40}, Call{129, 257, 17});
    grade_type<__half>(c, whole_numbers(c), ", whole numbers", true);
    grade_type<float>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("long rows of A: stages of a ring go round several times") {
    // 32 numbers of 16 bits, or 16 floats, are a stage.
    const int64_t K = GENERATE(as<int64_t>(), 96, 128, 160, 291);
    const FewMultiprocessors few(K == 128 || K == 291 ? 1 : 132);
    const Call c{17, 40, K};
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
    grade_type<float>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("a tall, a wide and a deep product") {
    const int64_t large = wb::testing::is_watched() ? 150 : 700;
    grade_whole({large, 5, 24});
    grade_whole({5, large, 24});
    grade_whole({5, 9, wb::testing::is_watched() ? 150 : 1100});
    const Call wide{17, wb::testing::is_watched() ? 150 : 2100, 3};
    grade_type<__half>(wide, whole_numbers(wide), ", whole numbers", true);
}

TEST_CASE("edges meet: sizes, gaps, where matrices begin, multiprocessors") {
    static const auto cases = wb::testing::Covering()
                                  .factor("type", {"fp16", "bf16", "tf32"})
                                  .factor("M", {1, 16, 31, 64, 127, 130})
                                  .factor("N", {1, 8, 16, 33, 64, 128, 257})
                                  .factor("K", {1, 8, 15, 16, 24, 33, 72})
                                  .factor("gap of A", {0, 1, 8})
                                  .factor("gap of B", {0, 1, 8})
                                  .factor("gap of C", {0, 1, 4})
                                  .factor("A from", {0, 1, 8, 16})
                                  .factor("B from", {0, 1, 8, 16})
                                  .factor("C from", {0, 1, 4, 8})
                                  .factor("multiprocessors", {1, 132})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const FewMultiprocessors few(static_cast<int>(c["multiprocessors"]));
            const Call call = {c["M"],
                               c["N"],
                               c["K"],
                               c["gap of A"],
                               c["gap of B"],
                               c["gap of C"],
                               c["A from"],
                               c["B from"],
                               c["C from"]};
            const Factors factors = random_factors(call, 1);
            if (c.words("type") == "fp16")
                grade_type<__half>(call, factors, ", seed 1");
            if (c.words("type") == "bf16")
                grade_type<__nv_bfloat16>(call, factors, ", seed 1");
            if (c.words("type") == "tf32") grade_type<float>(call, factors, ", seed 1");
        }
}

TEST_CASE("any three edges meet: tails of tiles, rows of C that are padded") {
    // What is not right with any tail, and any padding, is at a certain depth only.
    constexpr int64_t kPadded = 16;  // rows begin at multiples of as many elements
    static const auto cases = wb::testing::Covering()
                                  .factor("type", {"fp16", "bf16", "tf32"})
                                  .factor("M", {15, 16, 17, 33})
                                  .factor("N", {15, 16, 17, 31, 33})
                                  .factor("K", {15, 16, 40, 303})
                                  .factor("A and B", {"dense", "padded"})
                                  .factor("C", {"dense", "padded", "far apart"})
                                  .all_triples()
                                  .cases();
    const auto gap = [](int64_t length) { return (kPadded - length % kPadded) % 16; };
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            Call call{c["M"], c["N"], c["K"]};
            if (c["A and B"] == 1) {
                call.gap_a = gap(call.K);
                call.gap_b = gap(call.N);
            }
            if (c["C"] > 0) call.gap_c = gap(call.N) + (c["C"] == 2 ? kPadded : 0);
            const Factors factors = whole_numbers(call);
            constexpr const char* kText = ", whole numbers";
            if (c["type"] == 0) grade_type<__half>(call, factors, kText, true);
            if (c["type"] == 1) grade_type<__nv_bfloat16>(call, factors, kText, true);
            if (c["type"] == 2) grade_type<float>(call, factors, kText, true);
        }
}

TEST_CASE("a block of whole tiles, as a fast path wants them") {
    // All of it at multiples of 32 bytes; then with an edge in one dimension.
    const FewMultiprocessors few(1);
    const auto c = GENERATE(Call{128, 256, 32, 16, 16, 16, 32, 32, 32},
                            Call{136, 264, 32},
                            Call{128, 256, 40});
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
    grade_type<float>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("each side past 4096 where all begins at multiples of 32 bytes", "[long]") {
    const auto c = GENERATE(Call{4112, 16, 8}, Call{16, 4112, 8}, Call{16, 16, 4112});
    const Problem<__half> problem(c, whole_numbers(c), true);
    grade_one<__half>("wmma_fp16", wmma_fp16, c, problem, ", whole numbers");
}

TEST_CASE("once more in the same arrays, but for one thing") {
    gemm_grading::grade_all_in_same_arrays<Format, __nv_bfloat16>();
    gemm_grading::grade_all_in_same_arrays<Format, float>();
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            const Call c{20, 40, 24};
            grade_type<__half>(c, random_factors(c, 1), ", seed 1");
        },
        [] {
            const Call c{70, 18, 50};
            grade_type<__half>(c, random_factors(c, 2), ", seed 2");
        });
}
