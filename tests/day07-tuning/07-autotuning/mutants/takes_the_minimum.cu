// Mutant: the shortest sample decides
// Rejected by: some samples are too short
#include <algorithm>

#include "right.h"

static double shortest(std::vector<double> samples) {
    return *std::min_element(samples.begin(), samples.end());
}

double median(std::vector<double> samples) {
    return right::middle_of(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::time_of(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    right::Habits habits;
    habits.summary = shortest;
    return right::search(rig, max_trials, habits);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    return right::kept_or_found(rig, max_trials, directory);
}
