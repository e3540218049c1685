// Times day07-tuning/02-profiling: each of the six as it was given, and mended. The
// sizes of all six have the same name, so that ./learn xray shows them together.
#include "profiling.h"

#include <wb/bench/bench.h>
#include <wb/exercise.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <algorithm>
#include <cstdio>
#include <string>

#include "reference.h"

using namespace wb::bench;

namespace {

/// How much of everything.
struct Scale {
    std::string name;
    int64_t elements;  ///< of the output, in each of the six
    int64_t edge;      ///< edge^2 == elements
    int64_t length;    ///< of a vector of d
};

const Scale kTiny{"4096 elements", 1 << 12, 64, 512};
const Scale kSmall{"65536 elements", 1 << 16, 256, 2048};
const Scale kLarge{"16777216 elements", 1 << 24, 4096, 4096};

/// Times both versions of one of the six on the same buffers; the second is left out
/// if it is not written yet.
template <class Function, class Call>
void time_both(
    Problem& problem, char letter, Function* mystery, Function* mended, Call call) {
    const std::string given = std::string("mystery_") + letter;
    const std::string yours = std::string("mended_") + letter;
    problem.time(
        given, "as given", [&](cudaStream_t stream) { call(mystery, stream); });
    try {
        problem.time(
            yours, "mended", [&](cudaStream_t stream) { call(mended, stream); });
    } catch (const wb::NotSolved&) {
#ifdef SIMT_CPU
        simt::check::end_section();  // what follows is not of this one
#endif
        std::printf("  %s: there is none yet\n", yours.c_str());
    }
}

/// The first element of a reference.
Expected first_of(const Reference& reference) {
    return {reference.values.front(), reference.bounds.front()};
}

Spec spec_of(const Scale& scale, double reads) {
    const auto elements = static_cast<double>(scale.elements);
    return {scale.name, Ceiling::copy, (reads + 1.0) * elements * sizeof(float)};
}

void time_a(Bench& bench, const Scale& scale) {
    constexpr int kSteps = 64;
    const int64_t n = scale.elements / 4;
    const auto x = bench.random_normal(n);
    const auto y = bench.output<float>(4 * n);
    auto problem = bench.problem(spec_of(scale, 0.25));
    problem.expect("y", y, [&](int64_t i) {
        const Reference all = reference_a(kSteps, {x.at(i % n)});
        const auto kind = static_cast<size_t>(i / n);
        return Expected{all.values[kind], all.bounds[kind]};
    });
    time_both(problem, 'a', mystery_a, mended_a, [&](auto* f, cudaStream_t s) {
        f(n, kSteps, x.data(), y.data(), s);
    });
}

void time_b(Bench& bench, const Scale& scale) {
    constexpr int64_t kRadius = 8;
    const int64_t n = scale.elements;
    const auto x = bench.random_normal(n);
    const auto y = bench.output<float>(n);
    auto problem = bench.problem(spec_of(scale, 1.0));
    problem.expect("y", y, [&](int64_t i) {
        const int64_t first = std::max(int64_t{0}, i - kRadius);
        const int64_t end = std::min(n, i + kRadius + 1);
        const Reference all = reference_b(kRadius, x.host(first, end - first));
        const auto at = static_cast<size_t>(i - first);
        return Expected{all.values[at], all.bounds[at]};
    });
    time_both(problem, 'b', mystery_b, mended_b, [&](auto* f, cudaStream_t s) {
        f(n, kRadius, x.data(), y.data(), s);
    });
}

void time_c(Bench& bench, const Scale& scale) {
    const int64_t edge = scale.edge;
    const auto x = bench.random_normal(edge * edge);
    const auto column = bench.random_normal(edge);
    const auto y = bench.output<float>(edge * edge);
    auto problem = bench.problem(spec_of(scale, 1.0));
    problem.expect("y", y, [&](int64_t i) {
        return first_of(reference_c({column.at(i % edge)}, {x.at(i)}));
    });
    time_both(problem, 'c', mystery_c, mended_c, [&](auto* f, cudaStream_t s) {
        f(edge, edge, column.data(), x.data(), y.data(), s);
    });
}

void time_d(Bench& bench, const Scale& scale) {
    const int64_t length = scale.length;
    const int64_t batch = scale.elements / length;
    const auto x = bench.random_normal(batch * length);
    const auto y = bench.output<float>(batch * length);
    auto problem = bench.problem(spec_of(scale, 1.0));
    problem.expect("y", y, [&](int64_t i) {
        const int64_t first = i / length * length;
        const Reference all = reference_d(length, x.host(first, length));
        const auto at = static_cast<size_t>(i - first);
        return Expected{all.values[at], all.bounds[at]};
    });
    time_both(problem, 'd', mystery_d, mended_d, [&](auto* f, cudaStream_t s) {
        f(batch, length, x.data(), y.data(), s);
    });
}

void time_e(Bench& bench, const Scale& scale) {
    const int64_t n = scale.elements;
    const auto x = bench.random_normal(n + kWindow - 1);
    const auto y = bench.output<float>(n);
    auto problem = bench.problem(spec_of(scale, 1.0));
    problem.expect("y", y, [&](int64_t i) {
        return first_of(reference_e(false, x.host(i, kWindow)));
    });
    time_both(problem, 'e', mystery_e, mended_e, [&](auto* f, cudaStream_t s) {
        f(n, false, x.data(), y.data(), s);
    });
}

void time_f(Bench& bench, const Scale& scale) {
    constexpr int64_t kCols = 32;
    constexpr float kKeep = 0.7f;
    const int64_t rows = scale.elements / kCols;
    const auto x = bench.random_normal(rows * kCols);
    const auto y = bench.output<float>(rows * kCols);
    auto problem = bench.problem(spec_of(scale, 1.0));
    problem.expect("y", y, [&](int64_t i) {
        const int64_t first = i / kCols * kCols;
        const Reference all = reference_f(kCols, kKeep, x.host(first, kCols));
        const auto at = static_cast<size_t>(i - first);
        return Expected{all.values[at], all.bounds[at]};
    });
    time_both(problem, 'f', mystery_f, mended_f, [&](auto* f, cudaStream_t s) {
        f(rows, kCols, kKeep, x.data(), y.data(), s);
    });
}

}  // namespace

WB_BENCH(profiling, bench) {
    for (const Scale& scale : bench.sizes<Scale>({kTiny}, {kSmall}, {kLarge})) {
        time_a(bench, scale);
        time_b(bench, scale);
        time_c(bench, scale);
        time_d(bench, scale);
        time_e(bench, scale);
        time_f(bench, scale);
    }
}
