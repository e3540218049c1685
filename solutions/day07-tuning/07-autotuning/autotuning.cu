// autotuning.cu: finds the fastest of many configurations without trying all of them.
// #solution
//
// <Ladder of="tune" as="autotuning" at="transpose 8192 x 8192">
//        GB/s  idea                  what limits it
//   v1  2,820  successive halving    the model's favourites alone get trials
//   v2  2,850  and their neighbours  what is far from all favourites gets none
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "autotuning.h"

#include <wb/arguments.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "cache_file.h"

// #region median
double median(std::vector<double> samples) {
    wb::Arguments("median").positive("samples", static_cast<int64_t>(samples.size()));
    // TODO(learner): the middle of the samples (about 4 lines)
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    // #starter return 0.0;
    // #solution
    std::sort(samples.begin(), samples.end());
    const size_t middle = samples.size() / 2;
    if (samples.size() % 2 == 1) return samples[middle];
    return 0.5 * (samples[middle - 1] + samples[middle]);
    // #end
}
// #endregion median

// #region predict
double predict(const Footprint& footprint, const Gpu& gpu) {
    // TODO(learner): infinity for what cannot run, 0 for no blocks, else the formula
    // (about 12 lines)
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    // #starter return 0.0;
    // #solution
    if (!footprint.takes_shape || footprint.threads > gpu.max_threads ||
        footprint.shared_bytes > gpu.max_shared_bytes || footprint.blocks_per_sm < 1) {
        return std::numeric_limits<double>::infinity();
    }
    if (footprint.blocks == 0) return 0.0;
    const double room = static_cast<double>(footprint.blocks_per_sm) * gpu.sms;
    const double resident = std::min(static_cast<double>(footprint.blocks), room);
    const double memory = footprint.bytes / gpu.bytes_per_us;
    const double rounds = footprint.bytes / (resident * footprint.bytes_in_flight);
    const double shared = footprint.shared_passes / gpu.passes_per_us;
    return std::max(memory + rounds * gpu.latency_us, shared);
    // #end
}
// #endregion predict

/// A configuration in the race.
struct Candidate {
    int config;
    std::vector<double> samples;  // of all its trials
    double us;                    // their median
};

static bool faster(const Candidate& a, const Candidate& b) {
    return a.us < b.us;
}

// #region race
/// The candidates of one search, and the trials that are left for them.
struct Race {
    Rig& rig;
    int max_trials;
    int trials = 0;
    std::vector<int> open;  // configurations that have not been tried, by prediction
    std::vector<Candidate> candidates = {};  // those that have been timed

    /// One more trial for this candidate.
    void time(Candidate& candidate) {
        // TODO(learner): one trial: its samples join the candidate's, whose median is
        // taken anew; count it (about 4 lines)
        // #solution
        for (const double us : rig.trial(candidate.config))
            candidate.samples.push_back(us);
        candidate.us = median(candidate.samples);
        ++trials;
        // #end
    }

    /// The open configuration at this place leaves the list and is checked. If it is
    /// right, it becomes a candidate and gets its first trial.
    void enter(std::vector<int>::iterator place) {
        // TODO(learner): these two sentences (about 5 lines)
        // #solution
        const int config = *place;
        open.erase(place);
        if (!rig.check(config)) return;
        candidates.push_back({config, {}, 0.0});
        time(candidates.back());
        // #end
    }
};
// #endregion race

/// All configurations that can run, the one first that the model likes best.
static std::vector<int> by_prediction(const Rig& rig) {
    std::vector<std::pair<double, int>> order;
    for (int config = 0; config < rig.count(); ++config) {
        const double us = predict(rig.footprint(config), rig.gpu());
        if (us < std::numeric_limits<double>::infinity())
            order.emplace_back(us, config);
    }
    std::sort(order.begin(), order.end());
    std::vector<int> configs;
    for (const auto& [us, config] : order)
        configs.push_back(config);
    return configs;
}

// #region halving
/// The slower ones leave the race, the others get a trial each, and so on, until one is
/// left or the trials are spent. Throws NothingWorks if there are no candidates.
static Choice finish(Race& race) {
    std::vector<Candidate>& candidates = race.candidates;
    if (candidates.empty())
        throw NothingWorks("no configuration runs and gives the right result");
    // TODO(learner): rounds: the faster third of them stays, but at least two, and gets
    // one more trial each, as far as there are trials (about 8 lines)
    // #solution
    while (candidates.size() > 1 && race.trials < race.max_trials) {
        std::sort(candidates.begin(), candidates.end(), faster);
        candidates.resize(std::max<size_t>(2, candidates.size() / 3));
        // Backwards: who came late in one round comes early in the next, so that a
        // clock that drifts favours nobody.
        for (size_t i = candidates.size(); i > 0 && race.trials < race.max_trials; --i)
            race.time(candidates[i - 1]);
    }
    // #end
    const auto best = std::min_element(candidates.begin(), candidates.end(), faster);
    return {best->config, best->us, race.trials};
}
// #endregion halving

// #region v1
/// v1: successive halving. Three fifths of the trials go to the model's favourites, one
/// each, and the rest to those that are worth a second look.
static Choice tune_v1(Rig& rig, int max_trials) {
    wb::Arguments("tune").positive("max_trials", max_trials);
    Race race{rig, max_trials, 0, by_prediction(rig)};
    // TODO(learner): the first round (about 3 lines)
    // #solution
    const int first_round = std::max(1, max_trials * 3 / 5);
    while (race.trials < first_round && !race.open.empty())
        race.enter(race.open.begin());
    // #end
    return finish(race);
}
// #endregion v1
// #solution
WB_RUNG(tune, tune_v1, "successive halving");

// #region v2
/// Whether two configurations differ in one parameter only.
static bool are_neighbours(const Rig& rig, int a, int b) {
    const std::vector<int> left = rig.parameters(a);
    const std::vector<int> right = rig.parameters(b);
    int differences = 0;
    for (size_t i = 0; i < left.size(); ++i)
        differences += left[i] != right[i];
    return differences == 1;
}

/// The open neighbour of the fastest candidate that has one, or the model's favourite.
static std::vector<int>::iterator most_promising(Race& race) {
    std::sort(race.candidates.begin(), race.candidates.end(), faster);
    for (const Candidate& candidate : race.candidates) {
        const auto next =
            std::find_if(race.open.begin(), race.open.end(), [&](int config) {
                return are_neighbours(race.rig, candidate.config, config);
            });
        if (next != race.open.end()) return next;
    }
    return race.open.begin();
}

/// v2: trusts the model for two fifths of the trials only, or five. Then a coordinate
/// descent: whoever differs from the fastest in one parameter has its chance.
static Choice tune_v2(Rig& rig, int max_trials) {
    wb::Arguments("tune").positive("max_trials", max_trials);
    Race race{rig, max_trials, 0, by_prediction(rig)};
    const int favourites = std::min(max_trials, std::max(5, max_trials * 2 / 5));
    const int neighbours = max_trials * 2 / 3;
    while (race.trials < favourites && !race.open.empty())
        race.enter(race.open.begin());
    while (race.trials < neighbours && !race.open.empty())
        race.enter(most_promising(race));
    return finish(race);
}
// #endregion v2
WB_RUNG(tune, tune_v2, "and the neighbours of the fastest");
// #end

// #region tune
Choice tune(Rig& rig, int max_trials) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs above are written
    // #solution
    return tune_v2(rig, max_trials);
    // #end
    // #starter return tune_v1(rig, max_trials);
}
// #endregion tune

// #region key
std::string cache_key(const Rig& rig) {
    // TODO(learner): all that the contract lists, a line each. checksum() makes many
    // names short (about 17 lines)
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    // #starter return "";
    // #solution
    std::string names;
    std::string takers;
    for (int config = 0; config < rig.count(); ++config) {
        names += rig.name(config) + "\n";
        takers += rig.footprint(config).takes_shape ? '1' : '0';
    }
    const Gpu& gpu = rig.gpu();
    const Problem& problem = rig.problem();
    return "gpu " + gpu.name + "\ncapability " + gpu.capability + "\ndriver " +
           gpu.driver + "\ntoolkit " + gpu.toolkit + "\nfamily " + problem.family +
           "\ntable " + checksum(names) + "\ntakers " + checksum(takers) + "\nrows 2^" +
           std::to_string(power_of_two(problem.rows)) + "\ncols 2^" +
           std::to_string(power_of_two(problem.cols)) + "\n";
    // #end
}
// #endregion key

// #region cache
/// The choice that this text holds, as encode() has written it; a config of -1 if it
/// holds none for this rig.
static Choice decode(const std::string& text, const std::string& key, const Rig& rig) {
    const Choice none{-1, 0.0, 0};
    // TODO(learner): find the name and the time behind the key; what encode() does not
    // make of them again, byte by byte, is damaged (about 9 lines)
    // #solution
    if (text.compare(0, key.size(), key) != 0) return none;
    const size_t time = text.rfind("\nus ");
    if (time == std::string::npos) return none;
    const double us = std::strtod(text.c_str() + time + 4, nullptr);
    for (int config = 0; config < rig.count(); ++config)
        if (text == encode(key, rig.name(config), us)) return {config, us, 0};
    // #end
    return none;
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    // #starter WB_NOT_SOLVED();  // delete this line when both TODOs are written
    const std::string key = cache_key(rig);
    const std::string path = cache_path(directory, key);
    Choice choice{-1, 0.0, 0};
    if (const auto text = read_file(path)) choice = decode(*text, key, rig);
    // TODO(learner): if that is one that can run and is right, it is the answer. Else
    // tune, and keep what was found: encode(), replace_file() (about 8 lines)
    // #solution
    if (choice.config >= 0) {
        const double us = predict(rig.footprint(choice.config), rig.gpu());
        if (us < std::numeric_limits<double>::infinity() && rig.check(choice.config))
            return choice;
    }
    choice = tune(rig, max_trials);
    replace_file(path, encode(key, rig.name(choice.config), choice.us));
    // #end
    return choice;
}
// #endregion cache
