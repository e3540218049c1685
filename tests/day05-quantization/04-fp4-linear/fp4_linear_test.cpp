// Grades day05-quantization/04-fp4-linear: the product, for many sizes.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace fp4_grading;
using wb::testing::FewMultiprocessors;

TEST_CASE("one row of x, eight rows of W") {
    const Fp4Scales scales = any_scales();
    grade_whole({1, 8, 32, scales});
    grade_random({1, 8, 64, scales});
}

TEST_CASE("each code in each place of a word") {
    // Row n begins with the code n % 16; x has one 1 in each of 32 columns.
    const Fp4Scales scales = any_scales();
    const Call c{32, 16, 32, scales};
    Fp4Matrix w = exact_weights(c, 1);
    std::vector<__half> x(at(c.M * c.K), static_cast<__half>(0.0f));
    for (int64_t i = 0; i < 32; ++i)
        x[at(i * 33)] = static_cast<__half>(1.0f);
    for (int64_t n = 0; n < c.N; ++n)
        for (int64_t k = 0; k < c.K; ++k)
            w.set_code(n, k, static_cast<int>((n + (k & 7) * 3) % 16));
    grade_linear(c, w, x, ", each code in each place", true);
}

TEST_CASE("rows of x around the tiles of tensor cores") {
    const auto M = GENERATE(as<int64_t>(), 2, 7, 8, 9, 15, 16, 17, 33);
    grade_random({M, 40, 64, M % 2 == 0 ? Fp4Scales::mx : Fp4Scales::nvfp4});
}

TEST_CASE("as many rows of x as a block has, and one more") {
    const auto M = GENERATE(as<int64_t>(), 64, 65, 129);
    grade_whole({M, wb::testing::is_watched() ? 8 : 40, 32});
}

TEST_CASE("rows of W around the tiles of a block, and 1000 of them") {
    const auto N = GENERATE(as<int64_t>(), 8, 16, 24, 32, 40, 64, 72);
    grade_random({3, N, 64, Fp4Scales::channel});
    if (N == 8 && !wb::testing::is_watched()) grade_whole({2, 1000, 32});
}

TEST_CASE("columns around 128, which a warp takes, and around all warps") {
    const auto K = GENERATE(as<int64_t>(), 32, 64, 96, 128, 160, 416, 992, 1056, 1152);
    const Fp4Scales scales = any_scales();
    if (wb::testing::is_watched() && K > 500) return grade_whole({1, 8, K, scales});
    grade_whole({3, 8, K, scales});
    grade_random({18, 8, K, scales}, 2);
}

TEST_CASE("a row of more than 1024 vectors of 32 columns") {
    grade_whole({1, 8, wb::testing::is_watched() ? 1184 : 32800, any_scales()});
}

TEST_CASE("K = 0: the bias alone") {
    const Fp4Scales scales = any_scales();
    grade_whole({3, 16, 0, scales});
    grade_whole({3, 16, 0, scales, Fp4Activation::none, true});
}

TEST_CASE("activations, with and without a bias") {
    const auto activation =
        GENERATE(Fp4Activation::none, Fp4Activation::silu, Fp4Activation::gelu);
    const bool has_bias = GENERATE(false, true);
    const Fp4Scales scales = any_scales();
    grade_whole({5, 24, 64, scales, activation, has_bias});
    grade_random({5, 24, 64, scales, activation, has_bias});
}

TEST_CASE("edges meet: sizes, scales, activations, bias") {
    static const auto cases = wb::testing::Covering()
                                  .factor("M", {1, 5, 8, 16, 33, 65})
                                  .factor("N", {8, 24, 32, 104})
                                  .factor("K", {32, 96, 128, 160, 544})
                                  .factor("scales", {"channel", "mx", "nvfp4"})
                                  .factor("activation", {"none", "silu", "gelu"})
                                  .factor("bias", {0, 1})
                                  .factor("scales begin", {"even", "odd"})
                                  .cases();
    const bool watched = wb::testing::is_watched();
    for (const auto& c : cases) {
        if (watched && c["M"] * c["N"] * c["K"] > 40000) continue;
        DYNAMIC_SECTION(c.text()) {
            const Call call = {c["M"],
                               c["N"],
                               c["K"],
                               static_cast<Fp4Scales>(c["scales"]),
                               static_cast<Fp4Activation>(c["activation"]),
                               c["bias"] == 1,
                               0.0f,
                               c["scales begin"] == 1};
            grade_whole(call);
        }
    }
}

TEST_CASE("more than a thousand rows of x") {
    const int64_t M = wb::testing::is_watched() ? 100 : 1027;
    grade_whole({M, 8, 32});
}

TEST_CASE("more rows of W, and more rows of x, than 12 bits count") {
    if (wb::testing::is_watched()) return;
    grade_whole({1, 4104, 32, Fp4Scales::nvfp4, Fp4Activation::none, true});
    grade_whole({4099, 8, 32});
}

TEST_CASE("more rows of W, and more rows of x, than 16 bits count", "[long]") {
    if (wb::testing::is_watched()) return;
    for (const Call& c : {Call{1, 65544, 32}, Call{65540, 8, 32}}) {
        const Fp4Matrix w = exact_weights(c, 1);
        const auto x = whole_x(c);
        const Expected expected = expected_of(c, w, x, {}, true);
        grade_one("fp4_linear", fp4_linear, c, w, x, expected, "");
    }
}

TEST_CASE("again in the same arrays, but for what is done with a sum") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    Call c{5, 24, 64};
    c.has_bias = true;
    const Fp4Matrix w = random_weights(c, 1);
    const auto x = random_x(c, 4);
    for (const auto& [name, idea, launcher] :
         wb::implementations("fp4_linear", fp4_linear)) {
        Grader grade(name, c.text() + ", again in the same arrays");
        const Fp4Weights tensors = tensors_of(grade, w);
        const __half* const d_x = grade.input("x", x);
        const float* const bias = grade.input("bias", bias_of(c));
        __half* const y = grade.output<__half>("y", {c.M, c.N});
        const auto expect = [&, launcher = launcher](Fp4Activation activation,
                                                     bool has_bias) {
            Call now = c;
            now.activation = activation;
            now.has_bias = has_bias;
            grade.run([&](cudaStream_t stream) {
                launcher(now.shape(),
                         activation,
                         tensors,
                         d_x,
                         has_bias ? bias : nullptr,
                         y,
                         stream);
            });
            const Expected e = expected_of(now, w, x, bias_of(now), false);
            grade.expect("y", e.y, [&](int64_t i) { return e.bounds[at(i)]; });
        };
        expect(Fp4Activation::none, true);
        expect(Fp4Activation::silu, true);
        expect(Fp4Activation::silu, false);
        expect(Fp4Activation::none, true);
    }
}

TEST_CASE("many rows of W and several blocks in each direction") {
    if (wb::testing::is_watched()) return grade_whole({66, 72, 32});
    grade_whole({66, 136, 32, Fp4Scales::mx});
}

TEST_CASE("more rows of W than two blocks a multiprocessor have") {
    const FewMultiprocessors few(1);
    const Fp4Scales scales = GENERATE(Fp4Scales::channel, Fp4Scales::nvfp4);
    grade_whole({12, 104, 160, scales, Fp4Activation::none, true});
}

TEST_CASE("scales of a byte may begin at an odd address") {
    // Two of them at a time are a misaligned load there: the checker sees it.
    Call c{1, 8, 32, GENERATE(Fp4Scales::mx, Fp4Scales::nvfp4)};
    c.odd_scales = true;
    grade_whole(c);
}

TEST_CASE("right in any order of threads and blocks") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    if (wb::testing::is_watched() && seed > 1) return;
    wb::testing::shuffle_threads(seed);
    grade_whole({2, 40, 160, Fp4Scales::mx}, seed);
    grade_whole({18, 40, 160}, seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_random({3, 40, 96, Fp4Scales::mx});
        },
        [] {
            grade_random({17, 16, 64, Fp4Scales::channel}, 2);
        },
        [] {
            grade_random({3, 40, 96, Fp4Scales::mx}, 5);
        });
}
