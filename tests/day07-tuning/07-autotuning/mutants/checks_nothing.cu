// Mutant: what is fastest is taken, right or wrong
// Rejected by: the fastest ones are wrong
#include "right.h"

double median(std::vector<double> samples) {
    return right::middle_of(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::time_of(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    right::Habits habits;
    habits.checks = false;
    return right::search(rig, max_trials, habits);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    return right::kept_or_found(rig, max_trials, directory);
}
