// Mutant: a cache that cannot be written is not mentioned
// Rejected by: a cache that cannot be written is an error that names it
#include "cache_file.h"
#include "right.h"

double median(std::vector<double> samples) {
    return right::median(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::predict(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    return right::search(rig, max_trials);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    try {
        return right::tuned(rig, max_trials, directory);
    } catch (const CacheError&) {
        return tune(rig, max_trials);
    }
}
