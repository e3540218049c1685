// Grades day06-llm-attention/10-hstu-attention: scores, weights, gradients
// and times that are far from zero, or near it.
#include "grading.h"

#include <wb/testing/simulator.h>

using namespace hstu_grading;

namespace {

/// Multiplies numbers by 2^power, and rounds them to the type; for fp32 to bf16, which
/// has as small ones, and as large ones.
void scale(Types type, std::vector<float>& numbers, int power) {
    for (float& x : numbers) {
        const float scaled = std::ldexp(x, power);
        x = type == fp16 ? static_cast<float>(static_cast<__half>(scaled))
                         : static_cast<float>(static_cast<__nv_bfloat16>(scaled));
    }
}

}  // namespace

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

TEST_CASE("scores far from zero: no infinity, no NaN", "[values]") {
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

TEST_CASE("many rows see one key: its sums in 16 bits lose what they are given") {
    // All rows are alike, and their columns are not: each column of dk and dv is a
    // number of terms of one sign.
    if (wb::testing::is_watched()) return;
    constexpr int64_t kRows = 1000;
    Call c{{kRows}};
    c.mask = HstuMask::arbitrary;
    c.head_dim = 64;
    grade_changed(bf16,
                  c,
                  1,
                  ", all rows are alike and see one key",
                  Passes::backward,
                  Versions::last,
                  [](HstuProblem& p) {
                      p.intervals.clear();
                      p.offsets = {0};
                      for (int32_t i = 0; i < kRows; ++i) {
                          p.intervals.insert(p.intervals.end(), {0, 1});
                          p.offsets.push_back(i + 1);
                      }
                      for (std::size_t i = 64; i < p.q.size(); ++i) {
                          p.q[i] = p.q[i % 64];
                          p.d_o[i] = p.d_o[i % 64];
                      }
                  });
}

TEST_CASE("rows that see one key: each weight and each slope by itself") {
    // Scores from -15 to 15. In a sum over keys, large weights hide what small ones
    // lack: those of scores below -10, and slopes near -1.28, where they are 0.
    if (wb::testing::is_watched()) return;
    constexpr int64_t kRows = 301;
    Call c{{kRows}};
    c.mask = HstuMask::local;
    c.left = c.right = 0;
    c.alpha = 0.25f;
    c.head_dim = GENERATE(32, 64);
    c.bias = GENERATE(Bias::none, Bias::both);
    const auto type = any_type();
    grade_changed(type,
                  c,
                  1,
                  ", scores from -15 to 15",
                  Passes::both,
                  Versions::last,
                  [&](HstuProblem& p) {
                      std::fill(p.times.begin(), p.times.end(), 0.0f);
                      std::fill(p.positions.begin(), p.positions.end(), 0.0f);
                      for (int64_t row = 0; row < kRows; ++row) {
                          float* const q = &p.q[p.head_of(row, 0)];
                          float* const k = &p.k[p.head_of(row, 0)];
                          std::fill_n(q, p.head_dim, 0.0f);
                          // Those of 16 bits are numbers of each such type, and so is
                          // no score. Those of 32 have all their digits: the product
                          // is less exact in two parts of 16 bits each.
                          float& of_q = q[row % p.head_dim] = 1.3719238f;
                          float& of_k = k[row % p.head_dim] = (row - 150) * 0.29f;
                          if (type == fp32) continue;
                          of_q = 1.375f;
                          of_k = static_cast<float>(static_cast<__nv_bfloat16>(of_k));
                      }
                  });
}

TEST_CASE("weights and gradients near zero count: nothing is skipped", "[values]") {
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.alpha = 0x1p-24f;
    c.bias = GENERATE(Bias::none, Bias::both);
    grade_changed(GENERATE(fp32, bf16),
                  c,
                  1,
                  ", scores near 2^-22, d_o below 2^-20",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      for (auto* table : {&p.positions, &p.times})
                          for (float& x : *table)
                              x *= 0x1p-22f;
                      for (float& x : p.d_o)
                          x *= 0x1p-24f;
                  });
}

TEST_CASE("a weight counts where the gradient of its score is 0, and that without it") {
    // Key 3 has a value of 0, and row 30 a gradient of 0; all scores of row 20 are 0.
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.bias = GENERATE(Bias::none, Bias::both);
    grade_changed(GENERATE(fp32, bf16),
                  c,
                  1,
                  ", a value and rows of d_o and q are 0",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      std::fill_n(p.v.begin() + 3 * 32, 32, 0.0f);
                      std::fill_n(p.d_o.begin() + 30 * 32, 32, 0.0f);
                      std::fill_n(p.q.begin() + 20 * 32, 32, 0.0f);
                  });
}

TEST_CASE("alpha so small that it has not all its digits, and scores as usual",
          "[values]") {
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.alpha = 0x1p-128f;
    grade_changed(GENERATE(fp32, bf16),
                  c,
                  1,
                  ", q times 2^16, k times 2^100",
                  Passes::forward,
                  Versions::last,
                  [](HstuProblem& p) {
                      for (float& x : p.q)
                          x *= 0x1p16f;
                      for (float& x : p.k)
                          x *= 0x1p100f;
                  });
}

TEST_CASE("alpha times q, or times k, is infinite or 0, and scores are as usual") {
    if (wb::testing::is_watched()) return;
    struct Powers {
        int alpha, q, k;
        Passes passes;
    };
    const auto [alpha, q, k, passes] = GENERATE(Powers{66, 62, -124, Passes::forward},
                                                Powers{66, -124, 62, Passes::forward},
                                                Powers{-50, -100, 124, Passes::both},
                                                Powers{-50, 124, -100, Passes::both});
    Call c{{40}};
    c.alpha = std::ldexp(1.0f, alpha);
    const auto type = GENERATE(fp32, bf16);
    grade_changed(type,
                  c,
                  1,
                  ", alpha is 2^" + std::to_string(alpha) + ", q times 2^" +
                      std::to_string(q) + ", k times 2^" + std::to_string(k),
                  passes,
                  Versions::last,
                  [type, q = q, k = k](HstuProblem& p) {
                      scale(type, p.q, q);
                      scale(type, p.k, k);
                      scale(type, p.d_o, -20);  // or sums of gradients do not fit
                  });
}

TEST_CASE("alpha is a power of two, and its product with q or k no number of fp16",
          "[values]") {
    // Such a product is exact but where it has not all its digits.
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.alpha = 0x1p-18f;
    const bool large_k = GENERATE(true, false);
    grade_changed(fp16,
                  c,
                  1,
                  large_k ? ", k times 2^12" : ", q times 2^12",
                  Passes::both,
                  Versions::last,
                  [&](HstuProblem& p) {
                      for (float& x : large_k ? p.k : p.q)
                          x *= 0x1p12f;
                  });
}

TEST_CASE("values, queries and keys below the smallest number with all its digits",
          "[values]") {
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    const char small = GENERATE('q', 'k', 'v');
    const auto type = any_type();
    const int power = type == fp16 ? -18 : -128;
    if (small != 'v') c.alpha = type == fp16 ? 0x1p14f : 0x1p121f;
    c.scaling_length = 1;
    grade_changed(type,
                  c,
                  1,
                  std::string(", ") + small + " times 2^" + std::to_string(power),
                  Passes::forward,
                  Versions::last,
                  [&](HstuProblem& p) {
                      if (small == 'v') return scale(type, p.v, power);
                      scale(type, p.q, small == 'q' ? power : 4);
                      scale(type, p.k, small == 'k' ? power : 4);
                  });
}

TEST_CASE("gradients of weights in fp16: up to 32768, and far below 1", "[values]") {
    // Of each row, the value times d_o is 32768 or 2^-6, with the sign of the row.
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.head_dim = GENERATE(32, 64, 128);
    c.scaling_length = 1 << 12;
    grade_changed(fp16,
                  c,
                  1,
                  ", d_o . v is 32768 or 2^-6",
                  Passes::backward,
                  Versions::last,
                  [](HstuProblem& p) {
                      const auto dim = static_cast<float>(p.head_dim);
                      std::fill(p.v.begin(), p.v.end(), 0x1p5f);
                      for (std::size_t i = 0; i < p.d_o.size(); ++i) {
                          const std::size_t row = i / at(p.head_dim);
                          const float product = row % 3 == 0 ? 0x1p-6f : 0x1p15f;
                          p.d_o[i] =
                              (row % 2 == 0 ? 0x1p-5f : -0x1p-5f) / dim * product;
                      }
                  });
}

TEST_CASE("gradients of d_o and of values without all their digits", "[values]") {
    // Below 2^-126, and for fp16 below 2^-14. Their products are not.
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.head_dim = GENERATE(32, 64);
    c.scaling_length = 1;
    const bool small_d_o = GENERATE(true, false);
    const auto type = any_type();
    const int small = type == fp16 ? -18 : -128;
    const int large = type == fp16 ? 6 : 110;
    const std::string text = " times 2^" + std::to_string(small);
    grade_changed(type,
                  c,
                  1,
                  (small_d_o ? ", d_o" : ", v") + text,
                  Passes::backward,
                  Versions::last,
                  [&](HstuProblem& p) {
                      scale(type, p.d_o, small_d_o ? small : large);
                      scale(type, p.v, small_d_o ? large : small);
                  });
}

TEST_CASE("a bias far from zero counts", "[values]") {
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.bias = Bias::both;
    c.scaling_length = 1 << 20;
    const auto type = any_type();
    const float size = type == fp16 ? 10'000.0f : 0x1p30f;
    grade_changed(type,
                  c,
                  1,
                  ", a bias of " + std::to_string(size) + " and more",
                  Passes::both,
                  Versions::last,
                  [&](HstuProblem& p) {
                      for (auto* table : {&p.positions, &p.times})
                          for (float& x : *table)
                              x = size * std::clamp(x, -3.0f, 3.0f);
                  });
}
