// Grades day04-gemm/03-mma-sync: sizes, edges, and how matrices lie in memory.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

#include "../same_arrays.h"

using namespace mma_sync_grading;

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
    grade_whole(c);
}

TEST_CASE("long rows of A: stages of a ring go round several times") {
    // 32 columns of A are a stage, and four of them a part of v6 or more.
    const int64_t K = GENERATE(as<int64_t>(), 96, 128, 160, 291, 520);
    const FewMultiprocessors few(K == 128 || K == 520 ? 1 : 132);
    const Call c{17, 40, K};
    grade_whole(c);
}

TEST_CASE("a long sum in one block of the largest kind") {
    // With one multiprocessor nothing is split, and v5 takes its own tiles.
    const FewMultiprocessors few(1);
    const Call c{5, 9, 1100};
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("many bands of blocks") {
    // v5 goes through C in bands of 8 tiles of 128 rows; the last one is not full.
    const FewMultiprocessors few(1);
    const Call c{GENERATE(as<int64_t>(), 1024, 1200), 300, 5};
    grade_type<__half>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("a deep product of few rows and columns, with gaps") {
    // What K is cut into must end up in one sum, in the rows of C and not between them.
    const int64_t large = wb::testing::is_watched() ? 17 : 150;
    const Call c{GENERATE_COPY(as<int64_t>(), 1, large), 131, 1000, 8, 5, 3};
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("shares of K end within tiles, and go on with the next") {
    // Three tiles of v7 for more blocks than tiles, and fewer than twice as many. A
    // block has the end of one tile and the beginning of the next.
    const FewMultiprocessors few(2);
    const auto c =
        GENERATE(Call{64, 384, 160}, Call{16, 384, 448}, Call{20, 300, 440, 0, 0, 3});
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("shares of hundreds of steps", "[long]") {
    // Three tiles of 385 steps for six blocks. The fourth begins at step 579, and has
    // the end of the second tile and the beginning of the third.
    const FewMultiprocessors few(2);
    const Call c{3, 258, 24610};
    const Factors factors = whole_numbers(c);
    const Problem<__half> problem(c, factors, true);
    grade_one<__half>("mma_sync_fp16", mma_sync_fp16, c, problem, ", whole numbers");
}

TEST_CASE("parts of K that several blocks of a cluster have, by rows of a tile") {
    // v8 has tiles of 16, 32, 64 and 128 rows. Two multiprocessors have room for four
    // blocks: one tile in four parts, the last one short, or two tiles in two.
    const FewMultiprocessors few(2);
    const auto c = GENERATE(Call{16, 64, 1100},
                            Call{13, 100, 530, 0, 0, 1},
                            Call{32, 60, 776},
                            Call{33, 70, 600},
                            Call{90, 64, 520},
                            Call{100, 72, 590, 0, 0, 2});
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("more parts than a tile has sums for, on a whole GPU", "[long]") {
    // v8 cuts K into eight at most, and a warp has two tiles of 16 x 8.
    const Call c{GENERATE(as<int64_t>(), 9, 31), 20, 2100};
    grade_type<__half>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("a large C: whole tiles, or shares where there are many rounds of them",
          "[long]") {
    // For three multiprocessors 6 tiles of v8 are a few rounds, and 26 are many. The
    // one in the middle has the end of a tile and the beginning of another one.
    const FewMultiprocessors few(3);
    const Call c{GENERATE(as<int64_t>(), 700, 3300), 200, 136, 8, 0, 3};
    const Problem<__nv_bfloat16> problem(c, whole_numbers(c), true);
    grade_one<__nv_bfloat16>(
        "mma_sync_bf16", mma_sync_bf16, c, problem, ", whole numbers");
}

TEST_CASE("more than 128 tiles side by side, and blocks that share them", "[long]") {
    // v7 has tiles of 128 columns, and five steps along K in two shares.
    const Call c{2, 16400, 260};
    const Factors factors = whole_numbers(c);
    const Problem<__half> problem(c, factors, true);
    grade_one<__half>("mma_sync_fp16", mma_sync_fp16, c, problem, ", whole numbers");
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
                                  .factor("type", {"fp16", "bf16"})
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
        }
}

TEST_CASE("a block of whole tiles, as a fast path wants them") {
    // Rows at multiples of 16 bytes; then with an edge in one dimension.
    const FewMultiprocessors few(1);
    const auto c = GENERATE(Call{128, 256, 32, 16, 16, 16, 32, 32, 32},
                            Call{136, 264, 32},
                            Call{128, 256, 40});
    grade_whole(c);
}

namespace {

/// Deep enough for several parts of K.
template <class T>
void grade_bits() {
    const Call c{20, 130, 800};
    const Problem<T> problem(c, random_factors(c, 3), false);
    std::vector<double> first;
    for (const unsigned order : {0, 1, 2}) {
        wb::testing::shuffle_threads(order);
        const auto sums = grade_one<T>(Format<T>::kFunction,
                                       Format<T>::kContract,
                                       c,
                                       problem,
                                       ", called three times");
        if (first.empty()) first = sums;
        CHECK(sums == first);
    }
    wb::testing::shuffle_threads(0);
}

}  // namespace

TEST_CASE("two calls give the same bits, in any order of threads and blocks") {
    grade_bits<__nv_bfloat16>();
    grade_bits<__half>();
}

TEST_CASE("once more in the same arrays, but for one thing") {
    gemm_grading::grade_all_in_same_arrays<Format, __nv_bfloat16>();
    gemm_grading::grade_all_in_same_arrays<Format, __half>();
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
    // One small tile, with K in two parts, and in as many as a cluster may have.
    wb::testing::expect_independent(
        [] {
            const Call c{9, 20, 300};
            grade_type<__half>(c, random_factors(c, 3), ", seed 3");
        },
        [] {
            const Call c{12, 18, 2500};
            grade_type<__half>(c, random_factors(c, 4), ", seed 4");
        });
}
