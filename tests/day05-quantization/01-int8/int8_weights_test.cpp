// Grades day05-quantization/01-int8: what is said of weights that were loaded.
#include "../../../day05-quantization/01-int8/check_weights.h"

#include "grading.h"

using namespace int8_grading;

namespace {

constexpr Int8Shape kShape = {1, 16, 48};

/// What is said of these weights, which nothing writes. @param said  "" if nothing is
void grade_check(const std::vector<int8_t>& w,
                 const std::vector<float>& scales,
                 const std::string& said) {
    Grader grade("int8_check_weights", said.empty() ? "right weights" : said);
    Int8Inputs in = {};
    in.w = grade.input("in.w", w);
    in.w_scales = grade.input("in.w_scales", scales);
    grade.run_and_wait([&](cudaStream_t stream) {
        const auto check = [&] { int8_check_weights(kShape, in, stream); };
        if (said.empty()) return check();
        wb::testing::expect_refused("int8_check_weights", said, said, check);
    });
}

}  // namespace

TEST_CASE("loaded weights: what quantising makes of numbers is right, zeros too") {
    grade_whole({1, 8, 16}, false, false);
    auto x = random_rows(kShape.N, kShape.K, 1);
    std::fill(x.begin() + 48, x.begin() + 3 * 48, static_cast<__nv_bfloat16>(0.0f));
    const Int8Rows rows = wb::reference::int8_quantized(x, kShape.K, true);
    CHECK(rows.scales[1] == 0.0f);
    grade_check(rows.q, rows.scales, "");
}

TEST_CASE("loaded weights: scales that are of no use are refused by name") {
    grade_whole({1, 8, 16}, false, false);
    const Int8Rows right =
        wb::reference::int8_quantized(random_rows(kShape.N, kShape.K, 1), 48, true);
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const int64_t row : {int64_t{0}, int64_t{7}, kShape.N - 1}) {
        const std::string name = "in.w_scales[" + std::to_string(row) + "] is ";
        const auto refuse = [&](float wrong, const char* what) {
            auto scales = right.scales;
            scales[at(row)] = wrong;
            grade_check(right.q, scales, name + what);
        };
        refuse(nan, "NaN");
        refuse(infinity, "infinity");
        refuse(-infinity, "-infinity");
        refuse(0.0f, "0, but must not be: not all");
        refuse(-0.0f, "0, but must not be: not all");
        // One number of the row is enough, -128 too, whose low bits are all 0.
        auto scales = right.scales;
        auto w = right.q;
        scales[at(row)] = 0.0f;
        std::fill(w.begin() + row * 48, w.begin() + row * 48 + 48, int8_t{0});
        grade_check(w, scales, "");
        w[at(row * 48 + 47)] = -128;
        grade_check(w, scales, name + "0");
    }
}

TEST_CASE("loaded weights: wrong arguments are refused before they are looked at") {
    grade_whole({1, 8, 16}, false, false);
    Grader grade("int8_check_weights", "wrong arguments");
    Int8Inputs in = {};
    in.w = grade.input("in.w", std::vector<int8_t>(16 * 48));
    in.w_scales = grade.input("in.w_scales", std::vector<float>(32));
    const auto refuse = [&](const char* part, const Int8Shape& s, const Int8Inputs& i) {
        wb::testing::expect_refused("int8_check_weights", part, part, [&] {
            int8_check_weights(s, i, nullptr);
        });
    };
    refuse("int8_check_weights: shape.N is 12", {1, 12, 48}, in);
    refuse("shape.K is 40", {1, 16, 40}, in);
    refuse("shape.K is 65552", {1, 16, (1 << 16) + 16}, in);
    Int8Inputs wrong = in;
    wrong.w = nullptr;
    refuse("in.w is a null pointer", kShape, wrong);
    wrong = in;
    wrong.w_scales += 1;
    refuse("in.w_scales is", kShape, wrong);
    wrong.w_scales = nullptr;
    refuse("in.w_scales is a null pointer", kShape, wrong);
    int8_check_weights({1, 0, 48}, {}, nullptr);
    int8_check_weights({1, 16, 0}, {}, nullptr);
}
