// Grades day02-memory/03-stencil-halo: stencil_1d().
#include "stencil_halo.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>

#include "stencil_cases.h"

namespace {

Sizes line(int64_t n, int64_t radius, int64_t border) {
    return {1, 1, n, static_cast<int>(radius), border_of(border)};
}

}  // namespace

TEST_CASE("a stencil: one block is enough") {
    const int64_t n = GENERATE(1, 5, 31, 32, 33, 128, 200);
    grade_all<Stencil>(line(n, 1, 0));
}

TEST_CASE("a stencil: every radius") {
    const int radius = GENERATE(0, 1, 2, 3, 4);
    grade_all<Stencil>(line(50, radius, 0), GENERATE(1, 2));
}

TEST_CASE("a stencil: where one block ends and the next one begins") {
    const int64_t n = GENERATE(255, 256, 257, 511, 512, 513, 1024, 1031, 4096);
    grade_all<Stencil>(line(n, 2, 0));
    grade_all<Stencil>(line(n, 4, 2));
}

TEST_CASE("a stencil: every border") {
    grade_all<Stencil>(line(GENERATE(20, 300), GENERATE(1, 4), GENERATE(0, 1, 2)));
}

TEST_CASE("a stencil: fewer elements than the radius") {
    grade_all<Stencil>(line(GENERATE(1, 2, 3), 4, GENERATE(0, 1, 2)));
}

TEST_CASE("a stencil: edges meet") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 2, 4, 31, 32, 33, 124, 127, 128, 129, 256, 389})
            .factor("radius", {0, 1, 2, 3, 4})
            .factor("border", {"zero", "clamp", "wrap"})
            .factor("in from", {0, 1, 2, 3})
            .factor("out from", {0, 1, 2, 3})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            Sizes s = line(c["n"], c["radius"], c["border"]);
            s.in_from = c["in from"];
            s.out_from = c["out from"];
            grade_all<Stencil>(s);
        }
}

TEST_CASE("a stencil: many blocks", "[long]") {
    grade_all<Stencil>(line(10'007, 3, 1));
    grade_all<Stencil>(line(65'541, 2, 2));
}

TEST_CASE("a stencil: nothing is kept from call to call") {
    Sizes second = line(300, 2, 1);
    second.in_from = 1;  // and not at a multiple of 16 bytes, as the first one
    wb::testing::expect_independent([] { grade_all<Stencil>(line(40, 2, 0)); },
                                    [&] { grade_all<Stencil>(second, 2); },
                                    [] { grade_all<Stencil>(line(40, 2, 0), 3); });
}

TEST_CASE("a stencil: numbers that are none come no farther than the radius") {
    const Taps taps = {2, {1.0f, -2.0f, 0.0f, 3.0f, 1.0f}};
    grade_special(Stencil(taps), line(70, 2, GENERATE(0, 1, 2)));
}

TEST_CASE("a stencil: a radius of 0 and a weight of 1 copy") {
    const std::vector<float> values = {0.0f, -0.0f, 1e-45f, -1e-38f, 3e38f, 1.0f};
    const Sizes s = line(6, 0, 0);
    for (const auto& [name, idea, launcher] :
         wb::implementations("stencil_1d", stencil_1d))
        grade_values(
            name, launcher, Stencil(Taps{0, {1.0f}}), s, values, "copied", true);
}

TEST_CASE("a stencil: small weights of large numbers count") {
    const Taps taps = {1, {0x1p-60f, 1.0f, 0x1p-60f}};
    grade_small_weights(Stencil(taps), line(GENERATE(6, 70), 1, 0));
}

TEST_CASE("a stencil: all work is queued on the caller's stream") {
    queue_all<Stencil>(line(GENERATE(33, 5000), GENERATE(1, 4), 0));
}

TEST_CASE("a stencil: no elements, and nothing is launched") {
    const Taps taps = some_taps(1, 1);
    Grader("stencil_1d", "n = 0").expect_no_work([&](cudaStream_t stream) {
        stencil_1d(nullptr, nullptr, 0, taps, Border::zero, stream);
    });
    grade_one<Stencil>("stencil_1d", stencil_1d, line(3, 1, 0), 1);  // and then it is
}

TEST_CASE("a stencil: more than 2^31 elements", "[large][serial]") {
    const Taps taps = {1, {2.0f, 3.0f, 5.0f}};
    Grader("stencil_1d", "n = 0").expect_no_work([&](cudaStream_t stream) {
        stencil_1d(nullptr, nullptr, 0, taps, Border::zero, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 threads are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 33;
    wb::testing::LargeArrays arrays(kN, kN);
    if (!arrays.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    arrays.set(int64_t{1} << 31, 1.0f);
    arrays.set(kN - 1, 7.0f);
    constexpr int64_t kPlace = int64_t{1} << 31;
    for (const auto& [name, idea, launcher] :
         wb::implementations("stencil_1d", stencil_1d))
        arrays.expect(name,
                      "n = 2^31 + 33, radius 1, border wrap",
                      {0, kPlace - 1, kPlace, kPlace + 1, kN - 2, kN - 1},
                      {14.0, 5.0, 3.0, 2.0, 35.0, 21.0},
                      [&, launcher = launcher](cudaStream_t stream) {
                          launcher(arrays.x, arrays.y, kN, taps, Border::wrap, stream);
                      });
#endif
}
