// Grades day05-quantization/01-int8: the product, for many sizes and numbers.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace int8_grading;

TEST_CASE("product: one row, one step") {
    grade_whole({1, 8, 16}, false, false);
    grade_whole({1, 8, 16}, true, false);
    grade_whole({1, 8, 16}, false, true);
    grade_random({1, 8, 16}, true, true);
}

TEST_CASE("product: rows around the tiles of tensor cores") {
    const auto M = GENERATE(as<int64_t>(), 2, 7, 8, 9, 15, 16, 17, 63, 64, 65);
    grade_whole({M, 24, 48}, true, true);
}

TEST_CASE("product: columns around tiles") {
    const auto N = GENERATE(as<int64_t>(), 8, 24, 32, 56, 64, 72, 120, 136);
    grade_random({3, N, 48}, N % 16 == 8, true);
}

TEST_CASE("product: K around a step, a stage and a ring") {
    const auto K =
        GENERATE(as<int64_t>(), 16, 32, 48, 64, 80, 128, 144, 192, 208, 256, 272, 528);
    grade_whole({3, 8, K}, false, K % 32 == 16);
}

TEST_CASE("product: as many rows and columns as a block has, and one more") {
    if (wb::testing::is_watched()) return grade_whole({65, 8, 16}, true, true);
    const FewMultiprocessors few(GENERATE(1, 132));
    grade_whole({128, 128, 64}, false, false);
    grade_whole({129, 136, 80}, true, true);
    grade_whole({130, 264, 16}, true, true);
}

TEST_CASE("product: K = 0: rows of y are the bias, or 0") {
    Layer layer = whole_layer({3, 16, 0}, false, GENERATE(false, true));
    layer.x_scales.clear();  // null pointers
    layer.w_scales.clear();
    grade_layer(layer, exact_of(layer), "");
}

TEST_CASE("product: edges meet") {
    static const auto cases = wb::testing::Covering()
                                  .factor("M", {1, 5, 16, 33, 64, 130})
                                  .factor("N", {8, 40, 128, 136, 264})
                                  .factor("K", {16, 64, 144, 272, 400})
                                  .factor("zeros", {0, 1})
                                  .factor("bias", {0, 1})
                                  .factor("multiprocessors", {1, 132})
                                  .cases();
    const bool watched = wb::testing::is_watched();
    for (const auto& c : cases) {
        if (watched && c["M"] * c["N"] * c["K"] > 20000) continue;
        DYNAMIC_SECTION(c.text()) {
            const FewMultiprocessors few(static_cast<int>(c["multiprocessors"]));
            grade_whole({c["M"], c["N"], c["K"]}, c["zeros"] == 1, c["bias"] == 1);
        }
    }
}

TEST_CASE("product: sums are exact, however large") {
    // Each row has its zero, and w_sums are chosen such that what is left is small: of
    // sums beyond 2^24, which no float holds, the last digit counts.
    const Int8Shape shape = {4, 8, GENERATE(as<int64_t>(), 2064, 4112)};
    if (wb::testing::is_watched() && shape.K > 3000) return;
    Layer layer = random_layer(shape, false, false, 3);
    for (int64_t m = 0; m < shape.M; ++m)  // rows are the first one, or its negative
        for (int64_t k = 0; k < shape.K; ++k) {
            const int x = std::max<int>(layer.x[at(k)], -127);
            layer.x[at(m * shape.K + k)] = static_cast<int8_t>(m % 2 == 0 ? x : -x);
        }
    // Signs alike: sums of 40 million.
    for (int64_t n = 0; n < shape.N; ++n)
        for (int64_t k = 0; k < shape.K; ++k) {
            int8_t& w = layer.w[at(n * shape.K + k)];
            if ((layer.x[at(k)] < 0) != (w < 0)) w = static_cast<int8_t>(-w);
        }
    layer.x_scales.assign(at(shape.M), 1.0f);
    layer.w_scales.assign(at(shape.N), 1.0f);
    const auto sums = layer.sums();
    for (int64_t m = 0; m < shape.M; ++m)
        layer.x_zeros.push_back(m % 2 == 0 ? 1 : -1);
    for (int64_t n = 0; n < shape.N; ++n)
        layer.w_sums.push_back(static_cast<int32_t>(sums[at(n)] - 101 - 2 * n));
    grade_layer(layer, exact_of(layer), ", sums of millions less what is near them");
}

TEST_CASE("product: the largest bytes of all, and the longest rows") {
    const bool watched = wb::testing::is_watched();
    const Int8Shape shape = {2, 8, watched ? 1024 : int64_t{1} << 16};
    Layer layer = whole_layer(shape, false, false);
    std::fill(layer.x.begin(), layer.x.end(), int8_t{-128});
    std::fill(layer.w.begin(), layer.w.end(), int8_t{-128});
    std::fill(layer.x.begin() + shape.K, layer.x.end(), int8_t{127});
    layer.x_zeros = {127, -128};
    layer.add_sums();
    grade_layer(layer, exact_of(layer), ", all bytes -128, zeros at both ends");
}

TEST_CASE("product: scales of 0, infinity and NaN stay in their row and column") {
    const Int8Shape shape = {GENERATE(as<int64_t>(), 5, 20), 24, 48};
    Layer layer = whole_layer(shape, true, true);
    // No sum is 0, or infinity times it would be NaN.
    std::fill(layer.x.begin(), layer.x.end(), int8_t{3});
    std::fill(layer.w.begin(), layer.w.end(), int8_t{1});
    layer.w_sums.assign(at(shape.N), 48);
    layer.x_scales[0] = std::numeric_limits<float>::quiet_NaN();
    layer.x_scales[2] = 0.0f;
    layer.x_scales[4] = std::numeric_limits<float>::infinity();
    layer.w_scales[5] = std::numeric_limits<float>::quiet_NaN();
    layer.w_scales[14] = 0.0f;
    layer.w_scales[17] = -std::numeric_limits<float>::infinity();
    grade_layer(layer, exact_of(layer), ", scales of NaN, infinity and 0");
}

TEST_CASE("product: y of all sizes, and beyond the largest number") {
    const Int8Shape shape = {4, 8, 32};
    Layer layer = random_layer(shape, true, false, 7);
    const float sizes[] = {0x1p-126f, 0x1p40f, 0x1p100f, 1.0f};  // y of 2^-129, too
    for (int64_t m = 0; m < shape.M; ++m)
        layer.x_scales[at(m)] = sizes[m];
    for (int64_t n = 0; n < shape.N; ++n)
        layer.w_scales[at(n)] = n % 2 == 0 ? 0x1p-20f : 0x1p50f;
    Expected expected = expected_of(layer);
    for (int64_t i = 0; i < shape.M * shape.N; ++i)
        if (std::abs(expected.y[at(i)]) > 3.4e38) {
            expected.y[at(i)] = std::copysign(std::numeric_limits<double>::infinity(),
                                              expected.y[at(i)]);
            expected.bounds[at(i)] = 0.0;
        }
    grade_layer(layer, expected, ", scales of all sizes");
}

TEST_CASE("product: quantised rows give nearly the product of the numbers") {
    const Int8Shape shape = {9, 24, 128};
    const auto x = random_rows(shape.M, shape.K, 1);
    const auto w = random_rows(shape.N, shape.K, 2);
    const bool is_symmetric = GENERATE(true, false);
    const auto rows = wb::reference::int8_quantized(x, shape.K, is_symmetric);
    const auto columns = wb::reference::int8_quantized(w, shape.K, true);
    Layer layer = {shape,
                   rows.q,
                   rows.scales,
                   is_symmetric ? std::vector<int32_t>() : rows.zeros,
                   columns.q,
                   columns.scales,
                   is_symmetric ? std::vector<int32_t>() : columns.sums,
                   {}};
    const Expected expected = expected_of(layer);
    // Half a scale for each number of either, or a whole one at a row's ends.
    for (int64_t i = 0; i < shape.M * shape.N; ++i) {
        double exact = 0.0;
        double allowed = 0.0;
        for (int64_t k = 0; k < shape.K; ++k) {
            const double a = static_cast<double>(
                static_cast<float>(x[at(i / shape.N * shape.K + k)]));
            const double b = static_cast<double>(
                static_cast<float>(w[at(i % shape.N * shape.K + k)]));
            const double da = 1.01 * rows.scales[at(i / shape.N)];
            const double db = 0.501 * columns.scales[at(i % shape.N)];
            exact += a * b;
            allowed += std::abs(a) * db + std::abs(b) * da + da * db;
        }
        CHECK(std::abs(expected.y[at(i)] - exact) <= allowed);
    }
    grade_layer(layer, expected, ", quantised");
}

TEST_CASE("product: more than a thousand rows, and columns") {
    const bool watched = wb::testing::is_watched();
    grade_whole({watched ? 70 : 1027, 8, 16}, true, true);
    grade_whole({2, watched ? 72 : 1032, 16}, true, true);
}

TEST_CASE("product: more than 128 blocks of 128 columns") {
    grade_whole({1, wb::testing::is_watched() ? 264 : 16520, 16}, true, true);
}

TEST_CASE("product: more rows, or columns, than 16 bits count", "[long]") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const Layer rows = whole_layer({65552, 8, 16}, true, false);
    grade_one("int8_matmul", int8_matmul, rows, exact_of(rows), "");
    const Layer columns = whole_layer({1, 65552, 16}, false, true);
    grade_one("int8_matmul", int8_matmul, columns, exact_of(columns), "");
}

TEST_CASE("product: again in the same arrays, but for one of them") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const Layer all = whole_layer({5, 24, 32}, true, true);
    Layer other = all;
    for (float& scale : other.x_scales)
        scale *= 2.0f;
    for (const auto& [name, idea, launcher] :
         wb::implementations("int8_matmul", int8_matmul)) {
        Grader grade(name, all.text() + ", again in the same arrays");
        const Int8Inputs in = inputs_of(grade, all);
        const float* const scales = grade.input("other x_scales", other.x_scales);
        __nv_bfloat16* const y = grade.output<__nv_bfloat16>("y", {5, 24});
        const auto expect = [&, launcher = launcher](const Int8Inputs& now,
                                                     const Layer& layer) {
            grade.run([&](cudaStream_t s) { launcher(layer.shape, now, y, s); });
            grade.expect("y", exact_of(layer).y, [](int64_t) { return 0.0; });
        };
        expect(in, all);
        Int8Inputs now = in;
        now.x_scales = scales;
        expect(now, other);
        now = in;
        now.x_zeros = nullptr;
        Layer without = all;
        without.x_zeros.clear();
        expect(now, without);
        now.bias = nullptr;
        without.bias.clear();
        expect(now, without);
        expect(in, all);
    }
}

TEST_CASE("product: calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_random({3, 40, 96}, true, true);
        },
        [] {
            grade_random({17, 16, 64}, false, false, 2);
        });
}
