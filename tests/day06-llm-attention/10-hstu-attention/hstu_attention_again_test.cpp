// Grades day06-llm-attention/10-hstu-attention: calls in the arrays of an earlier one,
// from which they differ in one thing. What was prepared for that one, and kept, is
// wrong.
#include "grading.h"

#include <wb/testing/simulator.h>

#include <functional>

using namespace hstu_grading;

namespace {

/// What is another one in the call after it.
struct Again {
    const char* what;
    HstuMask mask;
    Bias bias;
    std::function<void(HstuProblem& now)> change;
    bool elsewhere = false;  ///< results go to other arrays
};

/// Other numbers, which lie elsewhere.
void negate(std::vector<float>& numbers) {
    for (float& x : numbers)
        x = -x;
}

std::vector<Again> all_again() {
    using P = HstuProblem;
    using enum HstuMask;
    const auto sees = [](HstuMask mask) {
        return [=](P& p) { p.mask = static_cast<wb::reference::HstuSees>(mask); };
    };
    return {
        {"alpha", causal, Bias::none, [](P& p) { p.alpha *= 4.0; }},
        {"N", causal, Bias::none, [](P& p) { p.scaling_length = 9.0; }},
        {"the mask", causal, Bias::none, sees(full)},
        {"what is left and right", causal, Bias::none, sees(local)},
        {"left", local, Bias::none, [](P& p) { p.left = 1; }},
        {"right", local, Bias::none, [](P& p) { p.right = 0; }},
        {"where contexts are",
         context,
         Bias::none,
         [](P& p) {
             p.contexts = {9, 0};
         }},
        {"that there are contexts", target, Bias::none, [](P& p) { p.contexts = {}; }},
        {"where targets are",
         target,
         Bias::none,
         [](P& p) {
             p.targets = {0, 5};
         }},
        {"where intervals are",
         arbitrary,
         Bias::none,
         [](P& p) {
             for (std::size_t i = 0; i < p.intervals.size(); i += 2)
                 p.intervals[i + 1] = p.intervals[i] + 1;
         }},
        {"where offsets are",
         arbitrary,
         Bias::none,
         [](P& p) {
             std::fill(p.offsets.begin() + 12, p.offsets.end(), p.offsets[12]);
         }},
        {"where the sequences are",
         causal,
         Bias::none,
         [](P& p) {
             p.cu_seqlens = {0, 13, 33};
         }},
        {"how many sequences there are",
         causal,
         Bias::none,
         [](P& p) {
             p.cu_seqlens = {0, 33};
         }},
        {"what is a head",
         causal,
         Bias::none,
         [](P& p) { p.heads = 1, p.head_dim = 128; }},
        {"where q is", causal, Bias::none, [](P& p) { negate(p.q); }},
        {"where k is", causal, Bias::none, [](P& p) { negate(p.k); }},
        {"where v is", causal, Bias::none, [](P& p) { negate(p.v); }},
        {"where d_o is", causal, Bias::none, [](P& p) { negate(p.d_o); }},
        {"where positions are", causal, Bias::both, [](P& p) { negate(p.positions); }},
        {"where times are", causal, Bias::both, [](P& p) { negate(p.times); }},
        {"where timestamps are",
         causal,
         Bias::both,
         [](P& p) { std::fill(p.timestamps.begin(), p.timestamps.end(), 7); }},
        {"that there are positions",
         causal,
         Bias::both,
         [](P& p) { p.positions = {}; }},
        {"that there are times", causal, Bias::both, [](P& p) { p.times = {}; }},
        {"M",
         causal,
         Bias::positions,
         [](P& p) { p.max_distance = 3, p.positions.resize(at(p.heads * 7)); }},
        {"buckets",
         causal,
         Bias::times,
         [](P& p) { p.buckets = 4, p.times.resize(at(p.heads * 4)); }},
        {"where results go", causal, Bias::both, [](P&) {}, true},
    };
}

/// Where numbers lie of which the first ones are the same.
template <class N, class Place>
void share(const std::vector<N>& a,
           Place& place_a,
           const std::vector<N>& b,
           Place& place_b) {
    const std::size_t n = std::min(a.size(), b.size());
    if (n == 0 ||
        !std::equal(a.begin(), a.begin() + static_cast<int64_t>(n), b.begin()))
        return;
    if (a.size() < b.size())
        place_a = place_b;
    else
        place_b = place_a;
}

/// Both calls, in the same arrays as far as these hold the same.
template <class T>
struct Calls {
    HstuCall<T> before, now;
    const T *d_o_before, *d_o_now;

    Calls(Grader& grade, const HstuProblem& p, const HstuProblem& q)
        : before(call_of<T>(grade, p)), now(call_of<T>(grade, q)) {
        d_o_before = grade.input("d_o", stored_as<T>(p.d_o));
        d_o_now = p.d_o == q.d_o ? d_o_before
                                 : grade.input("d_o, later", stored_as<T>(q.d_o));
        share(p.q, before.q, q.q, now.q);
        share(p.k, before.k, q.k, now.k);
        share(p.v, before.v, q.v, now.v);
        if (p.cu_seqlens == q.cu_seqlens) now.cu_seqlens = before.cu_seqlens;
        if (p.contexts == q.contexts) now.mask.contexts = before.mask.contexts;
        if (p.targets == q.targets) now.mask.targets = before.mask.targets;
        if (p.offsets == q.offsets) now.mask.offsets = before.mask.offsets;
        if (p.intervals == q.intervals) now.mask.intervals = before.mask.intervals;
        share(p.positions, before.bias.positions, q.positions, now.bias.positions);
        share(p.times, before.bias.times, q.times, now.bias.times);
        share(p.timestamps, before.bias.timestamps, q.timestamps, now.bias.timestamps);
    }
};

template <class T>
void grade_forward_again(const std::string& name,
                         Forward<T>* run,
                         const HstuProblem& before,
                         const HstuProblem& now,
                         bool elsewhere,
                         const std::string& text) {
    Grader grade(name, text);
    Calls<T> calls(grade, before, now);
    const wb::testing::Shape rows = {now.total(), now.heads, now.head_dim};
    calls.before.o = calls.now.o = grade.output<T>("o", rows);
    if (elsewhere) calls.before.o = grade.output<T>("earlier o", rows);
    grade.run([&](cudaStream_t stream) {
        run(calls.before, stream);
        run(calls.now, stream);
    });
    expect(grade, "o", expect_forward<T>(now).o);
}

template <class T>
void grade_backward_again(const std::string& name,
                          Backward<T>* run,
                          const HstuProblem& before,
                          const HstuProblem& now,
                          bool elsewhere,
                          const std::string& text) {
    Grader grade(name, text);
    const Calls<T> calls(grade, before, now);
    const wb::testing::Shape rows = {now.total(), now.heads, now.head_dim};
    const auto table = [&](const char* array, const std::vector<float>& of) {
        return of.empty()
                   ? nullptr
                   : grade.output<float>(array, {static_cast<int64_t>(of.size())});
    };
    HstuGradients<T> out = {calls.d_o_now,
                            grade.output<T>("dq", rows),
                            grade.output<T>("dk", rows),
                            grade.output<T>("dv", rows),
                            table("d_positions", now.positions),
                            table("d_times", now.times)};
    HstuGradients<T> earlier = out;
    earlier.d_o = calls.d_o_before;
    if (elsewhere) {
        earlier.dq = grade.output<T>("earlier dq", rows);
        earlier.dk = grade.output<T>("earlier dk", rows);
        earlier.dv = grade.output<T>("earlier dv", rows);
    }
    if (elsewhere || now.positions.size() != before.positions.size())
        earlier.d_positions = table("earlier d_positions", before.positions);
    if (elsewhere || now.times.size() != before.times.size())
        earlier.d_times = table("earlier d_times", before.times);
    grade.run([&](cudaStream_t stream) {
        run(calls.before, earlier, stream);
        run(calls.now, out, stream);
    });
    const Expected e = expect_backward<T>(now);
    expect(grade, "dq", e.dq);
    expect(grade, "dk", e.dk);
    expect(grade, "dv", e.dv);
    if (out.d_positions != nullptr) expect(grade, "d_positions", e.d_positions);
    if (out.d_times != nullptr) expect(grade, "d_times", e.d_times);
}

}  // namespace

TEST_CASE("once more in the same arrays, but for one thing") {
    if (wb::testing::is_watched()) return;  // its accesses are those of other cases
    with_type(
        GENERATE(fp32, bf16),
        []<class T>(T, const char* suffix, auto* forward, auto* backward) {
            const auto last = [&](const char* name, auto* contract) {
                return wb::implementations(std::string(name) + suffix, contract).back();
            };
            const auto o = last("hstu_attention", forward);
            const auto d = last("hstu_backward", backward);
            for (const auto& [what, mask, bias, change, elsewhere] : all_again()) {
                Call c{{20, 13}};
                c.heads = 2;
                c.head_dim = 64;
                c.mask = mask;
                c.bias = bias;
                const HstuProblem before = random_problem<T>(c, 1);
                HstuProblem now = before;
                change(now);
                const std::string text = c.text() + ", then once more, but for " + what;
                grade_forward_again<T>(
                    o.name, o.function, before, now, elsewhere, text);
                grade_backward_again<T>(
                    d.name, d.function, before, now, elsewhere, text);
            }
        });
}
