// Grades day06-llm-attention/10-hstu-attention: what is given, and is not asked for:
// lists of other masks, pairs that are not seen, and arguments of no rows.
#include "grading.h"

#include <wb/testing/refuses.h>
#include <wb/testing/simulator.h>

using namespace hstu_grading;

TEST_CASE("lists that belong to other masks are given, and not looked at") {
    // Each would change what rows see, and all of them would be right.
    if (wb::testing::is_watched()) return;
    Call c{{13, 0, 24}};
    c.mask = GENERATE(HstuMask::full,
                      HstuMask::causal,
                      HstuMask::local,
                      HstuMask::context,
                      HstuMask::target,
                      HstuMask::arbitrary);
    c.left = 2;
    c.right = 1;
    c.head_dim = 64;
    const auto given = [&](HstuProblem& p) {
        if (p.contexts.empty() && c.mask != HstuMask::target) p.contexts = {9, 0, 20};
        if (p.targets.empty()) p.targets = {3, 0, 4};
        p.max_distance = 7;  // of tables that are not there
        p.buckets = 9;
        p.timestamps.assign(37, 5);
        if (!p.offsets.empty()) return;
        p.offsets = {0};
        for (int32_t i = 0; i < 37; ++i) {
            p.intervals.insert(p.intervals.end(), {1, 12});
            p.offsets.push_back(i + 1);
        }
    };
    grade_changed(any_type(),
                  c,
                  1,
                  ", lists of all masks are given",
                  Passes::both,
                  Versions::last,
                  given);
}

TEST_CASE("scores of pairs that are not seen may be infinite") {
    // Queries of the first half and keys of the second are large: 2^70 each. No row
    // sees such a pair. Values and gradients of o are so, too. Where a row sees all
    // keys of its sequence, they are queries of one sequence, and keys of the next.
    if (wb::testing::is_watched()) return;
    Call c{{40, 9}};
    c.mask = GENERATE(
        HstuMask::causal, HstuMask::local, HstuMask::arbitrary, HstuMask::full);
    if (c.mask == HstuMask::full) c.lengths = {40, 9, 9};
    c.left = 50;
    c.right = 0;
    c.head_dim = GENERATE(32, 64);
    if (c.head_dim == 32) c.bias = Bias::both;
    grade_changed(GENERATE(fp32, bf16),
                  c,
                  1,
                  ", q.k and d_o.v of unseen pairs are 2^140",
                  Passes::both,
                  Versions::last,
                  [&](HstuProblem& p) {
                      const auto is_query = [&](std::size_t row) {
                          if (c.mask == HstuMask::full) return row < 40 || row >= 49;
                          return row % 40 < 20;
                      };
                      for (std::size_t i = 0; i < p.q.size(); ++i) {
                          const float large =
                              is_query(i / at(p.head_dim)) ? 0x1p70f : 0x1p-70f;
                          p.q[i] *= large;
                          p.d_o[i] *= large;
                          p.k[i] /= large;
                          p.v[i] /= large;
                      }
                      if (c.mask != HstuMask::arbitrary) return;
                      p.intervals.clear();
                      p.offsets = {0};
                      for (int32_t i = 0; i < 49; ++i) {
                          p.intervals.insert(p.intervals.end(), {0, i % 40 + 1});
                          p.offsets.push_back(i + 1);
                      }
                  });
}

TEST_CASE("a GPU of compute capability 8.0 is new enough") {
    // Without wgmma and TMA, which come with 9.0.
    if (wb::testing::is_watched()) return;
    const wb::testing::OlderGpu older(80);
    Call c{{70, 3}};
    c.head_dim = GENERATE(64, 128, 256);
    grade(any_type(), c, 1, Passes::both, Versions::last);
}

TEST_CASE("a GPU of compute capability 8.6 has 99 KB of shared memory for a block") {
    if (wb::testing::is_watched()) return;
    const wb::testing::OlderGpu older(86);
    const wb::testing::LittleSharedMemory little(99 * 1024);
    Call c{{70, 3}};
    c.head_dim = GENERATE(64, 128, 256);
    c.bias = GENERATE(Bias::none, Bias::both);
    grade(any_type(), c, 1, Passes::both, Versions::last);
}

namespace {

/// Two sequences without rows, and what makes them wrong.
template <class T>
struct Empty {
    std::vector<int32_t> zeros = {0, 0, 0};
    std::vector<int32_t> ones = {0, 1, 0};
    Grader grade;
    HstuCall<T> call = {};

    explicit Empty(const std::string& function) : grade(function, "no rows") {
        const auto lists = [&](const char* name) {
            return Twice<int32_t>{grade.input(name, zeros), zeros.data()};
        };
        call.batch = 2;
        call.heads = 2;
        call.head_dim = 64;
        call.alpha = 1.0f;
        call.scaling_length = 3;
        call.cu_seqlens = lists("cu_seqlens");
        call.mask.contexts = lists("contexts");
        call.mask.targets = lists("targets");
        call.mask.offsets = lists("offsets");
    }
    void refuse_all(const char* name, void (*run)(const HstuCall<T>&, cudaStream_t)) {
        const wb::testing::Refuses<HstuCall<T>> refuse = {name, run, call};
        const auto kind = [&](HstuMask mask, auto change) {
            return [=](HstuCall<T>& c) {
                c.mask.kind = mask;
                change(c);
            };
        };
        refuse("heads is 0", [](auto& c) { c.heads = 0; });
        refuse("head_dim is 96", [](auto& c) { c.head_dim = 96; });
        refuse("alpha is", [](auto& c) { c.alpha = NAN; });
        refuse("scaling_length is 0", [](auto& c) { c.scaling_length = 0; });
        refuse("cu_seqlens.host is 0", [](auto& c) { c.cu_seqlens.host = nullptr; });
        refuse("cu_seqlens[1] is 1", [&](auto& c) { c.cu_seqlens.host = ones.data(); });
        refuse("mask.kind is 6", kind(HstuMask(6), [](auto&) {}));
        refuse("mask.left is -1",
               kind(HstuMask::local, [](auto& c) { c.mask.left = -1; }));
        refuse("mask.contexts[1] is 1", kind(HstuMask::context, [&](auto& c) {
                   c.mask.contexts.host = ones.data();
               }));
        refuse("mask.targets.device is a null", kind(HstuMask::target, [](auto& c) {
                   c.mask.targets.device = nullptr;
               }));
        refuse("bias.buckets is 66", [&](auto& c) {
            c.bias.times = grade.template input<float>("times", {0.0f});
            c.bias.buckets = 66;
        });
    }
};

}  // namespace

TEST_CASE("wrong arguments are refused without rows, too") {
    with_type(
        any_type(), []<class T>(T, const char* suffix, auto* forward, auto* backward) {
            static Forward<T>* const run_forward = forward;
            static Backward<T>* const run_backward = backward;
            const std::string names[] = {std::string("hstu_attention") + suffix,
                                         std::string("hstu_backward") + suffix};
            Empty<T>(names[0]).refuse_all(
                names[0].c_str(),
                [](const HstuCall<T>& call, cudaStream_t s) { run_forward(call, s); });
            Empty<T>(names[1]).refuse_all(names[1].c_str(),
                                          [](const HstuCall<T>& call, cudaStream_t s) {
                                              run_backward(call, {}, s);
                                          });
        });
}
