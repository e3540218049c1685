// Grades day05-quantization/04-fp4-linear: what is said of weights that were loaded.
#include "../../../day05-quantization/04-fp4-linear/check_weights.h"

#include "grading.h"

using namespace fp4_grading;

namespace {

/// What is said of these weights, which nothing writes. @param said  "" if nothing is
void grade_check(const Call& c, const Fp4Matrix& w, const std::string& said) {
    Grader grade("fp4_check_weights", c.text() + (said.empty() ? "" : ", " + said));
    const Fp4Weights tensors = tensors_of(grade, w);
    grade.run_and_wait([&](cudaStream_t stream) {
        const auto check = [&] { fp4_check_weights(c.shape(), tensors, stream); };
        if (said.empty()) return check();
        wb::testing::expect_refused("fp4_check_weights", c.text(), said, check);
    });
}

std::string scale_is(int64_t place, const char* what) {
    return "w.scales[" + std::to_string(place) + "] is " + what;
}

}  // namespace

TEST_CASE("loaded weights: what quantising makes of numbers is right, zeros too") {
    const Call c{1, 16, 64, any_scales()};
    grade_whole(c);
    auto weights = wb::testing::random_normal(c.N * c.K, 1);
    std::fill(weights.begin() + 64, weights.begin() + 3 * 64, 0.0f);
    std::fill(weights.begin() + 10 * 64, weights.begin() + 10 * 64 + 32, -0.0f);
    const float global = wb::reference::fp4_global_scale(weights);
    const auto quantized = [&] {
        return wb::reference::fp4_quantized(weights, c.N, c.K, c.kind(), global);
    };
    grade_check(c, quantized(), "");
    std::fill(weights.begin(), weights.end(), 0.0f);
    grade_check(c, quantized(), "");
}

TEST_CASE("loaded weights: scales that are of no use are refused by name") {
    const Call c{1, 16, 64, any_scales()};
    grade_whole(c);
    const Fp4Matrix right = exact_weights(c, 1);
    grade_check(c, right, "");
    const int64_t last = c.shape().num_scales() - 1;
    for (const int64_t place : {int64_t{0}, last / 2, last}) {
        Fp4Matrix w = right;
        if (c.scales == Fp4Scales::channel) {
            for (const float wrong : {kNan, kInfinity, -kInfinity}) {
                w.float_scales[at(place)] = wrong;
                grade_check(c,
                            w,
                            scale_is(place,
                                     std::isnan(wrong) ? "NaN"
                                     : wrong > 0.0f    ? "infinity"
                                                       : "-infinity"));
            }
            w.float_scales[at(place)] = 0.0f;
        } else {
            w.byte_scales[at(place)] = c.scales == Fp4Scales::mx ? 0xFF : 0x7F;
            grade_check(c, w, scale_is(place, "NaN"));
            if (c.scales == Fp4Scales::mx) continue;  // has no 0
            w.byte_scales[at(place)] = 0xFF;
            grade_check(c, w, scale_is(place, "NaN"));
            w.byte_scales[at(place)] = 0x80;
        }
        // A scale of 0 is refused for one number of its group, the last one, alone.
        const int64_t group = c.shape().group();
        const auto set = [&](int64_t k, int code) {
            w.set_code(place * group / c.K, (place * group + k) % c.K, code);
        };
        for (int64_t k = 0; k < group; ++k)
            set(k, k % 2 == 0 ? 0 : 8);
        grade_check(c, w, "");
        set(group - 1, 9);
        grade_check(c, w, scale_is(place, "0, but must not be: not all"));
    }
}

TEST_CASE("loaded weights: a global scale that is of no use is refused by name") {
    const Call c{1, 16, 64};
    grade_whole(c);
    Fp4Matrix w = exact_weights(c, 1);
    const auto refuse = [&](float global, const char* what) {
        w.global_scale = global;
        grade_check(c, w, std::string("w.global_scale[0] is ") + what);
    };
    refuse(0.0f, "0, but must not be: not all");
    refuse(kNan, "NaN");
    refuse(kInfinity, "infinity");
    std::fill(w.values.begin(), w.values.end(), uint8_t{0x88});
    w.global_scale = 0.0f;
    grade_check(c, w, "");
}

TEST_CASE("loaded weights: wrong tensors are refused before they are looked at") {
    const Call c{1, 16, 64};
    grade_whole(c);
    Grader grade("fp4_check_weights", c.text());
    const Fp4Weights right = tensors_of(grade, exact_weights(c, 1));
    const auto refuse = [&](const char* part, const Fp4Shape& s, const Fp4Weights& w) {
        wb::testing::expect_refused(
            "fp4_check_weights", part, part, [&] { fp4_check_weights(s, w, nullptr); });
    };
    refuse("fp4_check_weights: shape.K is 48", {1, 16, 48}, right);
    refuse("w.num_scales is 64", {1, 16, 64, Fp4Scales::mx}, right);
    Fp4Weights wrong = right;
    wrong.scales = nullptr;
    refuse("w.scales is a null pointer", c.shape(), wrong);
    fp4_check_weights({1, 0, 64}, {}, nullptr);
    fp4_check_weights({1, 8, 0}, {}, nullptr);
}
