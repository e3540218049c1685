// Grades day05-quantization/03-layernorm-gptq-qkv: Q, K and V, for many sizes.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace qkv_grading;

TEST_CASE("one row, one group, neither weight nor bias") {
    grade_whole({1, 1, 8, -1, neither});
    grade_random({1, 1, 32, 32, neither});
}

TEST_CASE("weight and bias: each of them, and both") {
    const auto affine = GENERATE(neither, weight_only, bias_only, both);
    grade_whole({1, 2, 40, -1, affine});
    grade_random({1, 3, 24, -1, affine});
}

TEST_CASE("Q, K and V, one behind the other, of each batch") {
    grade_whole({2, 3, 16});
    grade_whole({5, 1, 8});
    grade_random({1, 4, 32, 32});
}

TEST_CASE("rows around the tiles of tensor cores") {
    const auto rows = GENERATE(as<int64_t>(), 2, 7, 8, 9, 15, 16, 17);
    grade_whole({1, rows, 24});
}

TEST_CASE("as many rows as a block has, and one more") {
    const auto rows = GENERATE(as<int64_t>(), 64, 65, 129);
    grade_whole({rows, 1, wb::testing::is_watched() ? 8 : 24});
}

TEST_CASE("hidden around a tile of 32, and around what a warp loads") {
    const auto hidden = GENERATE(as<int64_t>(), 8, 16, 24, 32, 40, 72, 104, 136, 264);
    if (wb::testing::is_watched() && hidden > 104) return;
    grade_whole({1, 2, hidden});
    if (hidden < 80) grade_random({2, 5, hidden});
}

TEST_CASE("groups of each size, in and out of order") {
    const auto group = GENERATE(as<int64_t>(), 32, 64, 128);
    const auto order = GENERATE(none, shuffled);
    if (wb::testing::is_watched() && group != 32) return;
    grade_whole({1, 2, wb::testing::is_watched() ? 64 : 128, group, both, order});
}

TEST_CASE("groups of different sizes: g_idx gives each row any group") {
    const auto order = GENERATE(unequal, with_bad);
    grade_whole({1, 3, 64, 32, both, order});
    grade_random({1, 9, 64, 32, neither, order});
}

TEST_CASE(
    "a row of W without a group is no part of Q, K and V, but x there is measured") {
    // h would be 2^15 and more in such a column.
    const Call c{1, 2, 64, 32, both, with_bad};
    const GptqWeights w = exact_weights(c, 1);
    Rows r = whole_rows(c, 1);
    for (int64_t k = 0; k < c.hidden; ++k)
        if (!w.has_group(k)) r.bias[at(k)] = half_of(40000.0);
    grade_qkv(c, w, r, ", bias is 40000 for rows without a group", true);
}

TEST_CASE("edges meet: rows, hidden, groups, orders, arrays, multiprocessors") {
    static const auto cases = wb::testing::Covering()
                                  .factor("batch", {1, 3})
                                  .factor("seq", {1, 5, 8, 22, 33})
                                  .factor("tiles", {1, 2, 3})
                                  .factor("group", {32, 64, -1})
                                  .factor("order", {0, 1, 2, 3, 4})
                                  .factor("affine", {0, 1, 2, 3})
                                  .factor("zeros minus one", {0, 1})
                                  .factor("multiprocessors", {1, 132})
                                  .cases();
    const bool watched = wb::testing::is_watched();
    for (const auto& c : cases) {
        if (watched && c["batch"] * c["seq"] * c["tiles"] * c["tiles"] > 8) continue;
        DYNAMIC_SECTION(c.text()) {
            const FewMultiprocessors few(static_cast<int>(c["multiprocessors"]));
            // With one group, hidden is no multiple of 32.
            const int64_t hidden =
                c["group"] == -1 ? c["tiles"] * 40 : c["tiles"] * c["group"];
            grade_whole({c["batch"],
                         c["seq"],
                         hidden,
                         c["group"],
                         static_cast<Affine>(c["affine"]),
                         static_cast<Order>(c["order"]),
                         c["zeros minus one"] == 1});
        }
    }
}

TEST_CASE("a wide row: rings go round") {
    const FewMultiprocessors few(1);
    if (wb::testing::is_watched()) return grade_whole({1, 9, 200});
    grade_whole({1, 66, 264});
    grade_whole({1, 9, 520});
    grade_whole({1, 1, 1544, 8 * 193});
}

TEST_CASE("a wide row: W is cut into parts") {
    // With many multiprocessors few columns are shared by several blocks.
    const FewMultiprocessors few(600);
    if (wb::testing::is_watched()) return grade_whole({1, 2, 200});
    grade_whole({1, 2, 1032});
}

TEST_CASE("a wide row whose columns are sorted") {
    const FewMultiprocessors few(600);
    const bool watched = wb::testing::is_watched();
    grade_whole({1, 2, watched ? 128 : 1024, 32, both, with_bad, false});
}

TEST_CASE("more than a thousand rows") {
    grade_whole({wb::testing::is_watched() ? 7 : 103, 10, 8});
}

TEST_CASE("again in the same arrays, but with another norm") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const Call c{1, 5, 32, 32};
    const GptqWeights w = random_weights(c, 1);
    const auto packed = packed_of(c, w);
    const Rows all = random_rows(c, 4);
    for (const auto& [name, idea, launcher] :
         wb::implementations("layernorm_gptq_qkv", layernorm_gptq_qkv)) {
        Grader grade(name, c.text() + ", again in the same arrays");
        const GptqTensors tensors = tensors_of(grade, w);
        const uint4* const d_packed = grade.input("packed", packed);
        const __half* const x = grade.input("input", all.x);
        const QkvNorm right = {grade.input("norm.weight", all.weight),
                               grade.input("norm.bias", all.bias),
                               all.eps};
        __half* const qkv = grade.output<__half>("qkv", {3, 1, 5, 32});
        const auto expect = [&, launcher = launcher](const QkvNorm& norm,
                                                     const Rows& rows) {
            grade.run([&](cudaStream_t stream) {
                launcher(c.shape(), norm, tensors, d_packed, x, qkv, stream);
            });
            const Expected e = expected_of(c, w, rows, false);
            grade.expect("qkv", e.qkv, [&](int64_t i) { return e.bounds[at(i)]; });
        };
        expect(right, all);
        QkvNorm norm = right;
        Rows rows = all;
        norm.eps = rows.eps = 0.5f;
        expect(norm, rows);
        norm.bias = nullptr;
        rows.bias.clear();
        expect(norm, rows);
        norm.weight = nullptr;
        rows.weight.clear();
        expect(norm, rows);
        expect(right, all);
    }
}

TEST_CASE("several blocks in each direction") {
    const FewMultiprocessors few(1);
    if (wb::testing::is_watched()) return grade_whole({1, 66, 24});
    grade_whole({2, 65, 104});
    grade_whole({1, 70, 64, 32, both, shuffled});
}

TEST_CASE("right in any order of threads and blocks") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    if (wb::testing::is_watched() && seed > 1) return;
    wb::testing::shuffle_threads(seed);
    grade_whole({1, 2, 264}, seed);
    grade_whole({1, 10, 72}, seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_random({1, 3, 64, 32});
        },
        [] {
            grade_random({2, 9, 32, 32, bias_only, shuffled}, 2);
        },
        [] {
            grade_random({1, 3, 64, 32}, 5);
        });
}
