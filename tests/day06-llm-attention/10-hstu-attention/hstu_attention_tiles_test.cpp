// Grades day06-llm-attention/10-hstu-attention: tiles of rows, and the
// blocks of keys that they see.
#include "grading.h"

#include <wb/testing/simulator.h>

using namespace hstu_grading;

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
    Call c{{193, 0, wide ? 390 : 300, wide ? 9 : 128}};
    c.head_dim = mask == (wide ? HstuMask::target : HstuMask::causal) ? 128 : 64;
    c.mask = mask;
    c.left = wide ? 290 : 150;
    c.right = wide ? 270 : 2;
    c.heads = mask == HstuMask::local && !wide ? 2 : 1;
    grade_changed(type,
                  c,
                  1,
                  wide ? ", wide windows, long contexts" : ", seed 1",
                  Passes::both,
                  Versions::last,
                  [&](HstuProblem& p) {
                      if (wide && !p.contexts.empty()) p.contexts = {190, 0, 310, 7};
                      if (wide && !p.targets.empty()) p.targets = {2, 0, 70, 2};
                  });
}

TEST_CASE("tiles of rows and blocks of keys: each mask with each head dimension") {
    if (wb::testing::is_watched()) return;
    const auto type = any_type();
    const auto dim = GENERATE(as<int64_t>(), 64, 128, 256);
    const auto mask = GENERATE(HstuMask::causal,
                               HstuMask::local,
                               HstuMask::context,
                               HstuMask::target,
                               HstuMask::arbitrary);
    if (type == fp32 && (mask == HstuMask::causal || mask == HstuMask::target)) return;
    if (type != fp32 && dim == 64) return;  // as the case above
    Call c{{140}};
    c.head_dim = dim;
    c.mask = mask;
    c.left = 135;
    c.right = 130;
    grade_changed(type,
                  c,
                  1,
                  ", contexts of 133 keys",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      if (!p.contexts.empty()) p.contexts = {133};
                      if (!p.targets.empty()) p.targets = {6};
                  });
}

TEST_CASE("tiles of rows and blocks of keys: each mask with a bias") {
    if (wb::testing::is_watched()) return;
    Call c{{140}};
    c.mask = GENERATE(HstuMask::full,
                      HstuMask::local,
                      HstuMask::context,
                      HstuMask::target,
                      HstuMask::arbitrary);
    c.left = 135;
    c.right = 130;
    c.bias = Bias::both;
    c.max_distance = 150;
    c.buckets = 12;
    grade_changed(GENERATE(fp32, bf16),
                  c,
                  1,
                  ", contexts of 3 keys",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      if (!p.contexts.empty()) p.contexts = {3};
                      if (!p.targets.empty()) p.targets = {130};
                  });
}

TEST_CASE("tiles of rows and blocks of keys: one long sequence beside short ones") {
    // Too many tiles would be empty if each sequence had as many as the longest. Each
    // multiprocessor goes through many of them.
    if (wb::testing::is_watched()) return;
    const wb::testing::FewMultiprocessors few(2);
    Call c{{7, 0, 390, 1, 1, 2, 3}};
    c.head_dim = 64;
    const auto type = GENERATE(fp16, bf16);
    c.heads = type == bf16 ? 2 : 1;
    grade(type, c, 1, Passes::both, Versions::last);
}

TEST_CASE("tiles of rows and blocks of keys: candidates far behind what they see") {
    // Blocks between the history and a candidate are left out.
    if (wb::testing::is_watched()) return;
    Call c{{600}};
    c.head_dim = 64;
    c.mask = HstuMask::target;
    const auto [type, targets] = GENERATE(
        table<Types, int32_t>({{bf16, 250}, {bf16, 470}, {bf16, 600}, {fp16, 470}}));
    grade_changed(type,
                  c,
                  1,
                  ", targets " + std::to_string(targets),
                  Passes::both,
                  Versions::last,
                  [&, targets = targets](HstuProblem& p) {
                      p.contexts = {600 - targets};
                      p.targets = {targets};
                  });
}
