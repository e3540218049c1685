// Grades day06-llm-attention/10-hstu-attention: sizes that most cases do not have, and
// gradients that are the same bits always.
#include "grading.h"

#include <wb/testing/fail.h>
#include <wb/testing/simulator.h>

using namespace hstu_grading;

namespace {

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
    if (wb::testing::is_watched()) return;
    grade(
        fp32, Call{std::vector<int64_t>(4099, 1)}, 2, Passes::forward, Versions::last);
    Call heads{{1}};
    heads.heads = 4099;
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
    const int which = GENERATE(0, 1, 2);
    if (which == 1) {
        c.head_dim = 64;
        c.mask = HstuMask::target;
        c.lengths = {133};
    } else if (which == 2) {
        c.mask = HstuMask::local;
        c.bias = Bias::both;
    }
    const auto compare = [&c]<class T>(T, const char* suffix, auto*, auto* backward) {
        const HstuProblem p = random_problem<T>(c, 4);
        for (const auto& [name, idea, run] :
             wb::implementations(std::string("hstu_backward") + suffix, backward)) {
            std::vector<double> first;
            for (const unsigned seed : {0u, 1u, 2u}) {
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
