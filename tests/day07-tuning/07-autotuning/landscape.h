/// landscape.h: test rigs without kernels: times that were made up, or recorded on a
/// GPU, and a clock that is as bad as one likes.
#pragma once

#include <wb/testing/random.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "autotuning.h"

/// How a clock lies.
struct Noise {
    double sigma = 0.01;         ///< standard deviation of a sample, relative
    double late_share = 0.0;     ///< of samples: somebody else was on the GPU
    double lucky_share = 0.0;    ///< of samples: too short by half
    double drift_a_trial = 0.0;  ///< the GPU gets warmer, and slower
};

/// What becomes of a configuration that is launched.
enum class Outcome { right, wrong, refused };

/// One configuration of a landscape.
struct Site {
    std::string name;
    std::vector<int> parameters;
    Footprint footprint;
    Outcome outcome = Outcome::right;
    double us = 1.0;  ///< its true time
    /// Samples to draw from, ascending, that were recorded; else `us` and the noise.
    std::vector<double> recorded = {};
};

/// A GPU that does not exist.
inline Gpu paper_gpu() {
    return {"Paper GPU", "9.0", "13.0", "13.0", 100, 1024, 49152, 2e6, 1.5e5, 0.6};
}

/// A rig that replays a landscape, counts, and remembers what was done wrong.
class Landscape : public Rig {
 public:
    Landscape(Problem problem, std::vector<Site> sites, Noise noise, std::uint64_t seed)
        : gpu_(paper_gpu()),
          problem_(std::move(problem)),
          sites_(std::move(sites)),
          checked_(sites_.size()),
          seen_(sites_.size()),
          noise_(noise),
          random_(seed) {}

    const Gpu& gpu() const override { return gpu_; }
    const Problem& problem() const override { return problem_; }
    int count() const override { return static_cast<int>(sites_.size()); }
    std::string name(int config) const override { return at(config).name; }
    std::vector<int> parameters(int config) const override {
        return at(config).parameters;
    }
    Footprint footprint(int config) const override { return at(config).footprint; }

    bool check(int config) override {
        const Footprint& f = at(config).footprint;
        if ((!f.takes_shape || f.blocks_per_sm < 1) && mistake.empty())
            mistake = "launched although it cannot run: " + at(config).name;
        checked_.at(static_cast<size_t>(config)) = true;
        return at(config).outcome == Outcome::right;
    }

    std::vector<double> trial(int config) override {
        constexpr int kSamples = 5;
        const Site& site = at(config);
        if (!checked_[static_cast<size_t>(config)] && mistake.empty())
            mistake = "timed before it was checked: " + site.name;
        if (site.outcome != Outcome::right && mistake.empty())
            mistake = "timed although its result is wrong: " + site.name;
        const double warmth = 1.0 + noise_.drift_a_trial * trials++;
        std::vector<double> samples;
        for (int i = 0; i < kSamples; ++i) {
            double us = site.us * std::max(0.5, 1.0 + noise_.sigma * random_.normal());
            if (!site.recorded.empty()) us = drawn(site.recorded);
            const double accident = random_.uniform();
            if (accident < noise_.late_share) us *= 1.5 + 3.0 * random_.uniform();
            if (accident > 1.0 - noise_.lucky_share)
                us *= 0.4 + 0.3 * random_.uniform();
            samples.push_back(us * warmth);
        }
        std::vector<double>& all = seen_[static_cast<size_t>(config)];
        all.insert(all.end(), samples.begin(), samples.end());
        return samples;
    }

    /// The true time, in multiples of the shortest one of those that are right.
    double loss(int config) const {
        double best = std::numeric_limits<double>::infinity();
        for (const Site& site : sites_)
            if (site.outcome == Outcome::right) best = std::min(best, site.us);
        return at(config).us / best;
    }
    /// The median of all samples that its trials have given.
    double median_us(int config) const {
        std::vector<double> sorted = seen_.at(static_cast<size_t>(config));
        std::sort(sorted.begin(), sorted.end());
        const size_t n = sorted.size();
        return n == 0 ? 0.0 : 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    }
    bool is_right(int config) const { return at(config).outcome == Outcome::right; }
    Site& site(int config) { return sites_.at(static_cast<size_t>(config)); }
    Gpu& gpu() { return gpu_; }
    Problem& problem() { return problem_; }

    int trials = 0;
    std::string mistake;  ///< the first one; "" if there was none

 private:
    const Site& at(int config) const { return sites_.at(static_cast<size_t>(config)); }

    /// A sample from the distribution that has these for quantiles.
    double drawn(const std::vector<double>& recorded) {
        const double place =
            random_.uniform() * static_cast<double>(recorded.size() - 1);
        const auto below = static_cast<size_t>(place);
        const double weight = place - std::floor(place);
        return recorded[below] + weight * (recorded[below + 1] - recorded[below]);
    }

    Gpu gpu_;
    Problem problem_;
    std::vector<Site> sites_;
    std::vector<bool> checked_;
    std::vector<std::vector<double>> seen_;  ///< all samples of each
    Noise noise_;
    wb::testing::Random random_;
};

/// What the contract says of predict(), for making landscapes.
inline double model_us(const Footprint& f, const Gpu& gpu) {
    const double room = static_cast<double>(f.blocks_per_sm) * gpu.sms;
    const double resident = std::min(static_cast<double>(f.blocks), room);
    const double memory = f.bytes / gpu.bytes_per_us;
    const double waiting = f.bytes / (resident * f.bytes_in_flight) * gpu.latency_us;
    return std::max(memory + waiting, f.shared_passes / gpu.passes_per_us);
}

/// A family of 36: 3 block sizes, 4 widths of what a thread asks for, 3 layouts. How
/// long each takes is what the model says, times something between 0.7 and 1.5.
inline std::vector<Site> made_up_sites(std::uint64_t seed) {
    constexpr double kBytes = 2e8;
    wb::testing::Random random(seed);
    std::vector<Site> sites;
    for (const int threads : {64, 128, 256}) {
        for (const int width : {4, 8, 16, 32}) {
            for (const int ways : {1, 2, 16}) {
                Site site;
                site.name = "block " + std::to_string(threads) + ", " +
                            std::to_string(width) + " bytes, " + std::to_string(ways) +
                            " ways";
                site.parameters = {threads, width, ways};
                Footprint& f = site.footprint;
                f.takes_shape = true;
                f.threads = threads;
                f.shared_bytes = 8192;
                f.blocks_per_sm = std::min(24, 2048 / threads);
                f.bytes = kBytes;
                f.bytes_in_flight = static_cast<double>(threads) * width;
                f.blocks = static_cast<int64_t>(kBytes / f.bytes_in_flight);
                f.shared_passes = kBytes / 128.0 * ways;
                const double factor = std::exp(0.25 * random.normal());
                site.us = model_us(f, paper_gpu()) * std::clamp(factor, 0.7, 1.5);
                sites.push_back(site);
            }
        }
    }
    return sites;
}
