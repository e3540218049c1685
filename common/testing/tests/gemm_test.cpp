// Tests wb/gemm.h and the reference that day 4 is graded with.
#include <wb/errors.h>
#include <wb/gemm.h>
#include <wb/reference/gemm.h>
#include <wb/testing/catch.h>

#include <cmath>
#include <limits>
#include <string>

using wb::GemmShape;

namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

/// [2, 3] times [3, 2].
const std::vector<float> kA = {1, 2, 3, 4, 5, 6};
const std::vector<float> kATransposed = {1, 4, 2, 5, 3, 6};
const std::vector<float> kB = {1, 0, -1, 2, 0, 1};
const std::vector<float> kBTransposed = {1, -1, 0, 0, 2, 1};
const std::vector<double> kProduct = {-1, 7, -1, 16};

}  // namespace

TEST_CASE("gemm: the reference's product, with each operand either way") {
    const bool ta = GENERATE(false, true);
    const bool tb = GENERATE(false, true);
    const GemmShape s = GemmShape{2, 2, 3, ta, tb}.packed();
    const auto result = wb::reference::gemm(s,
                                            1.0,
                                            ta ? kATransposed : kA,
                                            tb ? kBTransposed : kB,
                                            0.0,
                                            {kNoNumber, 1, 2, 3});
    CHECK(result.c == kProduct);
    CHECK(result.magnitude == std::vector<double>{3, 7, 9, 16});
}

TEST_CASE("gemm: gaps between rows are not read, and stay") {
    const GemmShape s{2, 2, 3, true, false, 3, 4, 5};
    const std::vector<float> a = {1, 4, kNoNumber, 2, 5, kNoNumber, 3, 6};
    const std::vector<float> b = {
        1, 0, kNoNumber, kNoNumber, -1, 2, kNoNumber, kNoNumber, 0, 1};
    const std::vector<float> c = {10, 20, 7, 8, 9, 30, 40};
    CHECK(s.elements_of_a() == 8);
    CHECK(s.elements_of_b() == 10);
    CHECK(s.elements_of_c() == 7);
    const auto result = wb::reference::gemm(s, 2.0, a, b, -1.0, c);
    CHECK(result.c == std::vector<double>{-12, -6, 7, 8, 9, -32, -8});
    CHECK(result.magnitude == std::vector<double>{16, 34, 0, 0, 0, 48, 72});
}

TEST_CASE("gemm: what a factor of 0 leaves out may be NaN") {
    const GemmShape s = GemmShape{1, 1, 1}.packed();
    CHECK(wb::reference::gemm(s, 0.0, {kNoNumber}, {kNoNumber}, 3.0, {2}).c[0] == 6.0);
    CHECK(wb::reference::gemm(s, 2.0, {3}, {4}, 0.0, {kNoNumber}).c[0] == 24.0);
    CHECK(std::isnan(wb::reference::gemm(s, 1.0, {0}, {kNoNumber}, 0.0, {1}).c[0]));
    const GemmShape none = GemmShape{1, 1, 0}.packed();
    CHECK(wb::reference::gemm(none, 2.0, {}, {}, 3.0, {2}).c[0] == 6.0);
}

TEST_CASE("gemm: wrong sizes and layouts are refused by name") {
    const auto refused = [](const GemmShape& s) -> std::string {
        try {
            wb::check_gemm_shape(wb::Arguments("gemm"), s, 4, 4);
        } catch (const wb::InvalidArgument& error) {
            return error.what();
        }
        return "";
    };
    const auto refuses = [&](const GemmShape& s, const std::string& part) {
        INFO(part);
        CHECK(refused(s).find(part) != std::string::npos);
    };
    constexpr int64_t kHuge = (int64_t{1} << 30) + 1;
    CHECK(refused(GemmShape{2, 3, 4}.packed()).empty());
    CHECK(refused(GemmShape{0, 0, 0}).empty());
    refuses({-1, 3, 4, false, false, 9, 9, 9}, "shape.M is -1");
    refuses({2, -3, 4, false, false, 9, 9, 9}, "shape.N is -3");
    refuses({2, 3, -4, false, false, 9, 9, 9}, "shape.K is -4");
    refuses(GemmShape{kHuge, 1, 1}.packed(), "shape.M is 1073741825");
    refuses(GemmShape{1, kHuge, 1}.packed(), "shape.N is 1073741825");
    refuses(GemmShape{1, 1, kHuge}.packed(), "shape.K is 1073741825");
    refuses({2, 3, 4, false, false, 3, 3, 3}, "shape.lda is 3, but must be >= 4");
    refuses({2, 3, 4, true, false, 1, 3, 3}, "shape.lda is 1, but must be >= 2");
    refuses({2, 3, 4, false, false, 4, 2, 3}, "shape.ldb is 2, but must be >= 3");
    refuses({2, 3, 4, false, true, 4, 3, 3}, "shape.ldb is 3, but must be >= 4");
    refuses({2, 3, 4, false, false, 4, 3, 2}, "shape.ldc is 2, but must be >= 3");
    constexpr int64_t kFar = int64_t{1} << 60;
    refuses({2, 3, 4, false, false, kFar, 3, 3}, "rows * lda * bytes = 2 * ");
    refuses({2, 3, 4, false, false, 4, kFar, 3}, "rows * ldb * bytes = 4 * ");
    refuses({2, 3, 4, false, false, 4, 3, kFar}, "rows * ldc * bytes = 2 * ");
}
