// Mutant: the mean of the samples, not the median
// Rejected by: some samples are late
#include "right.h"

static double mean(std::vector<double> samples) {
    double sum = 0.0;
    for (const double us : samples)
        sum += us;
    return sum / static_cast<double>(samples.size());
}

double median(std::vector<double> samples) {
    return right::middle_of(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::time_of(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    right::Habits habits;
    habits.summary = mean;
    return right::search(rig, max_trials, habits);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    return right::kept_or_found(rig, max_trials, directory);
}
