// Grades day06-llm-attention/10-hstu-attention: sequences of many kinds, both passes.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/simulator.h>

using namespace hstu_grading;

TEST_CASE("one row sees itself") {
    Call c{{1}};
    c.scaling_length = 1;
    grade(any_type(), c);
}

TEST_CASE("lengths 0, 1 and 200 in one batch") {
    Call c{{0, 1, 200, 0, 33}};
    c.heads = 2;
    if (wb::testing::is_watched()) c = Call{{0, 1, 70, 0, 3}};
    grade(any_type(), c);
}

TEST_CASE("lengths around those of warps and tiles") {
    if (wb::testing::is_watched()) return;  // threads race for tiles, not for rows
    const auto type = any_type();
    Call c{{31, 32, 33, 63}};
    c.bias = Bias::both;
    grade(type, c);
    c.lengths = {64, 65};
    c.mask = HstuMask::full;
    grade(type, c, 2, Passes::both, Versions::last);
}

TEST_CASE("every remainder of a length by 64") {
    if (wb::testing::is_watched()) return;  // threads race for tiles, not for rows
    Call c{{}};
    for (int64_t length = 1; length < 64; ++length)
        c.lengths.push_back(length);
    c.mask = HstuMask::full;
    grade(any_type(), c, 1, Passes::both, Versions::last);
}

TEST_CASE("every head dimension") {
    const auto type = any_type();
    for (const int64_t dim : {32, 64, 128, 256}) {
        Call c{{3, wb::testing::is_watched() ? 8 : 40}};
        c.head_dim = dim;
        grade(type, c);
    }
}

TEST_CASE("edges meet") {
    static const auto cases =
        wb::testing::Covering()
            .factor("type", {"fp32", "fp16", "bf16"})
            .factor("mask",
                    {"full", "causal", "local", "context", "target", "arbitrary"})
            .factor("bias", {"none", "positions", "times", "both"})
            .factor("D", {32, 64, 128, 256})
            .factor("H", {1, 3})
            .factor("lengths", {"one", "many", "tiles", "ends"})
            .factor("alpha", {"usual", "negative", "large", "zero"})
            .factor("N", {1, 70, 4096})
            .factor("window", {"none", "left", "right", "beyond"})
            .factor("M", {0, 3, 200})
            .factor("buckets", {1, 4, 65})
            .triples("type", "mask", "D")
            .cases();
    // Of "many", the first is of the mean length, and no other.
    const std::vector<int64_t> lengths[] = {{37}, {10, 0, 1, 29}, {64, 3}, {0, 71, 0}};
    constexpr float kAlphas[] = {0.0f, -0.2f, 1.5f, 0.0f};
    constexpr int64_t kWindows[][2] = {{0, 0}, {7, 0}, {0, 33}, {1000, 40}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (wb::testing::is_watched() && i >= 8) break;
        const auto& c = cases[i];
        DYNAMIC_SECTION(c.text()) {
            Call call{lengths[c["lengths"]]};
            call.heads = c["H"];
            call.head_dim = c["D"];
            call.mask = static_cast<HstuMask>(c["mask"]);
            call.bias = static_cast<Bias>(c["bias"]);
            call.alpha = kAlphas[c["alpha"]];
            call.scaling_length = c["N"];
            call.left = kWindows[c["window"]][0];
            call.right = kWindows[c["window"]][1];
            call.max_distance = c["M"];
            call.buckets = c["buckets"];
            call.contexts_of_targets = i % 3 != 0;
            // Half of the cases run one pass in all versions, in turn.
            const auto passes = static_cast<Passes>(i % 2);
            grade_changed(static_cast<Types>(c["type"]),
                          call,
                          i + 1,
                          ", " + c.text(),
                          passes,
                          i % 3 == 2 ? Versions::last : Versions::all,
                          [&](HstuProblem& p) {
                              if (c.words("alpha") == "zero") p.alpha = 0.0;
                          });
        }
    }
}

TEST_CASE("rows that see nothing give zeros") {
    Call c{{70, 3}};
    c.mask = HstuMask::arbitrary;
    c.bias = Bias::both;
    const bool some = GENERATE(false, true);
    grade_changed(any_type(),
                  c,
                  1,
                  some ? ", one row sees one key" : ", no row sees a key",
                  Passes::both,
                  Versions::all,
                  [&](HstuProblem& p) {
                      p.intervals = {41, 42};
                      p.offsets.assign(74, 0);
                      if (some) std::fill(p.offsets.begin() + 67, p.offsets.end(), 1);
                      if (!some) p.intervals.clear();
                  });
}

TEST_CASE("nobody but candidates, and no candidate") {
    Call c{{40, 40, 1, 1}};
    c.mask = HstuMask::target;
    const auto [text, contexts, targets] =
        GENERATE(table<std::string, std::vector<int32_t>, std::vector<int32_t>>(
            {{", targets 40 0 1 0", {0, 40, 0, 1}, {40, 0, 1, 0}},
             {", no candidate in any sequence", {7, 40, 0, 1}, {0, 0, 0, 0}},
             {", all rows are candidates", {0, 0, 0, 0}, {40, 40, 1, 1}}}));
    // Accesses of the other lists are those of the first.
    if (wb::testing::is_watched() && targets != std::vector{40, 0, 1, 0}) return;
    grade_changed(any_type(),
                  c,
                  1,
                  text,
                  Passes::both,
                  Versions::all,
                  [&, contexts = contexts, targets = targets](HstuProblem& p) {
                      p.contexts = contexts;
                      p.targets = targets;
                  });
}

TEST_CASE("many intervals in a row, which touch or have one key") {
    Call c{{150}};
    c.mask = HstuMask::arbitrary;
    grade_changed(
        any_type(),
        c,
        1,
        ", 75 intervals of a key each, and one of two that touch",
        Passes::both,
        Versions::last,
        [](HstuProblem& p) {
            p.intervals.clear();
            p.offsets.assign(1, 0);
            for (int32_t i = 0; i < 150; ++i) {
                if (i == 100)
                    for (int32_t j = 0; j < 150; j += 2)
                        p.intervals.insert(p.intervals.end(), {j, j + 1});
                if (i == 149) p.intervals.insert(p.intervals.end(), {0, 75, 75, 150});
                p.offsets.push_back(static_cast<int32_t>(p.intervals.size() / 2));
            }
        });
}

TEST_CASE("gradients are the finite differences of the output") {
    Call c{{6, 0, 5}};
    c.heads = 2;
    c.mask = GENERATE(HstuMask::context, HstuMask::target, HstuMask::local);
    c.bias = Bias::both;
    HstuProblem p = random_problem<float>(c, 3);
    for (float& x : p.v)
        x = std::clamp(x, -3.0f, 3.0f);
    const Expected e = expect_backward<float>(p);
    const auto loss = [&] {
        const auto o = wb::reference::hstu_forward(p);
        double sum = 0.0;
        for (std::size_t i = 0; i < o.size(); ++i)
            sum += o[i] * double{p.d_o[i]};
        return sum;
    };
    const auto check = [&](std::vector<float>& numbers, const Wanted& gradient) {
        for (std::size_t i = 0; i < numbers.size(); i += numbers.size() / 20 + 1) {
            const float x = numbers[i];
            constexpr float kStep = 0x1p-9f;
            numbers[i] = x + kStep;
            const double up = loss();
            const double up_at = numbers[i];
            numbers[i] = x - kStep;
            const double down = loss();
            const double slope = (up - down) / (up_at - double{numbers[i]});
            numbers[i] = x;
            // The third derivative is small beside 1 / step^2, and N is 70.
            REQUIRE(std::abs(slope - gradient.values[i]) < 1e-5);
        }
    };
    check(p.q, e.dq);
    check(p.k, e.dk);
    check(p.v, e.dv);
    check(p.positions, e.d_positions);
    check(p.times, e.d_times);
    grade(fp32, c, 3, Passes::backward);
}
