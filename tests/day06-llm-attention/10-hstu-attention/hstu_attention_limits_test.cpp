// Grades day06-llm-attention/10-hstu-attention: sizes that most cases do not have, and
// gradients that are the same bits always.
#include "grading.h"

#include <wb/testing/fail.h>
#include <wb/testing/simulator.h>

using namespace hstu_grading;

namespace {

/// A sequence of 300 rows: rows and keys of the last of three blocks of 128 take away
/// again what as many of the first have added, which is 2^20 times what the others add.
/// So each order in which blocks add to dq, dk or dv has a sum of its own, and the
/// difference is no matter of rounding. All scores are alpha: but for the first column,
/// q is 0 in odd ones and k in even ones.
template <class T>
HstuProblem where_order_shows(const Call& c) {
    constexpr std::size_t kRows = 300;
    constexpr std::size_t kFirst = 44;  // of a block, and all rows of the last one
    HstuProblem p = random_problem<T>(c, 6);
    const std::size_t dim = at(p.head_dim);
    for (std::size_t i = 0; i < kRows * dim; ++i) {
        const std::size_t row = i / dim;
        const std::size_t column = i % dim;
        const bool is_last = row >= kRows - kFirst;
        const float size = is_last || row < kFirst ? 0x1p10f : 0x1p-10f;
        const std::size_t first = i - (kRows - kFirst) * dim;  // of the first block
        p.d_o[i] = is_last ? -p.d_o[first] : p.d_o[i] * size;
        if (is_last) p.v[i] = p.v[first];
        if (is_last) p.q[i] = p.q[first];
        if (column == 0) {
            p.q[i] = p.k[i] = 1.0f;
            continue;
        }
        if (column % 2 == 1) p.q[i] = 0.0f;
        if (column % 2 == 0) p.k[i] = 0.0f;
        p.k[i] = is_last ? -p.k[first] : p.k[i] * size;
    }
    return p;
}

/// dq, dk and dv of a launch.
template <class T>
std::vector<double> bits_of(const std::string& name,
                            Backward<T>* launch,
                            const HstuProblem& p) {
    Grader grade(name, "the same call, in another order of threads and blocks");
    const HstuCall<T> call = call_of<T>(grade, p);
    const wb::testing::Shape rows = {p.total(), p.heads, p.head_dim};
    HstuGradients<T> out = {grade.input("d_o", stored_as<T>(p.d_o)),
                            grade.output<T>("dq", rows),
                            grade.output<T>("dk", rows),
                            grade.output<T>("dv", rows),
                            nullptr,
                            nullptr};
    if (!p.positions.empty())
        out.d_positions = grade.output<float>(
            "d_positions", {static_cast<int64_t>(p.positions.size())});
    if (!p.times.empty())
        out.d_times =
            grade.output<float>("d_times", {static_cast<int64_t>(p.times.size())});
    grade.run([&](cudaStream_t stream) { launch(call, out, stream); });
    std::vector<double> all = grade.read("dq");
    for (const char* array : {"dk", "dv"}) {
        const auto more = grade.read(array);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

}  // namespace

TEST_CASE("windows and distances of more than 128 keys, in both directions") {
    if (wb::testing::is_watched()) return;
    Call c{{300}};
    c.mask = HstuMask::local;
    c.left = 140;
    c.right = 150;
    c.bias = Bias::positions;
    c.max_distance = 200;
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

TEST_CASE("weights and gradients near zero count: nothing is skipped") {
    if (wb::testing::is_watched()) return;
    Call c{{40}};
    c.alpha = 0x1p-24f;
    grade_changed(GENERATE(fp32, bf16),
                  c,
                  1,
                  ", scores near 2^-22, d_o below 2^-20",
                  Passes::both,
                  Versions::last,
                  [](HstuProblem& p) {
                      for (float& x : p.d_o)
                          x *= 0x1p-24f;
                  });
}

TEST_CASE("a weight counts where the gradient of its score is 0, and that without it") {
    // Key 3 has a value of 0, and row 30 a gradient of 0; all scores of row 20 are 0.
    if (wb::testing::is_watched()) return;
    grade_changed(GENERATE(fp32, bf16),
                  Call{{40}},
                  1,
                  ", a value and rows of d_o and q are 0",
                  Passes::backward,
                  Versions::last,
                  [](HstuProblem& p) {
                      std::fill_n(p.v.begin() + 3 * 32, 32, 0.0f);
                      std::fill_n(p.d_o.begin() + 30 * 32, 32, 0.0f);
                      std::fill_n(p.q.begin() + 20 * 32, 32, 0.0f);
                  });
}

TEST_CASE("lists on the host lie where others have lain before") {
    if (wb::testing::is_watched()) return;
    with_type(
        GENERATE(fp32, bf16),
        []<class T>(T, const char* suffix, auto* forward, auto* backward) {
            Call c{{100, 100}};
            c.head_dim = 64;
            HstuProblem p = random_problem<T>(c, 1);
            const auto graded = [&](const std::string& text) {
                const auto last = [&](const std::string& name, auto* contract) {
                    return wb::implementations(name + suffix, contract).back();
                };
                const auto o = last("hstu_attention", forward);
                grade_forward<T>(o.name, o.function, p, expect_forward<T>(p), text);
                const auto d = last("hstu_backward", backward);
                grade_backward<T>(d.name, d.function, p, expect_backward<T>(p), text);
            };
            graded("lengths 100 100");
            p.cu_seqlens[1] = 3;
            graded("lengths 3 197, in the same memory");
        });
}

TEST_CASE("the arrays of an earlier call, which was of other sizes") {
    // Nothing belongs to an address: no size, no tensor map.
    const auto type = GENERATE(fp32, fp16, bf16);
    with_type(type, [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
        Call c{{20, 13}};
        c.head_dim = 64;
        c.heads = 2;
        const HstuProblem p = random_problem<T>(c, 1);
        const std::vector<int32_t> starts = {0, 9};
        const auto earlier = [&](Grader& grade, HstuCall<T> call) {
            call.batch = call.heads = 1;
            call.total = 9;
            call.cu_seqlens = {grade.input("starts", starts), starts.data()};
            return call;
        };
        const std::string text = c.text() + ", in the arrays of another call";
        const wb::testing::Shape rows = {33, 2, 64};
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_attention") + suffix, forward)) {
            Grader grade(name, text);
            HstuCall<T> call = call_of<T>(grade, p);
            call.o = grade.output<T>("o", rows);
            const HstuCall<T> before = earlier(grade, call);
            grade.run([&, run = run](cudaStream_t stream) {
                run(before, stream);
                run(call, stream);
            });
            expect(grade, "o", expect_forward<T>(p).o);
        }
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_backward") + suffix, backward)) {
            Grader grade(name, text);
            const HstuCall<T> call = call_of<T>(grade, p);
            HstuGradients<T> out = {};
            out.d_o = grade.input("d_o", stored_as<T>(p.d_o));
            out.dq = grade.output<T>("dq", rows);
            out.dk = grade.output<T>("dk", rows);
            out.dv = grade.output<T>("dv", rows);
            const HstuCall<T> before = earlier(grade, call);
            grade.run([&, run = run](cudaStream_t stream) {
                run(before, out, stream);
                run(call, out, stream);
            });
            const Expected e = expect_backward<T>(p);
            expect(grade, "dq", e.dq);
            expect(grade, "dk", e.dk);
            expect(grade, "dv", e.dv);
        }
    });
}

TEST_CASE("what is read may be one array") {
    // q, k, v and d_o.
    const auto type = GENERATE(fp32, fp16, bf16);
    with_type(type, [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
        Call c{{33, 5}};
        c.head_dim = 64;
        HstuProblem p = random_problem<T>(c, 1);
        p.k = p.v = p.d_o = p.q;
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_attention") + suffix, forward)) {
            Grader grade(name, c.text() + ", q, k and v are one array");
            HstuCall<T> call = call_of<T>(grade, p);
            call.k = call.v = call.q;
            call.o = grade.output<T>("o", {38, 1, 64});
            grade.run([&, run = run](cudaStream_t stream) { run(call, stream); });
            expect(grade, "o", expect_forward<T>(p).o);
        }
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_backward") + suffix, backward)) {
            Grader grade(name, c.text() + ", q, k, v and d_o are one array");
            HstuCall<T> call = call_of<T>(grade, p);
            call.k = call.v = call.q;
            HstuGradients<T> out = {};
            out.d_o = call.q;
            out.dq = grade.output<T>("dq", {38, 1, 64});
            out.dk = grade.output<T>("dk", {38, 1, 64});
            out.dv = grade.output<T>("dv", {38, 1, 64});
            grade.run([&, run = run](cudaStream_t s) { run(call, out, s); });
            const Expected e = expect_backward<T>(p);
            expect(grade, "dq", e.dq);
            expect(grade, "dk", e.dk);
            expect(grade, "dv", e.dv);
        }
    });
}

TEST_CASE("causal: more than 1024 keys") {
    if (wb::testing::is_watched()) return;
    const auto type = GENERATE(fp32, fp16, bf16);
    Call c{{1100}};
    c.head_dim = type == fp32 ? 32 : 64;
    const auto passes = type == fp16 ? Passes::forward : Passes::both;
    grade(type, c, 1, passes, Versions::last);
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
    grade(fp32,
          Call{std::vector<int64_t>(kSequences, 1)},
          2,
          Passes::forward,
          Versions::last);
    Call heads{{1}};
    heads.heads = kHeads;
    heads.bias = Bias::both;
    heads.max_distance = 1;
    grade(fp32, heads, 2, Passes::both, Versions::last);
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

TEST_CASE("dq, dk and dv are the same bits in any order of threads and blocks") {
    // Bits are compared here, and accesses are those of other cases.
    if (wb::testing::is_watched()) return;
    Call c{{70, 33}};
    c.heads = 2;
    const int which = GENERATE(0, 1, 2, 3);
    if (which == 3) {
        c.lengths = {300};
        c.heads = 1;
        c.head_dim = 64;
        c.mask = HstuMask::full;
    } else if (which == 1) {
        c.head_dim = 64;
        c.mask = HstuMask::target;
        c.lengths = {133};
    } else if (which == 2) {
        c.mask = HstuMask::local;
        c.bias = Bias::both;
    }
    const auto compare = [&]<class T>(T, const char* suffix, auto*, auto* backward) {
        const bool shows = which == 3;
        const auto p = shows ? where_order_shows<T>(c) : random_problem<T>(c, 4);
        auto all = wb::implementations(std::string("hstu_backward") + suffix, backward);
        if (shows) all.erase(all.begin(), all.end() - 1);
        for (const auto& [name, idea, run] : all) {
            std::vector<double> first;
            for (const unsigned seed : {0u, 1u, 2u, 3u}) {
                if (seed == 3 && !shows) continue;
                wb::testing::shuffle_threads(seed);
                const auto now = bits_of<T>(name, run, p);
                wb::testing::shuffle_threads(0);
                if (seed == 0) first = now;
                if (now == first) continue;
                wb::testing::fail(
                    wb::testing::Kind::contract,
                    name + " gives other bits in another order of threads and blocks",
                    "likely cause: atomic additions of floats, whose sum depends on "
                    "the order");
            }
        }
    };
    with_type(GENERATE(fp32, bf16), compare);
}
