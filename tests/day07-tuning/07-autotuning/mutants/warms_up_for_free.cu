// Mutant: a trial of each configuration is not counted: it only warmed up
// Rejected by: no more trials than allowed, and each one is counted
#include "right.h"

double median(std::vector<double> samples) {
    return right::middle_of(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::time_of(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    for (int config = 0; config < rig.count(); ++config)
        if (right::works(rig, config)) (void)rig.trial(config);
    return right::search(rig, max_trials);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    return right::kept_or_found(rig, max_trials, directory);
}
