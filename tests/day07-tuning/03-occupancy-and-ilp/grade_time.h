/// grade_time.h: predictions against a GPU's clock. Everything is measured and printed
/// first, so that the whole table is seen; complaints come last.
#pragma once

#include <wb/testing/clock.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "device.h"
#include "grade_limits.h"
#include "occupancy_and_ilp.h"
#include "rods.h"

#ifndef SIMT_CPU

/// One kernel in one variant: how much was under way, and what came of it.
struct Cell {
    int each;
    int blocks;        ///< resident on a multiprocessor
    double under_way;  ///< on the whole GPU
    double measured;   ///< units a second
    double predicted = 0.0;
};

/// The table of one kernel: rows of blocks, columns of independent work. The first cell
/// has least under way; it gives the latency, and the model has to say all others.
class PredictionTable {
 public:
    PredictionTable(std::string what, std::string unit, double scale)
        : what_(std::move(what)), unit_(std::move(unit)), scale_(scale) {}

    void add(const Cell& cell) { cells_.push_back(cell); }

    /// @param peak  0: the best of the cells
    void predict(double peak) {
        for (const Cell& cell : cells_)
            best_ = std::max(best_, cell.measured);
        const Cell& first = cells_.front();
        const Pipe pipe{peak > 0.0 ? peak : best_, first.under_way / first.measured};
        std::printf("%s: peak %.4g %s, latency %.0f ns\n",
                    what_.c_str(),
                    pipe.peak * scale_,
                    unit_.c_str(),
                    pipe.latency * 1e9);
        for (Cell& cell : cells_) {
            cell.predicted = predicted_rate(pipe, cell.under_way);
            std::printf(
                "  %2d blocks, %d a thread: predicted %8.4g, measured %8.4g %s\n",
                cell.blocks,
                cell.each,
                cell.predicted * scale_,
                cell.measured * scale_,
                unit_.c_str());
        }
    }

    /// Whichever of two variants is said to be twice as fast must be the faster one.
    void expect_order() const {
        for (const Cell& a : cells_) {
            for (const Cell& b : cells_) {
                if (a.predicted < 2.0 * b.predicted || a.measured > b.measured)
                    continue;
                fail(what_ + ": " + in_words(a) + " should be faster than " +
                     in_words(b) + " by your prediction, but is not");
            }
        }
    }

    const Cell& at(std::size_t i) const { return cells_.at(i); }
    const Cell& back() const { return cells_.back(); }
    double best() const { return best_; }

    static std::string in_words(const Cell& cell) {
        return std::to_string(cell.each) + " a thread in " +
               std::to_string(cell.blocks) + " blocks";
    }

 private:
    std::string what_;
    std::string unit_;
    double scale_;
    double best_ = 0.0;
    std::vector<Cell> cells_;
};

inline void expect_at_least(const std::string& what, double got, double least) {
    if (got >= least) return;
    char text[160];
    std::snprintf(
        text, sizeof text, ": %.2f times, at least %.2f expected", got, least);
    fail(what + text);
}

/// Shared memory that lets exactly so many blocks in; none if all that fit may come.
inline int64_t ballast_for(const Multiprocessor& sm, int threads, int blocks) {
    return blocks * threads >= sm.warps * 32 ? 0
                                             : budget(sm, threads, blocks).shared_bytes;
}

/// The copy: read and written bytes under way are the same number, so that only those
/// read are counted.
inline void grade_copy_times(const Multiprocessor& sm, int sms) {
    constexpr int64_t kN = int64_t{1} << 27;
    constexpr std::size_t kBytes = kN * sizeof(float);
    float* x = nullptr;
    float* y = nullptr;
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&x), kBytes));
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&y), kBytes));
    CUDA_CHECK(cudaMemset(x, 0x3C, kBytes));
    const double library = wb::testing::median_seconds([&](cudaStream_t s) {
        CUDA_CHECK(cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, s));
    });
    PredictionTable table("copy", "GB/s read", 1e-9);
    for (const int blocks : {1, 2, 4, 8}) {
        for (const int each : {1, 2, 4, 8}) {
            const int64_t ballast = ballast_for(sm, kCopyThreads, blocks);
            const Facts facts = copy_floats_facts(each, kCopyThreads, ballast);
            const int resident = occupancy(sm, needs_of(facts, kCopyThreads)).blocks;
            const double seconds = wb::testing::median_seconds([&](cudaStream_t s) {
                copy_floats(x, y, kN, {each, ballast}, s);
            });
            const double under_way = 16.0 * each * kCopyThreads * resident * sms;
            table.add({each, resident, under_way, kBytes / seconds});
            CHECK(resident == facts.blocks);
        }
    }
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
    table.predict(kBytes / library);
    table.expect_order();
    expect_at_least("one block of copies, 8 loads a thread against 1",
                    table.at(3).measured / table.at(0).measured,
                    1.7);
    expect_at_least("a copy with 8 loads a thread in 2 blocks, against 1 load in all",
                    table.at(7).measured / table.at(12).measured,
                    0.85);
    expect_at_least(
        "the best copy against the library's", table.best() * library / kBytes, 0.9);
}

/// The iteration: FMAs, of which each chain has one under way.
inline void grade_iterate_times(const Multiprocessor& sm, int sms) {
    constexpr int kSteps = 8192;
    const int64_t n = int64_t{8} * kIterateThreads * 16 * sms;
    float* x = nullptr;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&x), bytes));
    CUDA_CHECK(cudaMemset(x, 0x3C, bytes));
    PredictionTable table("iterate", "TFLOP/s", 2e-12);
    for (const int blocks : {1, 2, 4, 8}) {
        for (const int each : {1, 2, 4, 8}) {
            const int64_t ballast = ballast_for(sm, kIterateThreads, blocks);
            const double seconds = wb::testing::median_seconds([&](cudaStream_t s) {
                iterate(x, x, n, {0.5f, 0.25f, kSteps}, {each, ballast}, s);
            });
            const double under_way = 1.0 * each * kIterateThreads * blocks * sms;
            const double fmas = static_cast<double>(n) * kSteps;
            table.add({each, blocks, under_way, fmas / seconds});
        }
    }
    CUDA_CHECK(cudaFree(x));
    table.predict(0.0);
    table.expect_order();
    // Turing and the A100 start an FMA of a warp every other clock only: twice at most.
    expect_at_least("one block of iterations, 4 chains a thread against 1",
                    table.at(2).measured / table.at(0).measured,
                    1.6);
    expect_at_least("8 chains a thread in one block, against the best",
                    table.at(3).measured / table.best(),
                    0.7);
}

/// Registers, spills, time: more blocks at any price.
inline void grade_rods_times(const Multiprocessor& sm, int sms) {
    constexpr int kSteps = 256;
    const int64_t n = int64_t{kRodThreads} * 8 * sms;
    float* rods = nullptr;
    const std::size_t bytes = static_cast<std::size_t>(n) * kRodCells * sizeof(float);
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&rods), bytes));
    CUDA_CHECK(cudaMemset(rods, 0, bytes));
    std::vector<double> seconds;
    for (const RodVariant variant : kRodVariants) {
        const Facts facts = rods_facts(variant, kRodThreads, 0);
        seconds.push_back(wb::testing::median_seconds(
            [&](cudaStream_t s) { launch_rods(variant, rods, n, kSteps, 0.25f, s); }));
        std::printf(
            "rods, %-15s %3d registers, %4lld bytes of local memory, "
            "%d blocks: %7.1f us\n",
            name_of(variant),
            facts.registers,
            static_cast<long long>(facts.local_bytes),
            facts.blocks,
            seconds.back() * 1e6);
    }
    CUDA_CHECK(cudaFree(rods));
    const auto of = [&](RodVariant variant) {
        return seconds[static_cast<std::size_t>(variant)];
    };
    // A promise that no multiprocessor of this GPU could keep, the compiler ignores.
    if (sm.warps >= 8 * kRodThreads / 32) {
        expect_at_least("rods: room for 8 blocks is slower than room for 2",
                        of(RodVariant::at_least_8) / of(RodVariant::at_least_2),
                        1.3);
    }
    expect_at_least("rods: loops that are not unrolled are slower",
                    of(RodVariant::rolled) / of(RodVariant::at_least_1),
                    1.3);
}

inline void grade_times() {
    const Multiprocessor sm = this_multiprocessor();
    const int sms = attribute(cudaDevAttrMultiProcessorCount);
    grade_copy_times(sm, sms);
    grade_iterate_times(sm, sms);
    grade_rods_times(sm, sms);
}

#endif
