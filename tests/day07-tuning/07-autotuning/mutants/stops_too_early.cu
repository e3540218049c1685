// Mutant: only the three that the model likes best are ever timed
// Rejected by: a calm clock
#include "right.h"

double median(std::vector<double> samples) {
    return right::middle_of(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::time_of(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    right::Habits habits;
    habits.most_candidates = 3;
    return right::search(rig, max_trials, habits);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    return right::kept_or_found(rig, max_trials, directory);
}
