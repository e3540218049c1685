// Times day07-tuning/03-occupancy-and-ilp: copies and iterations over how many blocks
// are resident and how much independent work a thread has, and what launch bounds do.
#include "occupancy_and_ilp.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <cmath>
#include <string>
#include <vector>

#include "device.h"
#include "rods.h"

using namespace wb::bench;

namespace {

/// Keeps all but so many blocks out; 0 for all that fit. Not by budget(), which a
/// learner may not have written yet.
int64_t ballast_for(const Multiprocessor& sm, int blocks) {
    if (blocks == 0) return 0;
    return sm.shared_bytes / blocks / sm.shared_unit * sm.shared_unit -
           sm.shared_reserved;
}

std::string in_blocks(int blocks) {
    if (blocks == 0) return ", all blocks that fit";
    return ", " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
}

std::string in_words(const char* what, int each, int blocks) {
    return std::to_string(each) + " " + what + (each == 1 ? "" : "s") +
           in_blocks(blocks);
}

void time_copy(Bench& bench, const Multiprocessor& sm, int64_t n) {
    const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
    if (!bench.fits(bytes)) return;
    const auto x = bench.random_normal(n);
    const auto y = bench.output<float>(n);
    for (const int blocks : {1, 2, 4, 0}) {
        for (const int each : {1, 2, 4, 8}) {
            auto problem =
                bench.problem({in_words("load", each, blocks), Ceiling::copy, bytes});
            problem.expect("y", y, [&](int64_t i) { return Expected{x.at(i), 0.0}; });
            const Variant variant{each, ballast_for(sm, blocks)};
            for (const auto& [name, idea, copy] :
                 wb::implementations("copy_floats", copy_floats)) {
                problem.time(name, idea, [&, copy = copy](cudaStream_t stream) {
                    copy(x.data(), y.data(), n, variant, stream);
                });
            }
        }
    }
}

/// FMAs at full speed: 128 a clock and multiprocessor from sm_86 on, 64 on Turing and
/// the A100 (CUDA C++ Programming Guide, "Arithmetic Instructions").
double peak_us(const Multiprocessor& sm, int sms, double fmas) {
    const double a_clock = sm.arch == 75 || sm.arch == 80 ? 64.0 : 128.0;
    const double mhz = 1e-3 * attribute(cudaDevAttrClockRate);
    return fmas / (a_clock * sms * mhz);
}

void time_iterate(Bench& bench, const Multiprocessor& sm, int64_t n, int steps) {
    constexpr float kA = 0.75f;
    constexpr float kB = 0.5f;
    const auto x = bench.random_normal(n);
    const auto y = bench.output<float>(n);
    const double fmas = static_cast<double>(n) * steps;
    const int sms = attribute(cudaDevAttrMultiProcessorCount);
    for (const int blocks : {1, 2, 4, 0}) {
        for (const int each : {1, 2, 4, 8}) {
            Spec spec{in_words("chain", each, blocks), Ceiling::fp32, 2.0 * fmas};
            spec.limit = "one FMA a lane and clock";
            spec.limit_us = peak_us(sm, sms, fmas);
            auto problem = bench.problem(spec);
            problem.expect("y", y, [&](int64_t i) {
                double t = x.at(i);
                for (int step = 0; step < steps; ++step)
                    t = double{kA} * t + kB;
                return Expected{t, 1e-5 * (std::abs(double{x.at(i)}) + 2.0)};
            });
            const Variant variant{each, ballast_for(sm, blocks)};
            for (const auto& [name, idea, function] :
                 wb::implementations("iterate", iterate)) {
                problem.time(name, idea, [&, run = function](cudaStream_t stream) {
                    run(x.data(), y.data(), n, {kA, kB, steps}, variant, stream);
                });
            }
        }
    }
}

/// One rod by itself, with c = 0.25.
void advance_rod(std::vector<double>& cell, int steps) {
    for (int step = 0; step < steps; ++step) {
        double left = 0.0;
        for (size_t j = 0; j < cell.size(); ++j) {
            const double old = cell[j];
            const double right = j + 1 < cell.size() ? cell[j + 1] : 0.0;
            cell[j] += 0.25 * (left - 2.0 * old + right);
            left = old;
        }
    }
}

void time_rods(Bench& bench, int64_t n, int steps) {
    const auto before = bench.random_normal(n * kRodCells);
    const auto rods = bench.output<float>(n * kRodCells);
    // Three operations of an FMA's speed a cell and step, five of the formula's.
    const double flop = 5.0 * kRodCells * static_cast<double>(n) * steps;
    Spec spec{std::to_string(steps) + " steps", Ceiling::fp32, flop};
    const auto first = [&](cudaStream_t stream) {
        launch_rods(RodVariant::at_least_1, rods.data(), n, steps, 0.25f, stream);
    };
    rods.copy_from(before, nullptr);
    spec.limit = "bounds (256, 1)";
    spec.limit_us = bench.time_alone(first);
    auto problem = bench.problem(spec);
    problem.restore([&](cudaStream_t stream) { rods.copy_from(before, stream); });
    problem.expect("rods", rods, [&](int64_t i) {
        constexpr int64_t kStride = kRodThreads;
        const int64_t first = i - i / kStride % kRodCells * kStride;
        std::vector<double> cell;
        for (int64_t j = 0; j < kRodCells; ++j)
            cell.push_back(before.at(first + j * kStride));
        advance_rod(cell, steps);
        return Expected{cell[static_cast<size_t>((i - first) / kStride)], 1e-3};
    });
    for (const RodVariant variant : kRodVariants) {
        problem.time(
            name_of(variant), "what the compiler was told", [&](cudaStream_t s) {
                launch_rods(variant, rods.data(), n, steps, 0.25f, s);
            });
    }
}

}  // namespace

WB_BENCH(occupancy_copy, bench) {
    const Multiprocessor sm = this_multiprocessor();
    for (const int64_t n :
         bench.sizes<int64_t>({1 << 12}, {1 << 24}, {int64_t{1} << 28})) {
        time_copy(bench, sm, n);
    }
}

WB_BENCH(occupancy_iterate, bench) {
    const Multiprocessor sm = this_multiprocessor();
    const int sms = attribute(cudaDevAttrMultiProcessorCount);
    // As many blocks as make whole rounds of the GPU, however many of them fit.
    for (const int rounds : bench.sizes<int>({0}, {2}, {16})) {
        const int64_t round = int64_t{8} * kIterateThreads * sms;
        time_iterate(
            bench, sm, rounds == 0 ? 1024 : rounds * round, rounds == 0 ? 16 : 8192);
    }
}

WB_BENCH(occupancy_rods, bench) {
    const int sms = attribute(cudaDevAttrMultiProcessorCount);
    for (const int rounds : bench.sizes<int>({0}, {1}, {8})) {
        const int64_t n = int64_t{kRodThreads} * (rounds == 0 ? 1 : rounds * sms);
        time_rods(bench, n, rounds == 0 ? 4 : 256);
    }
}
