// Grades day06-llm-attention/10-hstu-attention: sequences of many kinds, both passes.
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>

using namespace hstu_grading;

namespace {

Types any_type() {
    return GENERATE(fp32, fp16, bf16);
}

}  // namespace

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
    const std::vector<int64_t> lengths[] = {{37}, {5, 0, 1, 34}, {64, 3}, {0, 71, 0}};
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

TEST_CASE("tiles of rows and blocks of keys: spans that end in them") {
    // Lengths around 128 keys, 192 rows, and 64 rows of these.
    if (wb::testing::is_watched()) return;
    const auto type = GENERATE(fp16, bf16);
    const auto mask = GENERATE(HstuMask::full,
                               HstuMask::causal,
                               HstuMask::local,
                               HstuMask::context,
                               HstuMask::target);
    // Windows and contexts of some tiles for one type, of less for the other.
    const bool wide = type == bf16;
    Call c{{193, 0, wide ? 420 : 300, wide ? 9 : 128}};
    c.head_dim = mask == HstuMask::causal || mask == HstuMask::target ? 128 : 64;
    c.mask = mask;
    c.left = wide ? 290 : 150;
    c.right = wide ? 270 : 2;
    c.heads = mask == HstuMask::local ? 2 : 1;
    grade_changed(type,
                  c,
                  1,
                  wide ? ", wide windows, long contexts" : ", seed 1",
                  Passes::both,
                  Versions::last,
                  [&](HstuProblem& p) {
                      if (wide && !p.contexts.empty()) p.contexts = {190, 0, 310, 7};
                      if (wide && !p.targets.empty()) p.targets = {2, 0, 90, 2};
                  });
}

TEST_CASE("tiles of rows and blocks of keys: one long sequence beside short ones") {
    // Too many tiles would be empty if each sequence had as many as the longest. Each
    // multiprocessor goes through many of them.
    if (wb::testing::is_watched()) return;
    const wb::testing::FewMultiprocessors few(2);
    Call c{{7, 0, 450, 1, 1, 2, 3}};
    c.head_dim = 64;
    c.heads = 2;
    grade(GENERATE(fp16, bf16), c, 1, Passes::both, Versions::last);
}

TEST_CASE("tiles of rows and blocks of keys: candidates far behind what they see") {
    // Blocks between the history and a candidate are left out.
    if (wb::testing::is_watched()) return;
    Call c{{600}};
    c.head_dim = 64;
    c.mask = HstuMask::target;
    const int32_t targets = GENERATE(250, 470, 600);
    grade_changed(GENERATE(fp16, bf16),
                  c,
                  1,
                  ", targets " + std::to_string(targets),
                  Passes::both,
                  Versions::last,
                  [&](HstuProblem& p) {
                      p.contexts = {600 - targets};
                      p.targets = {targets};
                  });
}

TEST_CASE("more sequences and more heads than a byte counts, and long contexts") {
    if (wb::testing::is_watched()) return;
    const auto type = any_type();
    Call sequences{std::vector<int64_t>(259, 1)};
    sequences.bias = Bias::both;
    grade(type, sequences, 2, Passes::both, Versions::last);
    Call heads{{2, 1}};
    heads.heads = 260;
    heads.bias = Bias::both;
    grade(type, heads, 2, Passes::both, Versions::last);
    if (type == bf16) {  // v4 counts tiles of its own
        Call tiles{std::vector<int64_t>(259, 2)};
        tiles.head_dim = 64;
        tiles.mask = HstuMask::context;
        grade_changed(type,
                      tiles,
                      2,
                      ", contexts 2 from sequence 128 on",
                      Passes::both,
                      Versions::last,
                      [](HstuProblem& p) {
                          for (std::size_t i = 0; i < p.contexts.size(); ++i)
                              p.contexts[i] = i < 128 ? 0 : 2;
                      });
        heads.lengths = {1};
        heads.bias = Bias::none;
        heads.head_dim = 64;
        grade(type, heads, 2, Passes::forward, Versions::last);
    }
    Call context{{400, 390, 380}};
    for (const HstuMask mask : {HstuMask::context, HstuMask::target}) {
        context.mask = mask;
        grade_changed(type,
                      context,
                      2,
                      ", contexts 300 257 1",
                      Passes::both,
                      Versions::last,
                      [&](HstuProblem& p) {
                          p.contexts = {300, 257, 1};
                          if (mask == HstuMask::target) p.targets = {50, 133, 379};
                      });
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
    grade_changed(any_type(),
                  c,
                  1,
                  ", targets 40 0 1 0",
                  Passes::both,
                  Versions::all,
                  [](HstuProblem& p) {
                      p.contexts = {0, 40, 0, 1};
                      p.targets = {40, 0, 1, 0};
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

TEST_CASE("more than 1024 rows, keys, and intervals in a row") {
    // The last row sees all keys, each by an interval of its own; those before it see
    // none. So v1, too, is done soon.
    if (wb::testing::is_watched()) return;
    Call c{{1100}};
    c.mask = HstuMask::arbitrary;
    c.bias = Bias::positions;
    c.max_distance = 1200;
    grade_changed(GENERATE(fp32, bf16),
                  c,
                  1,
                  ", 1100 intervals in the last row",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      p.intervals.clear();
                      p.offsets.assign(1100, 0);
                      for (int32_t j = 0; j < 1100; ++j)
                          p.intervals.insert(p.intervals.end(), {j, j + 1});
                      p.offsets.push_back(1100);
                  });
}

TEST_CASE("more than 4096 rows and keys of each type", "[long]") {
    // The last row sees all keys, the 42 before it and the first see only the first.
    constexpr int32_t kRows = 4243;
    Call c{{kRows}};
    c.mask = HstuMask::arbitrary;
    grade_changed(
        GENERATE(fp32, fp16, bf16),
        c,
        1,
        ", 4243 rows",
        Passes::both,
        Versions::last,
        [](HstuProblem& p) {
            p.intervals.clear();
            p.offsets.assign(1, 0);
            for (int32_t i = 0; i < kRows; ++i) {
                const int32_t end = i < kRows - 1 ? 1 : kRows;
                if (i == 0 || i >= kRows - 43)
                    p.intervals.insert(p.intervals.end(), {0, end});
                p.offsets.push_back(static_cast<int32_t>(p.intervals.size() / 2));
            }
        });
}

TEST_CASE("more than 24,576 rows of a sequence: 128 tiles of v4", "[large]") {
    // Each row sees itself and the two before it.
    const auto graded = [](int32_t rows) {
        Call c{{rows}};
        c.head_dim = 64;
        c.mask = HstuMask::local;
        c.left = 2;
        c.right = 0;
        grade(bf16, c, 1, Passes::forward, Versions::last);
    };
    graded(3);
#ifdef SIMT_CPU
    WB_SKIP("25,003 rows on tensor cores take the simulator too long");
#else
    graded(25'003);
#endif
}

TEST_CASE("rows that see more than 2^17 keys: 1024 blocks of v4", "[large]") {
    using T = __nv_bfloat16;
    // Only the first key and the last have values: of all others, terms are zeros.
    const auto graded = [](int32_t rows, int64_t left) {
        Call c{{rows}};
        c.head_dim = 64;
        c.mask = HstuMask::local;
        c.left = left;
        c.right = 0;
        HstuProblem p = random_problem<T>(c, 1);
        std::fill(p.v.begin() + 64, p.v.end() - 64, 0.0f);
        Expected e;
        e.o = Wanted(p.q.size(), 64);
        for (const int64_t key : {int64_t{0}, int64_t{rows} - 1})
            for (int64_t row = key; row < std::min<int64_t>(rows, key + left + 1);
                 ++row) {
                const auto [product, size, terms] = wb::reference::product_sum(
                    &p.q[p.head_of(row, 0)], &p.k[p.head_of(key, 0)], 64);
                add_pair<T>(
                    e.o, p, {0, row, key, p.alpha * product, std::abs(p.alpha) * size});
            }
        e.o.finish<T>(1.0 / p.scaling_length);
        const auto all =
            wb::implementations("hstu_attention_bf16", hstu_attention_bf16);
        const auto& [name, idea, run] = all.back();
        grade_forward<T>(name, run, p, e, "bf16, " + c.text() + ", two values");
    };
    graded(500, 300);
#ifdef SIMT_CPU
    WB_SKIP("8.6 billion pairs take the simulator too long");
#else
    graded(131'500, 131'100);
#endif
}

TEST_CASE("times that are as far apart as they can be") {
    Call c{{9}};
    c.mask = HstuMask::full;
    c.bias = Bias::times;
    c.buckets = GENERATE(65, 9);
    grade_changed(
        any_type(),
        c,
        1,
        ", the largest and the smallest timestamps",
        Passes::both,
        Versions::all,
        [](HstuProblem& p) {
            p.timestamps = {
                INT64_MIN, INT64_MAX, 0, -1, 1, 1, INT64_MIN + 1, int64_t{1} << 40, 3};
        });
}

TEST_CASE("scores far from zero: no infinity, no NaN") {
    Call c{{34}};
    c.head_dim = 64;
    c.mask = HstuMask::full;
    const auto type = any_type();
    const float size = GENERATE(4.0f, -4.0f);
    const bool mixed = GENERATE(false, true);
    // But for fp16, past 65504 and past a million, too.
    c.alpha = mixed || type == fp16 ? 1.0f : 0x1p30f;
    const std::string each = (size > 0 ? "2048" : "-2048") +
                             std::string(c.alpha == 1.0f ? "" : " times 2^30");
    grade_changed(type,
                  c,
                  1,
                  ", scores of " + each + (mixed ? ", each second one of 5 or -5" : ""),
                  Passes::both,
                  Versions::all,
                  [&](HstuProblem& p) {
                      std::fill(p.q.begin(), p.q.end(), 8.0f);
                      std::fill(p.k.begin(), p.k.end(), size);
                      for (std::size_t i = 0; mixed && i < p.k.size(); ++i)
                          if (i / 64 % 2 == 1) p.k[i] = size * 0x5p-11f;
                  });
}

TEST_CASE("many terms of one sign: a sum in 16 bits would stand still") {
    // Only the last row sees keys, all of them, with weights near 1: sums in bf16 end
    // at 256, and in fp16 at 2048. The backward pass looks at all pairs: bf16 stands
    // for both.
    const auto type = GENERATE(fp16, bf16);
    const int64_t n = wb::testing::is_watched() ? 70 : type == fp16 ? 2500 : 700;
    Call c{{n}};
    c.mask = HstuMask::arbitrary;
    c.alpha = 1.0f;
    c.scaling_length = n;
    grade_changed(type,
                  c,
                  1,
                  ", one row, terms of one sign",
                  type == fp16 ? Passes::forward : Passes::both,
                  Versions::all,
                  [&](HstuProblem& p) {
                      p.intervals = {0, static_cast<int32_t>(n)};
                      p.offsets.assign(at(n), 0);
                      p.offsets.push_back(1);
                      std::fill(p.q.begin(), p.q.end(), 0.25f);
                      std::fill(p.k.begin(), p.k.end(), 0.25f);
                      std::fill(p.v.begin(), p.v.end(), 1.0f);
                      std::fill(p.d_o.begin(), p.d_o.end(), 1.0f);
                  });
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            Call c{{7, 2}};
            c.bias = Bias::positions;
            grade(bf16, c);
        },
        [] {
            Call c{{0, 40}};
            c.head_dim = 64;
            c.mask = HstuMask::target;
            grade(bf16, c, 2);  // of the same type: each has its own launchers
        },
        [] {
            Call c{{7, 2}};
            c.bias = Bias::positions;
            c.scaling_length = 30;
            grade(bf16, c, 3);
        });
    wb::testing::on_another_device([] {
        grade(bf16, Call{{7, 2}});
        Call c{{7, 2}};
        c.head_dim = 64;
        grade(bf16, c);
    });
}

TEST_CASE("calls have nothing in common: tiles of rows, and a bias after none") {
    wb::testing::expect_independent(
        [] {
            Call c{{0, 40}};
            c.head_dim = 64;
            grade(bf16, c, 1, Passes::forward, Versions::last);
        },
        [] {
            Call c{{3, 0, 0, 1, 390, 0, 0}};  // tiles as they are found: more of them
            c.head_dim = 64;
            c.mask = HstuMask::local;
            grade(bf16, c, 2, Passes::forward, Versions::last);
            c.lengths = {7, 2};
            c.bias = Bias::positions;
            grade(bf16, c, 3, Passes::forward, Versions::last);
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
