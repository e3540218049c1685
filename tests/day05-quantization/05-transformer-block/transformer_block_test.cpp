// Grades day05-quantization/05-transformer-block: whole sequences, and steps.
#include "run.h"

#include <wb/testing/independent_calls.h>

using namespace block_grading;

namespace {

Sizes sizes(NormPlace place, int64_t heads, int64_t head_dim, int64_t d_ff) {
    Sizes s;
    s.place = place;
    s.heads = heads;
    s.head_dim = head_dim;
    s.d_ff = d_ff;
    return s;
}

NormPlace any_place() {
    return GENERATE(NormPlace::pre, NormPlace::post);
}

}  // namespace

TEST_CASE("one sequence, pre") {
    grade_forward({}, {{5}}, false);
}

TEST_CASE("one step of one sequence, pre") {
    grade_decode({}, {3});
}

TEST_CASE("one sequence, and one step, post") {
    const Sizes s = sizes(NormPlace::post, 1, 64, 96);
    SECTION("forward") {
        grade_forward(s, {{5}}, false);
    }
    SECTION("decode") {
        grade_decode(s, {3});
    }
}

TEST_CASE("the first token of a sequence sees itself alone") {
    grade_decode(sizes(any_place(), 2, 64, 96), {0});
}

TEST_CASE("sequences of different lengths, several heads", "[large]") {
    Sizes s = sizes(any_place(), 3, 64, 96);
    s.activation = Activation::silu;
    grade_forward(s, {{1, 19, 0, 7}}, false);
}

TEST_CASE("a token may see those behind it") {
    Tokens t = {{4, 9}};
    t.causal = false;
    SECTION("without a cache") {
        grade_forward(sizes(any_place(), 2, 64, 64), t, false);
    }
    SECTION("with a cache") {
        grade_forward(sizes(any_place(), 1, 64, 64), t, true);
    }
}

TEST_CASE("whole sequences fill the cache, in pages of any order") {
    Sizes s = sizes(NormPlace::pre, 2, 64, 64);
    s.rotary_dim = GENERATE(0, 16);
    grade_forward(s, {{17, 3, 32}}, true);
}

TEST_CASE("whole sequences of more than 256 tokens, and more than 64 sequences") {
    Sizes s = sizes(NormPlace::pre, 1, 64, 32);
    s.rotary_dim = 32;
    SECTION("tokens") {
        grade_forward(s, {{3, 270}}, true, 64);
    }
    SECTION("sequences") {
        grade_forward(s, {std::vector<int64_t>(70, 1)}, true);
    }
}

TEST_CASE("numbers that are far from zero") {
    Sizes s = sizes(any_place(), 1, 64, 64);
    s.positive = s.place == NormPlace::pre;
    grade_decode(s, {3, 4}, 16, 1, 30.0f);
}

TEST_CASE("heads of 128") {
    Sizes s = sizes(any_place(), 1, 128, 64);
    s.rotary_dim = 128;
    SECTION("forward") {
        grade_forward(s, {{6, 2}}, true, 32);
    }
    SECTION("decode") {
        grade_decode(s, {31, 32, 0}, 32);
    }
}

TEST_CASE("steps of sequences of different lengths") {
    Sizes s = sizes(any_place(), 2, 64, 96);
    s.rotary_dim = s.place == NormPlace::pre ? GENERATE(0, 64) : 32;
    grade_decode(s, {0, 1, 15, 16, 31, 70});
}

TEST_CASE("eight sequences, and nine, a step each", "[large]") {
    const Sizes s = sizes(NormPlace::post, 1, 64, 64);
    SECTION("eight") {
        grade_decode(s, {5, 0, 16, 2, 33, 1, 7, 3});
    }
    SECTION("nine") {
        grade_decode(s, {5, 0, 16, 2, 33, 1, 7, 3, 4});
    }
}

TEST_CASE("a step behind many tokens") {
    // More keys than one round of any version has: 256, and a few behind them.
    // Without outliers and without turning, so that little is allowed.
    grade_decode(sizes(NormPlace::pre, 1, 64, 32), {261, 1300}, 64, 1, 0.5f);
}

TEST_CASE("a new token turns by its position, however far that is") {
    Sizes s = sizes(NormPlace::pre, 1, 64, 32);
    s.rotary_dim = 64;
    grade_decode(s, {261, 1300}, 64);
}

TEST_CASE("a step of more sequences than a block has threads") {
    std::vector<int32_t> lengths(259, 1);
    lengths[256] = 0;
    lengths[258] = 5;
    grade_decode(sizes(NormPlace::pre, 1, 64, 32), lengths);
}

TEST_CASE("scores that are hundreds apart") {
    grade_decode(sizes(any_place(), 1, 64, 32), {200, 7}, 16, 1, 0.0f, 100.0);
}

TEST_CASE("hidden numbers beyond the largest of fp16") {
    Sizes s = sizes(NormPlace::pre, 1, 64, 32);
    s.activation = Activation::none;
    s.up_bias = 1e6;
    SECTION("forward") {
        grade_forward(s, {{3}}, false);
    }
    SECTION("decode") {
        grade_decode(s, {3});
    }
}

TEST_CASE("heads of 128, then of 64: nothing is kept") {
    grade_decode(sizes(NormPlace::pre, 1, 128, 32), {2});
    grade_decode(sizes(NormPlace::post, 1, 64, 32), {2});
}

TEST_CASE("calls have nothing in common") {
    const auto grade = [](NormPlace place, Activation activation, int64_t tokens) {
        Sizes s = sizes(place, 1, 64, 32);
        s.activation = activation;
        grade_forward(s, {{tokens, 1}}, true);
        grade_decode(s, {1, static_cast<int32_t>(tokens)});
    };
    wb::testing::expect_independent(
        [&] { grade(NormPlace::pre, Activation::none, 2); },
        [&] { grade(NormPlace::post, Activation::silu, 3); });
}

TEST_CASE("more numbers of a token than a round of a warp's loads", "[large]") {
    Sizes s = sizes(NormPlace::pre, 9, 128, 32);
    s.is_large = true;
    s.positive = GENERATE(true, false);
    grade_decode(s, {1}, 16, 1, s.positive ? 300.0f : 0.0f);
}

TEST_CASE("each activation, without biases", "[large]") {
    Sizes s = sizes(NormPlace::pre, 1, 64, 64);
    s.activation = GENERATE(Activation::none, Activation::silu, Activation::gelu);
    s.has_bias = false;
    SECTION("forward") {
        grade_forward(s, {{9}}, false);
    }
    SECTION("decode") {
        grade_decode(s, {2, 4});
    }
}

TEST_CASE("more hidden numbers than a round of a warp's loads") {
    Sizes s = sizes(NormPlace::pre, 1, 64, 1088);
    grade_decode(s, {2});
}

TEST_CASE("several seeds, a large eps", "[large]") {
    Sizes s = sizes(any_place(), 2, 64, 64);
    s.eps = 0.5f;
    const uint64_t seed = s.place == NormPlace::pre ? 2 : 3;
    SECTION("forward") {
        grade_forward(s, {{12}}, false, 16, seed);
    }
    SECTION("decode") {
        grade_decode(s, {12}, 16, seed);
    }
}
