// Grades day06-llm-attention/10-hstu-attention: gradients are the same bits,
// in whatever order threads and blocks run.
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

TEST_CASE("dq, dk and dv are the same bits in any order of threads and blocks") {
    // Bits are compared here, and accesses are those of other cases.
    if (wb::testing::is_watched()) return;
    Call c{{70, 33}};
    c.heads = 2;
    const int which = GENERATE(0, 1, 2, 3);
    if (which == 3) {
        c.lengths = {300};
        c.heads = 1;
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
        if (shows) c.head_dim = sizeof(T) == 2 ? 64 : 32;  // 64: v4 has a kernel for it
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
