/// exhaustive.h: the search that leaves nothing out. What yours is measured by.
#pragma once

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "autotuning.h"

/// Trials that exhaustive search gives each configuration. One would not do: a clock
/// that is off by 3 % now and then is off for one of forty configurations.
inline constexpr int kExhaustiveTrials = 3;

/// What exhaustive search knows in the end.
struct Exhausted {
    std::vector<int> configs;                  ///< those that run and are right
    std::vector<std::vector<double>> samples;  ///< of each of them, as they came
    int trials = 0;

    /// The median of the samples of the i-th of them.
    double us(size_t i) const {
        std::vector<double> sorted = samples[i];
        const auto middle = sorted.begin() + static_cast<long>(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        return *middle;
    }
    Choice best() const {
        Choice choice{-1, std::numeric_limits<double>::infinity(), trials};
        for (size_t i = 0; i < configs.size(); ++i)
            if (us(i) < choice.us) choice = {configs[i], us(i), trials};
        return choice;
    }
};

/// Checks each configuration, and gives those that are right kExhaustiveTrials trials:
/// in rounds, so that a clock that drifts drifts for all of them.
inline Exhausted exhaustive_search(Rig& rig) {
    Exhausted all;
    for (int config = 0; config < rig.count(); ++config)
        if (rig.check(config)) all.configs.push_back(config);
    if (all.configs.empty()) throw NothingWorks("no configuration is right");
    all.samples.resize(all.configs.size());
    for (int round = 0; round < kExhaustiveTrials; ++round) {
        for (size_t i = 0; i < all.configs.size(); ++i) {
            for (const double us : rig.trial(all.configs[i]))
                all.samples[i].push_back(us);
            ++all.trials;
        }
    }
    return all;
}

/// A quarter of the trials of exhaustive search.
inline int quarter_of(int trials) {
    return trials / 4;
}
