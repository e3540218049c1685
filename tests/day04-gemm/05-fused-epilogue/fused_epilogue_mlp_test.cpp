// Grades day04-gemm/05-fused-epilogue: mlp().
#include "mlp.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace fused_epilogue_grading;
using wb::testing::SmallCache;

TEST_CASE("mlp: small sizes, and none at all") {
    const auto c = GENERATE(MlpCall{1, 1, 1, 1},
                            MlpCall{20, 9, 17, 33},
                            MlpCall{33, 16, 32, 16, Activation::gelu},
                            MlpCall{7, 0, 20, 5},
                            MlpCall{7, 5, 0, 20});
    grade_mlp(c);
}

TEST_CASE("mlp: edges meet, with little and much cache") {
    // With 64 KB of cache, 130 hidden numbers a row: 126 rows are half of it; with 1 MB
    // all are.
    static const auto cases = wb::testing::Covering()
                                  .factor("M", {1, 128, 129, 260})
                                  .factor("K", {1, 8, 33})
                                  .factor("H", {1, 40, 130})
                                  .factor("N", {1, 8, 136})
                                  .factor("activation", {"none", "silu", "gelu"})
                                  .factor("bias", {"none", "first", "second", "both"})
                                  .factor("residual", {"no", "apart", "in y"})
                                  .factor("cache", {1 << 12, 1 << 20})
                                  .factor("from", {0, 1, 4, 8})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const SmallCache cache(static_cast<size_t>(c["cache"]));
            grade_mlp({c["M"],
                       c["K"],
                       c["H"],
                       c["N"],
                       static_cast<Activation>(c["activation"]),
                       c["bias"] % 2 == 1,
                       c["bias"] >= 2,
                       static_cast<Residual>(c["residual"]),
                       c["from"]});
        }
}

TEST_CASE("mlp: whole numbers are exact, in all rows") {
    const SmallCache cache(GENERATE(1 << 12, 1 << 20));
    MlpCall c{300, 3, 5, 9, Activation::none, true, true, Residual::apart};
    grade_mlp(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("mlp: more than 1024 rows, some at a time", "[long]") {
    const SmallCache cache(1 << 12);
    MlpCall c{2300, 1, 2, 3, Activation::none, true, true, Residual::in_y};
    grade_mlp(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("mlp: NaN stays in its row") {
    const SmallCache cache(1 << 12);
    MlpCall c{140, 4, 24, 10};
    MlpNumbers n = random_numbers(c, 4);
    n.x[4 * 130 + 1] = kNan;
    grade_mlp(c, n, ", a NaN in row 130", false);
}

TEST_CASE("mlp: calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_mlp({20, 24, 40, 12});
        },
        [] {
            grade_mlp({70, 18, 50, 9, Activation::gelu});
        });
}
