#include "right.h"

#include <wb/arguments.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "cache_file.h"

namespace right {
namespace {

constexpr double kForEver = std::numeric_limits<double>::infinity();

struct Candidate {
    int config;
    std::vector<double> samples;
    double us;
};

}  // namespace

double middle_of(std::vector<double> samples) {
    wb::Arguments("median").positive("samples", static_cast<int64_t>(samples.size()));
    std::sort(samples.begin(), samples.end());
    const size_t count = samples.size();
    return 0.5 * (samples[(count - 1) / 2] + samples[count / 2]);
}

double time_of(const Footprint& f, const Gpu& gpu) {
    if (!f.takes_shape || f.threads > gpu.max_threads ||
        f.shared_bytes > gpu.max_shared_bytes || f.blocks_per_sm < 1) {
        return kForEver;
    }
    if (f.blocks == 0) return 0.0;
    const double room = static_cast<double>(f.blocks_per_sm) * gpu.sms;
    const double resident = std::min(static_cast<double>(f.blocks), room);
    const double rounds = f.bytes / (resident * f.bytes_in_flight);
    return std::max(f.bytes / gpu.bytes_per_us + rounds * gpu.latency_us,
                    f.shared_passes / gpu.passes_per_us);
}

Choice search(Rig& rig, int max_trials, const Habits& habits) {
    wb::Arguments("tune").positive("max_trials", max_trials);
    std::vector<std::pair<double, int>> order;
    for (int config = 0; config < rig.count(); ++config) {
        const double us = right::time_of(rig.footprint(config), rig.gpu());
        if (us < kForEver) order.emplace_back(us, config);
    }
    std::sort(order.begin(), order.end());
    std::vector<Candidate> candidates;
    int trials = 0;
    const auto time = [&](Candidate& candidate) {
        for (const double us : rig.trial(candidate.config))
            candidate.samples.push_back(us);
        candidate.us = habits.summary(candidate.samples);
        ++trials;
    };
    const int first_round = std::max(1, max_trials * habits.first_round_percent / 100);
    for (const auto& [us, config] : order) {
        if (trials >= first_round || candidates.size() == habits.most_candidates) break;
        if (habits.checks && !rig.check(config)) continue;
        candidates.push_back({config, {}, 0.0});
        for (int i = 0; i < habits.trials_at_once && trials < max_trials; ++i)
            time(candidates.back());
    }
    if (candidates.empty()) throw NothingWorks("nothing works");
    const auto faster = [](const Candidate& a, const Candidate& b) {
        return a.us < b.us;
    };
    while (habits.has_rounds && candidates.size() > 1 && trials < max_trials) {
        std::sort(candidates.begin(), candidates.end(), faster);
        candidates.resize(std::max<size_t>(2, candidates.size() / 3));
        for (size_t i = candidates.size(); i > 0 && trials < max_trials; --i)
            time(candidates[i - 1]);
    }
    const auto best = std::min_element(candidates.begin(), candidates.end(), faster);
    return {best->config, best->us, trials};
}

std::string key_of_problem(const Rig& rig) {
    std::string names;
    std::string takers;
    for (int config = 0; config < rig.count(); ++config) {
        names += rig.name(config) + "\n";
        takers += rig.footprint(config).takes_shape ? '1' : '0';
    }
    const Problem& problem = rig.problem();
    return "family " + problem.family + "\ntable " + checksum(names) + "\ntakers " +
           checksum(takers) + "\nrows 2^" + std::to_string(power_of_two(problem.rows)) +
           "\ncols 2^" + std::to_string(power_of_two(problem.cols)) + "\n";
}

std::string key(const Rig& rig) {
    const Gpu& gpu = rig.gpu();
    return "gpu " + gpu.name + "\ncapability " + gpu.capability + "\ndriver " +
           gpu.driver + "\ntoolkit " + gpu.toolkit + "\n" + key_of_problem(rig);
}

Choice decode(const std::string& text, const std::string& key, const Rig& rig) {
    const size_t time = text.rfind("\nus ");
    if (time == std::string::npos) return {-1, 0.0, 0};
    const double us = std::strtod(text.c_str() + time + 4, nullptr);
    for (int config = 0; config < rig.count(); ++config)
        if (text == encode(key, rig.name(config), us)) return {config, us, 0};
    return {-1, 0.0, 0};
}

bool works(Rig& rig, int config) {
    return right::time_of(rig.footprint(config), rig.gpu()) < kForEver &&
           rig.check(config);
}

}  // namespace right
