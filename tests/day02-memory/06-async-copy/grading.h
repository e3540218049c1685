// Calls every version of peak_energy() with signals, and compares.
#pragma once

#include "async_copy.h"

#include <wb/implementations.h>
#include <wb/reference/async_copy.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <string>
#include <vector>

namespace async_copy_grading {

using wb::testing::FewMultiprocessors;
using wb::testing::Grader;

/// Windows that a block takes at a time.
inline constexpr int64_t kTile = 1024;

/// One launch; the arrays may begin at any element of their memory that the contract
/// allows.
struct Call {
    int64_t n;
    int blocks_per_sm = 2;
    int64_t x_from = 0;
    int64_t peaks_from = 0;

    std::string text() const {
        std::string text =
            "n = " + std::to_string(n) +
            ", blocks_per_sm = " + std::to_string(blocks_per_sm) +
            ", multiprocessors = " + std::to_string(FewMultiprocessors::count());
        if (x_from > 0) text += ", x from element " + std::to_string(x_from);
        if (peaks_from > 0)
            text += ", peaks from element " + std::to_string(peaks_from);
        return text;
    }
};

/// One launcher on this signal. Eight products and their sum round at most so often.
inline void grade_one(const std::string& name,
                      decltype(&peak_energy) launcher,
                      const Call& c,
                      const std::vector<float>& signal,
                      const std::string& what) {
    Grader grade(name, c.text() + what);
    auto expected = wb::reference::peak_energy(signal, kWindow, kSegment);
    std::vector<float> x(static_cast<size_t>(c.x_from), 1e9f);  // must not be counted
    x.insert(x.end(), signal.begin(), signal.end());
    const float* d_x = grade.input("x", x) + c.x_from;
    float* d_peaks = nullptr;
    if (c.peaks_from == 0) {
        d_peaks = grade.output<float>("peaks", {static_cast<int64_t>(expected.size())});
    } else {  // what lies before them is not part of them, and must stay
        expected.insert(expected.begin(), static_cast<size_t>(c.peaks_from), 7.0);
        d_peaks = grade.in_out("peaks",
                               {static_cast<int64_t>(expected.size())},
                               std::vector<float>(expected.size(), 7.0f)) +
                  c.peaks_from;
    }
    grade.run([&](cudaStream_t stream) {
        launcher(d_x, d_peaks, c.n, c.blocks_per_sm, stream);
    });
    grade.expect("peaks", expected, [&](int64_t i) {
        const double peak = expected[static_cast<size_t>(i)];
        if (!std::isfinite(peak) || i < c.peaks_from) return 0.0;
        return wb::testing::float_bound(kWindow + 1, peak);
    });
}

/// All versions on the same signal.
inline void grade_signal(const Call& c,
                         const std::vector<float>& signal,
                         const std::string& what) {
    for (const auto& [name, idea, launcher] :
         wb::implementations("peak_energy", peak_energy))
        grade_one(name, launcher, c, signal, what);
}

inline void grade_random(const Call& c, uint64_t seed = 1) {
    grade_signal(
        c, wb::testing::random_normal(c.n, seed), ", seed " + std::to_string(seed));
}

/// The contract's function alone, for goals.
inline void grade_contract(const Call& c) {
    grade_one(
        "peak_energy", peak_energy, c, wb::testing::random_normal(c.n, 1), ", seed 1");
}

}  // namespace async_copy_grading
