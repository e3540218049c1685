/// healed.h: is a mended kernel's disease gone? By the way it is launched, on any
/// machine; by the clock, on a GPU; by counters, where the simulator counts.
#pragma once

#include <wb/testing/clock.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "grade_diagnosis.h"
#include "launches.h"

using Launch = std::function<void(cudaStream_t)>;

/// A launcher has one thing to do, and may split it; more launches than this are many.
constexpr size_t kMostLaunches = 4;
/// Of a multiprocessor's places for warps; what is ill here has 6 to 25 %.
constexpr double kLeastOccupancy = 0.3;
/// How much faster than the given kernel, on a GPU.
constexpr double kLeastSpeedup = 1.5;

/// The way `name` launches: few kernels, blocks of which enough fit a multiprocessor.
inline void expect_healthy_launch(const std::string& name, const Launch& launch) {
    const Launched all = result_of([&] { return launched_by(launch); });
    const size_t count = all.kernels.size() + all.others;
    if (count > kMostLaunches) {
        fail(name + " queues " + std::to_string(count) + " kernels or copies",
             "a few would do: what they do does not depend on one another");
    }
    for (const LaunchedKernel& kernel : all.kernels) {
        if (kernel.occupancy >= kLeastOccupancy) continue;
        char text[160];
        std::snprintf(text,
                      sizeof text,
                      "%s: %.0f %% of a multiprocessor's places for warps can be taken "
                      "at a time, at least %.0f %% are wanted",
                      name.c_str(),
                      100.0 * kernel.occupancy,
                      100.0 * kLeastOccupancy);
        fail(text, "which resource does a block, or a thread, take too much of?");
    }
    CHECK(count > 0);
}

#ifndef SIMT_CPU

/// Compares the clock of the given launcher with that of the learner's.
inline void expect_faster(char letter, const Launch& mystery, const Launch& mended) {
    const double before = 1e6 * wb::testing::median_seconds(mystery);
    const double after = 1e6 * wb::testing::median_seconds(mended);
    std::printf("mystery_%c %.1f us, mended_%c %.1f us: x %.2f\n",
                letter,
                before,
                letter,
                after,
                before / after);
    if (before >= kLeastSpeedup * after) return;
    char text[160];
    std::snprintf(text,
                  sizeof text,
                  "mended_%c takes %.1f us, mystery_%c takes %.1f us",
                  letter,
                  after,
                  letter,
                  before);
    fail(text, "it should be at least 1.5 times as fast");
}

#endif

/// What the counters say of everything that `run` launches: goals, in the checked
/// programs only.
inline void expect_no_waste(const std::string& name, const std::function<void()>& run) {
    constexpr double kMostMoved = 1.25;
    constexpr double kMostPasses = 1.1;
    [[maybe_unused]] constexpr double kLeastLanes = 24.0;
    const wb::testing::Goal goal(name);
#ifdef SIMT_CPU
    // A section of its own: what other kernels waste is not this one's fault.
    simt::check::begin_section(name.c_str());
#endif
    run();
    goal.moves_at_most(kMostMoved);
    goal.conflicts_at_most(kMostPasses);
#ifdef SIMT_CPU
    const double lanes = simt::check::counters("").average_lanes;
    char text[100];
    std::snprintf(text,
                  sizeof text,
                  "%.1f of 32 lanes are active in an instruction, at least %.0f are "
                  "wanted",
                  lanes,
                  kLeastLanes);
    goal.require(lanes >= kLeastLanes, text);
#endif
}
