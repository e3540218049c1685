// Grades day05-quantization/02-gptq-int4: the product, for many sizes.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace gptq_grading;

TEST_CASE("one row of x, one group") {
    grade_whole({1, 8, 8});
    grade_whole({1, 16, 32});
    grade_random({1, 24, 40});
}

TEST_CASE("rows of x around the tiles of tensor cores") {
    const auto M = GENERATE(as<int64_t>(), 2, 7, 8, 9, 15, 16, 17);
    grade_random({M, 40, 64, 32});
}

TEST_CASE("as many rows of x as a block has, and one more") {
    const auto M = GENERATE(as<int64_t>(), 64, 65, 129);
    grade_whole({M, wb::testing::is_watched() ? 8 : 40, 64, 32});
}

TEST_CASE("columns around a tile of 32, and 1000 of them") {
    const auto N = GENERATE(as<int64_t>(), 8, 16, 24, 32, 40, 64, 72, 136);
    grade_random({3, N, 64, 32});
    if (N == 8 && !wb::testing::is_watched()) grade_whole({2, 1000, 32, 32});
}

TEST_CASE("rows of W around a tile of 32: each is one group") {
    const auto K = GENERATE(as<int64_t>(), 8, 16, 24, 32, 40, 72, 264);
    grade_random({3, 40, K, -1});
    grade_whole({1, 8, K, K});
}

TEST_CASE("K = 0: all of y becomes 0") {
    grade_whole({3, 16, 0});
    grade_whole({3, 16, 0, 32});
}

TEST_CASE("groups of each size, in and out of order") {
    const auto group = GENERATE(as<int64_t>(), 32, 64, 128);
    const auto order = GENERATE(none, shuffled);
    grade_whole({2, 40, 256, group, true, order});
}

TEST_CASE("groups of different sizes: g_idx gives each row any group") {
    const auto order = GENERATE(unequal, with_bad);
    grade_whole({3, 40, 160, 32, true, order});
    grade_random({9, 24, 128, 64, false, order});
}

TEST_CASE("a row without a group is no part of the sum, even if x is NaN there") {
    const Call c{2, 16, 64, 32, true, with_bad};
    const GptqWeights w = exact_weights(c, 1);
    auto x = whole_x(c);
    for (int64_t k = 0; k < c.K; ++k)
        if (!w.has_group(k))
            x[at(k)] = static_cast<__half>(std::numeric_limits<float>::quiet_NaN());
    grade_matmul(c, w, x, ", x is NaN for rows without a group", true);
}

TEST_CASE("edges meet: sizes, groups, orders, zeros, multiprocessors") {
    static const auto cases =
        wb::testing::Covering()
            .factor("M", {1, 5, 8, 16, 33, 65})
            .factor("N", {8, 16, 24, 104, 136})
            .factor("stages", {1, 2, 3, 5})
            .factor("group", {32, 64, 128, -1})
            .factor("order", {"none", "rising", "shuffled", "unequal", "with bad"})
            .factor("zeros minus one", {0, 1})
            .factor("multiprocessors", {1, 132})
            .cases();
    const bool watched = wb::testing::is_watched();
    for (const auto& c : cases) {
        if (watched && c["M"] * c["N"] * c["stages"] > 800) continue;
        DYNAMIC_SECTION(c.text()) {
            const FewMultiprocessors few(static_cast<int>(c["multiprocessors"]));
            // With one group K is no multiple of 32; else it has so many groups or
            // more.
            const int64_t K =
                c["group"] == -1 ? c["stages"] * 72 : c["stages"] * c["group"];
            const Call call = {c["M"],
                               c["N"],
                               K,
                               c["group"],
                               c["zeros minus one"] == 1,
                               static_cast<Order>(c["order"])};
            grade_whole(call);
        }
    }
}

TEST_CASE("a deep product: rings go round, and K is cut into parts") {
    // With many multiprocessors few columns are shared by several blocks.
    const FewMultiprocessors few(GENERATE(1, 132));
    const auto M = GENERATE(as<int64_t>(), 1, 12, 20);
    const bool watched = wb::testing::is_watched();
    grade_whole({M, watched ? 8 : 40, M == 20 ? 1056 : 3104, 32});
    if (watched) return;
    if (M == 1) grade_whole({1, 136, 3104, 32});
    if (M == 20) grade_whole({65, 8, 2080, 32});
}

TEST_CASE("many rows of x: stages that other blocks fill are used again") {
    const FewMultiprocessors few(2);
    grade_whole({130, 8, 448, 32});
}

TEST_CASE("a deep product of sorted rows") {
    const FewMultiprocessors few(132);
    grade_whole({3, 40, 2304, 128, false, with_bad});
}

TEST_CASE("more groups than a warp has lanes") {
    grade_whole({1, 8, 1280, 32, true, unequal});
}

TEST_CASE("more than a thousand groups, none of which is a whole tile") {
    const int64_t groups = wb::testing::is_watched() ? 40 : 1025;
    const FewMultiprocessors few(132);  // and far more than 64 parts of K
    const Call c{17, 8, groups * 32, 32, true, rising};
    GptqWeights w = exact_weights(c, 1);
    for (int64_t k = 0; k < c.K; ++k)
        w.g_idx[at(k)] = static_cast<int32_t>(std::min(k / 31, groups - 1));
    grade_matmul(c, w, whole_x(c), ", 31 rows in each group but the last", true);
}

TEST_CASE("more than 2^16 rows of w: more than 1024 stages of 64") {
    const FewMultiprocessors few(132);
    grade_whole({17, 8, wb::testing::is_watched() ? 128 : 65'792, 128});
}

TEST_CASE("9 to 16 rows of x, and blocks of 96 columns for all multiprocessors") {
    const FewMultiprocessors few(2);
    grade_whole({12, 160, 64, 32, true, shuffled});
}

TEST_CASE("many columns and several blocks in each direction") {
    const FewMultiprocessors few(1);
    if (wb::testing::is_watched()) return grade_whole({66, 72, 40});
    grade_whole({130, 264, 40});
    grade_whole({70, 40, 96, 32, true, shuffled});
}

TEST_CASE("more than a thousand rows of x") {
    const int64_t M = wb::testing::is_watched() ? 100 : 1027;
    grade_whole({M, 8, 8});
    grade_whole({M, 8, 8, -1, true, rising});
}

TEST_CASE("more columns, and more rows of x, than 12 bits count") {
    if (wb::testing::is_watched()) return;
    grade_whole({1, 4104, 32, 32});
    grade_whole({4099, 8, 8});
}

TEST_CASE("more columns, and more rows of x, than 16 bits count", "[long]") {
    if (wb::testing::is_watched()) return;
    for (const Call& c : {Call{1, 65544, 8}, Call{65540, 8, 8}}) {
        const GptqWeights w = exact_weights(c, 1);
        const auto x = whole_x(c);
        const Expected expected = expected_of(c, w, x, true);
        grade_one("gptq_matmul", gptq_matmul, c, w, packed_of(c, w), x, expected, "");
    }
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_random({3, 40, 96, 32});
        },
        [] {
            grade_random({17, 16, 64, 64, false, shuffled}, 2);
        },
        [] {
            grade_random({3, 40, 96, 32}, 5);
        });
}
