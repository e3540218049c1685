// Mutant: the key does not say which GPU it was
// Rejected by: what another GPU liked does not count
#include "right.h"

double median(std::vector<double> samples) {
    return right::middle_of(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::time_of(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    return right::search(rig, max_trials);
}

std::string cache_key(const Rig& rig) {
    return right::key_of_problem(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    return right::kept_or_found(rig, max_trials, directory);
}
