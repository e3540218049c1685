// Grades day06-llm-attention/10-hstu-attention: sizes that most cases do not have.
#include "grading.h"

#include <wb/testing/simulator.h>

#include <memory>

using namespace hstu_grading;

TEST_CASE("more sequences and more heads than a byte counts, and long contexts") {
    if (wb::testing::is_watched()) return;
    const auto type = any_type();
    Call sequences{std::vector<int64_t>(259, 2)};
    sequences.bias = Bias::both;
    sequences.mask = type == fp16 ? HstuMask::context : HstuMask::target;
    grade_changed(type,
                  sequences,
                  2,
                  ", contexts or targets 2 from sequence 128 on",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      auto& list = p.targets.empty() ? p.contexts : p.targets;
                      std::fill(p.contexts.begin(), p.contexts.end(), 0);
                      for (std::size_t i = 0; i < list.size(); ++i)
                          list[i] = i < 128 || i == 257 ? 0 : 2;
                  });
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
    if (type == fp16) return;  // bf16 stands for both: which keys are seen, is the same
    Call context{{330, 270, 265}};
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
                          if (mask == HstuMask::target) p.targets = {20, 13, 264};
                      });
    }
}

TEST_CASE("windows and distances of more than 128 keys, in both directions") {
    if (wb::testing::is_watched()) return;
    Call c{{300}};
    c.mask = HstuMask::local;
    c.left = 140;
    c.right = 150;
    c.bias = Bias::both;
    c.max_distance = 200;
    c.buckets = 12;
    grade(GENERATE(fp32, bf16), c, 1, Passes::both, Versions::last);
}

TEST_CASE("windows without an end, and distances that 16 bits do not hold") {
    if (wb::testing::is_watched()) return;
    Call c{{3, 40}};
    c.mask = HstuMask::local;
    c.left = INT64_MAX;
    c.right = INT64_MAX;
    c.heads = 2;
    c.bias = Bias::positions;
    c.max_distance = 40'001;
    const auto type = GENERATE(fp32, fp16, bf16);
    grade(type, c, 1, Passes::both, Versions::last);
    c.left = (int64_t{1} << 32) + 2;
    c.bias = Bias::none;
    c.head_dim = 64;
    grade(type, c, 1, Passes::both, Versions::last);
}

TEST_CASE("a table of positions of more than 2^31 numbers") {
    // 19 numbers of each head are ever looked at: rows are nine.
    if (wb::testing::is_watched()) return;
    constexpr int64_t kHeads = 33;
    constexpr int64_t kDistance = int64_t{1} << 25;
    constexpr int64_t kRow = 2 * kDistance + 1;
    struct Free {
        void operator()(void* memory) const { (void)cudaFree(memory); }
    };
    void* raw = nullptr;
    if (cudaMalloc(&raw, kHeads * kRow * sizeof(float)) != cudaSuccess) {
        (void)cudaGetLastError();
        WB_SKIP("8.9 GB of device memory are not to be had");
    }
    const std::unique_ptr<void, Free> memory(raw);
    auto* const positions = static_cast<float*>(raw);
    Call c{{9}};
    c.heads = kHeads;
    c.bias = Bias::positions;
    c.max_distance = 9;
    const auto graded = [&]<class T>(const char* exercise, Forward<T>* contract) {
        const HstuProblem p = random_problem<T>(c, 1);
        CUDA_CHECK(cudaMemcpy2D(positions + kDistance - 9,
                                kRow * sizeof(float),
                                p.positions.data(),
                                19 * sizeof(float),
                                19 * sizeof(float),
                                kHeads,
                                cudaMemcpyHostToDevice));
        const auto last = wb::implementations(exercise, contract).back();
        Grader grade(last.name, c.text() + " up to a distance of 2^25");
        HstuCall<T> call = call_of<T>(grade, p);
        call.bias.positions = positions;
        call.bias.max_distance = kDistance;
        call.o = grade.output<T>("o", {p.total(), p.heads, p.head_dim});
        grade.run([&](cudaStream_t stream) { last.function(call, stream); });
        expect(grade, "o", expect_forward<T>(p).o);
    };
    graded.operator()<float>("hstu_attention_fp32", hstu_attention_fp32);
    graded.operator()<__nv_bfloat16>("hstu_attention_bf16", hstu_attention_bf16);
}

TEST_CASE("more than 1024 keys by a mask: before a row, in its window, its contexts") {
    if (wb::testing::is_watched()) return;
    const auto type = GENERATE(fp32, fp16, bf16);
    // Backward in fp32, the case below has as many rows and keys.
    Call c{{1060}};
    c.head_dim = type == fp32 ? 32 : 64;
    if (type == fp32) c.mask = HstuMask::local;
    if (type == fp16) c.mask = HstuMask::context;
    c.left = 1045;
    const auto passes = type == bf16 ? Passes::both : Passes::forward;
    grade_changed(
        type, c, 1, ", 1045 keys", passes, Versions::last, [](HstuProblem& p) {
            if (!p.contexts.empty()) p.contexts = {1045};
        });
}

TEST_CASE("more than 1024 rows, keys, and intervals in a row") {
    // The last row sees all keys, each by an interval of its own; those before it see
    // none. So v1, too, is done soon.
    if (wb::testing::is_watched()) return;
    Call c{{1100}};
    c.mask = HstuMask::arbitrary;
    c.bias = Bias::both;
    c.max_distance = 1200;
    c.buckets = 12;
    const auto type = GENERATE(fp32, bf16);
    if (type == bf16) c.head_dim = 256;
    grade_changed(type,
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
    // The last row sees all keys, for bf16 by one interval, else each by its own; the
    // 32 before it and the first see only the first.
    constexpr int32_t kRows = 4129;
    Call c{{kRows}};
    c.mask = HstuMask::arbitrary;
    const auto type = any_type();
    c.head_dim = type == bf16 ? 128 : 64;
    if (type == fp32) c.bias = Bias::both;
    c.max_distance = 5000;
    c.buckets = 12;
    const int32_t keys = type == bf16 ? kRows : 1;  // of an interval of the last row
    grade_changed(
        type, c, 1, ", 4129 rows", Passes::both, Versions::last, [=](HstuProblem& p) {
            p.intervals.clear();
            p.offsets.assign(1, 0);
            for (int32_t i = 0; i < kRows; ++i) {
                const bool is_last = i == kRows - 1;
                if (i == 0 || (i >= kRows - 33 && !is_last))
                    p.intervals.insert(p.intervals.end(), {0, 1});
                for (int32_t j = 0; is_last && j < kRows; j += keys)
                    p.intervals.insert(p.intervals.end(), {j, j + keys});
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

TEST_CASE("gradients over more than 2^16 rows and keys: 1024 blocks of v4", "[large]") {
    using T = __nv_bfloat16;
    const auto all = wb::implementations("hstu_backward_bf16", hstu_backward_bf16);
    // Only three rows have a gradient: what the others add is zeros. Of the last tile's
    // warpgroups one has no rows, and passes all blocks.
    const auto graded = [&](int32_t rows) {
        Call c{{rows}};
        c.head_dim = 64;
        c.mask = HstuMask::local;
        c.left = rows - 103;
        c.right = 0;
        HstuProblem p = random_problem<T>(c, 1);
        const std::vector<int64_t> chosen = {0, rows - 103, rows - 1};
        std::vector<float> d_o(p.d_o.size());
        for (const int64_t row : chosen)
            std::copy_n(&p.d_o[p.head_of(row, 0)], 64, &d_o[p.head_of(row, 0)]);
        p.d_o = d_o;
        const auto visit_pairs = [&](auto add) {
            for (const int64_t row : chosen)
                for (int64_t key = std::max<int64_t>(0, row - c.left); key <= row;
                     ++key) {
                    const auto [product, size, terms] = wb::reference::product_sum(
                        &p.q[p.head_of(row, 0)], &p.k[p.head_of(key, 0)], 64);
                    add(wb::reference::HstuPair{
                        0, row, key, p.alpha * product, std::abs(p.alpha) * size});
                }
        };
        const auto& [name, idea, run] = all.back();
        const bool rounds = !name.ends_with("_v1") && !name.ends_with("_v2");
        grade_backward<T>(name,
                          run,
                          p,
                          expect_gradients<T>(p, rounds, visit_pairs),
                          "bf16, " + c.text() + ", gradients of three rows");
    };
    graded(430);
#ifdef SIMT_CPU
    WB_SKIP("2.2 billion pairs take the simulator too long");
#else
    graded(65'960);
#endif
}

TEST_CASE("many sequences without rows, one after the other") {
    std::vector<int64_t> lengths(45, 0);
    lengths[1] = 5;
    lengths[43] = 3;
    grade(GENERATE(fp32, fp16, bf16), Call{lengths});
}

TEST_CASE("more than 4096 sequences, and more than 4096 heads", "[long]") {
    // On a GPU more sequences than a grid has blocks along y and z, and all the heads
    // that there may be.
    if (wb::testing::is_watched()) return;
#ifdef SIMT_CPU
    constexpr int64_t kSequences = 4099;
    constexpr int64_t kHeads = 4099;
#else
    constexpr int64_t kSequences = 65'539;
    constexpr int64_t kHeads = 65'535;
#endif
    Call sequences{std::vector<int64_t>(kSequences, 1)};
    grade(fp32, sequences, 2, Passes::both, Versions::last);
    sequences.lengths.resize(1031);
    sequences.head_dim = 64;
    grade(bf16, sequences, 2, Passes::both, Versions::last);
    // Tables of more than 2^16 numbers, too.
    Call heads{{1}};
    heads.heads = kHeads;
    heads.bias = Bias::both;
    heads.max_distance = 10;
    heads.buckets = 65;
    grade(fp32, heads, 2, Passes::both, Versions::last);
    heads.heads = 1031;
    grade(bf16, heads, 2, Passes::forward, Versions::last);
}

TEST_CASE("more rows than 16 bits count", "[long]") {
    // Of 657 sequences of 100 rows, those of the last see something.
    if (wb::testing::is_watched()) return;
    Call c{std::vector<int64_t>(657, 100)};
    c.mask = HstuMask::arbitrary;
    const auto type = GENERATE(fp32, bf16);
    if (type == fp32) c.bias = Bias::times;
    grade_changed(type,
                  c,
                  1,
                  ", rows of the last sequence see it",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      p.intervals.clear();
                      p.offsets.assign(65'601, 0);
                      for (int32_t i = 0; i < 100; ++i) {
                          p.intervals.insert(p.intervals.end(), {0, i + 1});
                          p.offsets.push_back(i + 1);
                      }
                  });
}

TEST_CASE("more intervals than 16 bits count", "[long]") {
    if (wb::testing::is_watched()) return;
    Call c{{370}};
    c.mask = HstuMask::arbitrary;
    grade_changed(
        fp32,
        c,
        1,
        ", each row has 185 intervals of a key",
        Passes::forward,
        Versions::last,
        [](HstuProblem& p) {
            p.intervals.clear();
            p.offsets.assign(1, 0);
            for (int32_t i = 0; i < 370; ++i) {
                for (int32_t j = i % 2; j < 370; j += 2)
                    p.intervals.insert(p.intervals.end(), {j, j + 1});
                p.offsets.push_back(static_cast<int32_t>(p.intervals.size() / 2));
            }
        });
}

TEST_CASE("a scaling length that 32 bits do not hold") {
    Call c{{9}};
    c.scaling_length = int64_t{1} << 33;
    grade(GENERATE(fp32, bf16), c);
}
