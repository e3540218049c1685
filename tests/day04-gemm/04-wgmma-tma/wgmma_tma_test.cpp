// Grades day04-gemm/04-wgmma-tma: sizes, edges, and how matrices lie in memory.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

#include "../same_arrays.h"

using namespace wgmma_tma_grading;

TEST_CASE("the smallest product, and what one step along K changes") {
    // A wgmma is 16 deep, 32 for FP8; a stage four times that.
    const int64_t K = GENERATE(as<int64_t>(), 1, 7, 8, 15, 16, 17, 32, 33, 64, 65);
    grade_whole({8, 8, K});
}

TEST_CASE("one tile, and a few rows or columns more or less") {
    const int64_t size = GENERATE(as<int64_t>(), 16, 56, 64, 72, 120, 128, 136);
    grade_whole({size, 64, 16});
    grade_whole({64, size, 16});
}

TEST_CASE("B as rows of N: it is read the other way round") {
    const Call c{72, 136, GENERATE(as<int64_t>(), 24, 72, 136), true};
    grade_whole(c);
}

TEST_CASE("K = 0: all of C becomes 0, and nothing between its rows") {
    grade_whole({16, 40, 0});
    grade_whole({16, 40, 0, true});
    grade_whole({24, 16, 0, true, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("stages of a ring go round several times") {
    // 64 numbers are a stage of 16-bit factors, 128 of FP8; rings have 4 or 6.
    const int64_t K = GENERATE(as<int64_t>(), 256, 320, 392, 777);
    const FewMultiprocessors few(K == 320 ? 2 : 132);
    grade_whole({72, 88, K, K == 392});
}

TEST_CASE("several tiles in each direction") {
    // 128 or 256 rows, 128 or 256 columns are a tile of a block or a cluster.
    const FewMultiprocessors few(GENERATE(1, 4, 132));
    if (wb::testing::is_watched()) return grade_whole({136, 264, 40});
    grade_whole({264, 520, 40});
}

TEST_CASE("a block has tile after tile, with a ring that goes on where it was") {
    // Five stages a tile, rings of 3 to 8: each tile begins at another one.
    const bool watched = wb::testing::is_watched();
    const FewMultiprocessors few(GENERATE(2, 4));
    const Call c{watched ? 264 : 392, 520, 300};
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("many bands of tiles", "[long]") {
    // Tiles are taken in bands of 2048 rows, every other one backwards.
    const FewMultiprocessors few(GENERATE(1, 132));
    const Call c{4360, 520, 8};
    grade_type<__half>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("more than 128 tiles of v1 side by side", "[long]") {
    const Call c{8, 16648, 8};
    grade_type<__half>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("more than 1024 stages", "[long]") {
    const Call c{8, 8, 65700};
    grade_contract(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("a tall, a wide and a deep product") {
    const bool watched = wb::testing::is_watched();
    const int64_t large = watched ? 264 : 2056;
    const Call tall{large, 8, 24};
    const Call wide{8, large, 24, true};
    const Call deep{8, 16, watched ? 392 : 4000};
    grade_type<__half>(tall, whole_numbers(tall), ", whole numbers", true);
    grade_type<__nv_bfloat16>(wide, whole_numbers(wide), ", whole numbers", true);
    grade_type<__nv_bfloat16>(deep, whole_numbers(deep), ", whole numbers", true);
}

TEST_CASE("more than 1024 scales of rows, and of columns") {
    if (wb::testing::is_watched()) return grade_whole({8, 8, 16});
    const auto c = GENERATE(Call{1040, 16, 32, true}, Call{16, 1040, 32, true});
    grade_type<__nv_fp8_e4m3>(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("few tiles, long K: several blocks may share a tile of C") {
    // Where K is cut, and into how many parts, is for the number of multiprocessors to
    // say; the last part may be shorter, and K may end within a stage.
    const bool watched = wb::testing::is_watched();
    const int64_t K = GENERATE(as<int64_t>(), 1544, 3001);
    if (watched && K > 2000) return;
    const FewMultiprocessors few(K == 3001 ? 12 : 132);
    const Call c{72, watched ? 40 : 200, K, false, 0, 0, 2, 0, 0, 1};
    const Call k_major{watched ? 24 : 264, 24, K, true, 1, 1};
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
    grade_type<__half>(k_major, whole_numbers(k_major), ", whole numbers", true);
    const Call fp8{72, 136, 2 * K, true};
    grade_type<__nv_fp8_e4m3>(fp8, whole_numbers(fp8), ", whole numbers", true);
}

TEST_CASE("edges meet: sizes, layouts, gaps, where matrices begin, multiprocessors") {
    static const auto cases = wb::testing::Covering()
                                  .factor("type", {"bf16", "fp16", "fp8"})
                                  .factor("B", {"rows of K", "rows of N"})
                                  .factor("M", {8, 64, 72, 128, 136, 264})
                                  .factor("N", {8, 64, 72, 128, 248, 264})
                                  .factor("K", {1, 8, 24, 63, 64, 72, 130})
                                  .factor("gap of A", {0, 1, 3})
                                  .factor("gap of B", {0, 1, 3})
                                  .factor("gap of C", {0, 1, 3})
                                  .factor("A from", {0, 1})
                                  .factor("B from", {0, 1})
                                  .factor("C from", {0, 1})
                                  .factor("multiprocessors", {2, 132})
                                  .cases();
    for (const auto& c : cases) {
        if (wb::testing::is_watched() && c["M"] * c["N"] > 10000) continue;
        DYNAMIC_SECTION(c.text()) {
            const FewMultiprocessors few(static_cast<int>(c["multiprocessors"]));
            const bool is_fp8 = c.words("type") == "fp8";
            const Call call = {c["M"],
                               c["N"],
                               c["K"],
                               is_fp8 || c.words("B") == "rows of N",
                               c["gap of A"],
                               c["gap of B"],
                               c["gap of C"],
                               c["A from"],
                               c["B from"],
                               c["C from"]};
            const Factors factors = c.words("type") == "fp16" ? small_factors(call, 1)
                                                              : random_factors(call, 1);
            if (c.words("type") == "bf16")
                grade_type<__nv_bfloat16>(call, factors, ", seed 1");
            if (c.words("type") == "fp16")
                grade_type<__half>(call, factors, ", seed 1");
            if (is_fp8) grade_type<__nv_fp8_e4m3>(call, factors, ", seed 1");
        }
    }
}

TEST_CASE("right whatever order the threads run in") {
    // A cluster's blocks, a producer and its consumers, warps that store.
    const FewMultiprocessors few(2);
    wb::testing::shuffle_threads(GENERATE(1u, 2u, 3u));
    const Call c{136, wb::testing::is_watched() ? 136 : 264, 600};
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
    wb::testing::shuffle_threads(0);
}

namespace {

/// The contract's function, or the last version; deep enough for several parts of K.
/// The first and the last product cancel, and are so large that the sums of the others
/// lose digits in an order of their own.
template <class T>
void grade_bits(Factors f, float large) {
    const Call c{16, 40, 1100, true};
    const auto ends_cancel = [&](std::vector<float>& values, int64_t rows, float sign) {
        for (int64_t row = 0; row < rows; ++row) {
            values[static_cast<size_t>(row * c.K)] = large;
            values[static_cast<size_t>((row + 1) * c.K - 1)] = sign * large;
        }
    };
    ends_cancel(f.a, c.M, -1.0f);
    ends_cancel(f.b, c.N, 1.0f);
    const Problem<T> problem(c, f, false);
    std::string last;
    for_each_version<T>([&](const std::string& name, auto) { last = name; });
    std::vector<double> first;
    for (const unsigned order : {0, 1, 2}) {
        wb::testing::shuffle_threads(order);
        for_each_version<T>([&](const std::string& name, auto launcher) {
            if (name != last) return;
            const auto sums =
                grade_one<T>(name, launcher, c, problem, ", called three times");
            if (first.empty()) first = sums;
            CHECK(sums == first);
        });
    }
    wb::testing::shuffle_threads(0);
}

}  // namespace

TEST_CASE("two calls give the same bits, in any order of threads and blocks") {
    const Call c{16, 40, 1100, true};
    grade_bits<__nv_bfloat16>(random_factors(c, 3), 2048.0f);
    grade_bits<__half>(small_factors(c, 3), 2048.0f);
    grade_bits<__nv_fp8_e4m3>(random_factors(c, 3), 448.0f);
}

namespace {

template <class T>
void grade_again(bool transpose_b) {
    const wb::GemmShape shape{16, 40, 24, false, transpose_b, 48, 48, 48};
    for_each_version<T>([&](const std::string& name, auto launcher) {
        using CType = typename Format<T>::CType;
        gemm_grading::grade_in_same_arrays<T, CType>(
            name,
            shape,
            [&](const wb::GemmShape& s, const T* A, const T* B, CType* C, auto stream) {
                launcher(s, A, B, nullptr, nullptr, C, stream);
            });
    });
}

}  // namespace

TEST_CASE("once more in the same arrays, but for one thing") {
    grade_again<__nv_bfloat16>(false);
    grade_again<__half>(true);
}

TEST_CASE("a long K of each type, in either layout", "[long]") {
    const Call rows_of_k{8, 16, 4300};
    const Call rows_of_n{8, 16, 4300, true};
    const Call fp8{8, 16, 8400, true};
    grade_type<__half>(rows_of_k, whole_numbers(rows_of_k), ", whole numbers", true);
    grade_contract(rows_of_n, whole_numbers(rows_of_n), ", whole numbers", true);
    grade_type<__nv_fp8_e4m3>(fp8, whole_numbers(fp8), ", whole numbers", true);
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            const Call c{24, 40, 24};
            grade_type<__half>(c, whole_numbers(c), ", whole numbers", true);
        },
        [] {
            const Call c{72, 16, 50, true};
            grade_type<__half>(c, whole_numbers(c), ", whole numbers", true);
        });
}
