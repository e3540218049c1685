// Grades day06-llm-attention/10-hstu-attention: gradients are the same bits,
// in whatever order threads and blocks run.
#include "grading.h"

#include <wb/testing/fail.h>
#include <wb/testing/same_numbers.h>
#include <wb/testing/simulator.h>

using namespace hstu_grading;

namespace {

/// The first sequence has 300 rows: rows and keys of the last of three blocks of 128
/// take away again what as many of the first have added, which is 2^20 times what the
/// others add.
/// So each order in which blocks add to dq, dk or dv has a sum of its own, and the
/// difference is no matter of rounding. All scores are alpha: but for the first column,
/// q is 0 in odd ones and k in even ones.
template <class T>
HstuProblem where_order_shows(const Call& c) {
    constexpr std::size_t kRows = 300;
    constexpr std::size_t kFirst = 44;  // of a block, and all rows of the last one
    HstuProblem p = random_problem<T>(c, 6);
    const std::size_t dim = at(p.head_dim);
    const std::size_t numbers = dim * at(p.heads);  // of a row
    for (std::size_t i = 0; i < kRows * numbers; ++i) {
        const std::size_t row = i / numbers;
        const std::size_t column = i % dim;
        const bool is_last = row >= kRows - kFirst;
        const float large = std::is_same_v<T, __half> ? 0x1p5f : 0x1p10f;
        const float size = is_last || row < kFirst ? large : 0x1p-10f;
        const std::size_t first = i - (kRows - kFirst) * numbers;  // of the first block
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

/// The same bits in each of these orders.
template <class T>
void compare_bits(const std::string& name,
                  Backward<T>* launch,
                  const HstuProblem& p,
                  const std::vector<unsigned>& orders) {
    std::vector<double> first;
    for (const unsigned seed : orders) {
        wb::testing::shuffle_threads(seed);
        const auto now = bits_of<T>(name, launch, p);
        wb::testing::shuffle_threads(0);
        if (seed == 0) first = now;
        if (wb::testing::same_numbers(now, first)) continue;
        wb::testing::fail(
            wb::testing::Kind::contract,
            name + " gives other bits in another order of threads and blocks",
            "likely cause: atomic additions of floats, whose sum depends on the order");
    }
}

}  // namespace

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
    with_type(GENERATE(fp32, bf16),
              [&]<class T>(T, const char* suffix, auto*, auto* b) {
                  const auto p = random_problem<T>(c, 4);
                  for (const auto& [name, idea, run] :
                       wb::implementations(std::string("hstu_backward") + suffix, b))
                      compare_bits<T>(name, run, p, {0, 1, 2});
              });
}

TEST_CASE("dq, dk and dv are the same bits where the order of blocks shows") {
    // Which kernel is at work may depend on the type, the head dimension, and on
    // whether there is a bias, here one of zeros, or a list of keys.
    if (wb::testing::is_watched()) return;
    Call c{{300}};
    struct Kernel {
        Types type;
        int64_t head_dim;
        HstuMask mask = HstuMask::full;
        Bias bias = Bias::none;
        int64_t heads = 1;
    };
    const auto kernel = GENERATE(Kernel{fp32, 32},
                                 Kernel{fp32, 64, HstuMask::full, Bias::both},
                                 Kernel{fp32, 128},
                                 Kernel{fp16, 64},
                                 Kernel{fp16, 128},
                                 Kernel{bf16, 64},
                                 Kernel{bf16, 64, HstuMask::causal, Bias::none, 2},
                                 Kernel{fp16, 128, HstuMask::target},
                                 Kernel{bf16, 64, HstuMask::full, Bias::both},
                                 Kernel{bf16, 64, HstuMask::arbitrary},
                                 Kernel{fp32, 256},
                                 Kernel{fp16, 32},
                                 Kernel{bf16, 128, HstuMask::full, Bias::both},
                                 Kernel{bf16, 256});
    c.head_dim = kernel.head_dim;
    c.mask = kernel.mask;
    c.bias = kernel.bias;
    c.heads = kernel.heads;
    if (c.heads > 1) c.lengths = {300, 40};  // and another sequence
    with_type(kernel.type, [&]<class T>(T, const char* suffix, auto*, auto* backward) {
        HstuProblem p = where_order_shows<T>(c);
        std::fill(p.positions.begin(), p.positions.end(), 0.0f);
        std::fill(p.times.begin(), p.times.end(), 0.0f);
        if (c.mask == HstuMask::arbitrary) {
            p.intervals.clear();
            p.offsets.assign(1, 0);
            for (int32_t row = 0; row < 300; ++row) {
                p.intervals.insert(p.intervals.end(), {0, 300});
                p.offsets.push_back(row + 1);
            }
        }
        const auto last =
            wb::implementations(std::string("hstu_backward") + suffix, backward).back();
        const bool is_long = c.head_dim == 256;  // it takes its time
        const std::vector<unsigned> orders =
            is_long ? std::vector<unsigned>{0, 1} : std::vector<unsigned>{0, 1, 2, 3};
        compare_bits<T>(last.name, last.function, p, orders);
    });
}
