// Times day07-tuning/04-instructions: copies by width, outliers in full warps, and
// what a division and a function cost.
#include "instructions.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <cmath>
#include <string>

#include "given.h"

using namespace wb::bench;

namespace {

constexpr int64_t kRulerThreadsInAll = int64_t{kRulerBlocks} * kRulerThreads;
constexpr double kRulerOperations =
    static_cast<double>(kRulerThreadsInAll) * kRulerChains * kRulerSteps;

struct CopySize {
    int64_t n;
    int64_t in_offset;  ///< in floats, from a multiple of 16 bytes
    int64_t out_offset;
};

std::string describe(const CopySize& size) {
    std::string text = "n = " + std::to_string(size.n);
    if (size.in_offset != 0) text += " in + " + std::to_string(size.in_offset);
    if (size.out_offset != 0) text += " out + " + std::to_string(size.out_offset);
    return text;
}

/// y[thread] of launch_division_ruler.
Expected ruled_division(int64_t thread, uint32_t divisor) {
    uint32_t sum = 0;
    for (uint32_t j = 0; j < kRulerChains; ++j) {
        auto x = static_cast<uint32_t>(thread);
        for (int step = 0; step < kRulerSteps; ++step)
            x = x / divisor * 747796405u + j;
        sum += x;
    }
    return {static_cast<double>(sum), 0.0};
}

/// y[thread] of launch_function_ruler: each chain ends where x = f(x) / 1024 + c.
Expected ruled_function(double (*f)(double), double c) {
    double x = c;
    for (int step = 0; step < kRulerSteps; ++step)
        x = f(x) / 1024.0 + c;
    return {kRulerChains * x, 1e-5 * kRulerChains * std::abs(x)};
}

/// Times divisions by `divisor`, beside the same loop with a shift in their place.
void time_divisions(Bench& bench,
                    uint32_t divisor,
                    std::initializer_list<std::pair<Division, const char*>> divisions) {
    const auto y = bench.output<uint32_t>(kRulerThreadsInAll);
    Spec spec{"n / " + std::to_string(divisor), Ceiling::fp32, kRulerOperations};
    spec.limit = "a shift by 3";
    spec.limit_us = bench.time_alone([&](cudaStream_t stream) {
        launch_division_ruler(Division::by_eight, 8, y.data(), stream);
    });
    auto problem = bench.problem(spec);
    problem.expect("y", y, [&](int64_t i) { return ruled_division(i, divisor); });
    for (const auto& [division, name] : divisions) {
        problem.time(name, "", [&, division = division](cudaStream_t stream) {
            launch_division_ruler(division, divisor, y.data(), stream);
        });
    }
}

struct RuledFunction {
    Function function;
    const char* name;
    double (*f)(double);
};

/// Times functions near c, beside a loop that does nearly nothing.
void time_functions(Bench& bench,
                    float c,
                    std::initializer_list<RuledFunction> functions) {
    const auto y = bench.output<float>(kRulerThreadsInAll);
    char size[32];
    std::snprintf(size, sizeof size, "x = %g", static_cast<double>(c));
    Spec spec{size, Ceiling::fp32, kRulerOperations};
    spec.limit = "an AND and an FMA";
    spec.limit_us = bench.time_alone([&](cudaStream_t stream) {
        launch_function_ruler(Function::coarse, c, y.data(), stream);
    });
    for (const RuledFunction& ruled : functions) {
        auto problem = bench.problem(spec);
        problem.expect("y", y, [&](int64_t) { return ruled_function(ruled.f, c); });
        problem.time(ruled.name, "", [&](cudaStream_t stream) {
            launch_function_ruler(ruled.function, c, y.data(), stream);
        });
    }
}

}  // namespace

WB_BENCH(copy_floats, bench) {
    constexpr int64_t kMany = 1 << 28;
    for (const CopySize& size : bench.sizes<CopySize>(
             {{1003, 1, 1}, {1003, 1, 0}},
             {{1 << 20, 0, 0}},
             {{1 << 20, 0, 0}, {kMany, 0, 0}, {kMany, 1, 1}, {kMany, 1, 0}})) {
        const double bytes = 2.0 * sizeof(float) * static_cast<double>(size.n);
        if (!bench.fits(bytes)) continue;
        const auto in = bench.random_normal(size.n + 4);
        const auto out = bench.output<float>(size.n + 4);
        const float* from = in.data() + size.in_offset;
        float* to = out.data() + size.out_offset;
        auto problem = bench.problem({describe(size), Ceiling::copy, bytes});
        // What lies around the copied floats stays as it was: restore() writes it.
        problem.restore([&](cudaStream_t stream) { out.copy_from(in, stream); });
        problem.expect("out", out, [&](int64_t i) {
            const int64_t copied = i - size.out_offset;
            const bool inside = copied >= 0 && copied < size.n;
            return Expected{in.at(inside ? copied + size.in_offset : i), 0.0};
        });
        for (const auto& [name, idea, copy] :
             wb::implementations("copy_floats", copy_floats)) {
            problem.time(name, idea, [&, copy = copy](cudaStream_t stream) {
                copy(from, to, size.n, stream);
            });
        }
        problem.time("cudaMemcpyAsync", "library", [&](cudaStream_t stream) {
            const size_t count = static_cast<size_t>(size.n) * sizeof(float);
            CUDA_CHECK(
                cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream));
        });
    }
}

WB_BENCH(compress_outliers, bench) {
    for (const int64_t n :
         bench.sizes<int64_t>({5000}, {1 << 20}, {1 << 22, 1 << 24, 1 << 26})) {
        const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const auto x = bench.random_normal(n);
        const auto y = bench.output<float>(n);
        auto problem =
            bench.problem({"n = " + std::to_string(n), Ceiling::copy, bytes});
        problem.expect("y", y, [&](int64_t i) {
            const double value = x.at(i);
            if (std::abs(value) <= 2.0) return Expected{value, 0.0};
            const double root = std::sqrt(2.0 * std::abs(value));
            return Expected{std::copysign(root, value), 0x1p-23 * root};
        });
        for (const auto& [name, idea, compress] :
             wb::implementations("compress_outliers", compress_outliers)) {
            problem.time(name, idea, [&, compress = compress](cudaStream_t stream) {
                compress(x.data(), y.data(), n, stream);
            });
        }
    }
}

WB_BENCH(divisions, bench) {
    time_divisions(bench,
                   7,
                   {{Division::in_64_bits, "64 bits"},
                    {Division::by_variable, "variable"},
                    {Division::by_same, "same variable"},
                    {Division::by_divider, "divider"},
                    {Division::by_seven, "constant"}});
    time_divisions(bench,
                   8,
                   {{Division::by_variable, "variable"},
                    {Division::by_divider, "divider"},
                    {Division::by_eight, "constant"}});
}

WB_BENCH(functions, bench) {
    const auto one_over = [](double x) { return 1.0 / x; };
    const auto one_over_root = [](double x) { return 1.0 / std::sqrt(x); };
    const auto e_to = [](double x) { return std::exp(x); };
    const auto two_to = [](double x) { return std::exp2(x); };
    const auto logarithm = [](double x) { return std::log(x); };
    const auto sine = [](double x) { return std::sin(x); };
    time_functions(bench,
                   0.75f,
                   {{Function::accurate_exp, "expf", e_to},
                    {Function::own_exp, "quick_exp", e_to},
                    {Function::fast_exp, "__expf", e_to},
                    {Function::accurate_exp2, "exp2f", two_to},
                    {Function::fast_exp2, "ex2.approx.ftz", two_to},
                    {Function::accurate_log, "logf", logarithm},
                    {Function::fast_log, "__logf", logarithm},
                    {Function::accurate_sin, "sinf", sine},
                    {Function::fast_sin, "__sinf", sine},
                    {Function::accurate_reciprocal, "division", one_over},
                    {Function::fast_reciprocal, "__fdividef", one_over},
                    {Function::accurate_rsqrt, "one over sqrtf", one_over_root},
                    {Function::fast_rsqrt, "rsqrtf", one_over_root}});
    time_functions(
        bench,
        1e6f,
        {{Function::accurate_sin, "sinf", sine}, {Function::fast_sin, "__sinf", sine}});
}

WB_BENCH(scale_rows, bench) {
    for (const int64_t n : bench.sizes<int64_t>({100}, {1 << 16}, {1 << 18, 1 << 24})) {
        const double bytes = 2.0 * sizeof(float) * kScaledRows * static_cast<double>(n);
        if (!bench.fits(bytes)) continue;
        const auto x = bench.random_normal(kScaledRows * n);
        const auto scale = bench.random_normal(kScaledRows);
        const auto y = bench.output<float>(kScaledRows * n);
        auto problem =
            bench.problem({"8 rows of " + std::to_string(n), Ceiling::copy, bytes});
        problem.expect("y", y, [&](int64_t i) {
            const double exact = double{x.at(i)} * scale.at(i / n);
            return Expected{exact, 0x1p-24 * std::abs(exact)};
        });
        for (const bool is_restricted : {false, true}) {
            problem.time(
                is_restricted ? "__restrict__" : "plain pointers",
                "",
                [&](cudaStream_t stream) {
                    launch_scale_rows(
                        is_restricted, x.data(), scale.data(), y.data(), n, stream);
                });
        }
    }
}
