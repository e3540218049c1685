// autotuning.cu: finds the fastest of many configurations without trying all of them.
#include "autotuning.h"

#include <wb/arguments.h>
#include <wb/exercise.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "cache_file.h"

// #region median
double median(std::vector<double> samples) {
    wb::Arguments("median").positive("samples", static_cast<int64_t>(samples.size()));
    // TODO(learner): the middle of the samples (about 4 lines)
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    return 0.0;
}
// #endregion median

// #region predict
double predict(const Footprint& footprint, const Gpu& gpu) {
    // TODO(learner): infinity for what cannot run, 0 for no blocks, else the formula
    // (about 12 lines)
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    return 0.0;
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
    }

    /// The open configuration at this place leaves the list and is checked. If it is
    /// right, it becomes a candidate and gets its first trial.
    void enter(std::vector<int>::iterator place) {
        // TODO(learner): these two sentences (about 5 lines)
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
    return finish(race);
}
// #endregion v1

// #region tune
Choice tune(Rig& rig, int max_trials) {
    WB_NOT_SOLVED();  // delete this line when the TODOs above are written
    return tune_v1(rig, max_trials);
}
// #endregion tune

// #region key
std::string cache_key(const Rig& rig) {
    // TODO(learner): all that the contract lists, a line each. checksum() makes many
    // names short (about 17 lines)
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    return "";
}
// #endregion key

// #region cache
/// The choice that this text holds, as encode() has written it; a config of -1 if it
/// holds none for this rig.
static Choice decode(const std::string& text, const std::string& key, const Rig& rig) {
    const Choice none{-1, 0.0, 0};
    // TODO(learner): find the name and the time behind the key; what encode() does not
    // make of them again, byte by byte, is damaged (about 9 lines)
    return none;
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    WB_NOT_SOLVED();  // delete this line when both TODOs are written
    const std::string key = cache_key(rig);
    const std::string path = cache_path(directory, key);
    Choice choice{-1, 0.0, 0};
    if (const auto text = read_file(path)) choice = decode(*text, key, rig);
    // TODO(learner): if that is one that can run and is right, it is the answer. Else
    // tune, and keep what was found: encode(), replace_file() (about 8 lines)
    return choice;
}
// #endregion cache
