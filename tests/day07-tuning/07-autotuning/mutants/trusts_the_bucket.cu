// Mutant: what is kept is not tried on this very problem
// Rejected by: a choice that does not work on this problem is replaced
#include "cache_file.h"
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
    return right::key(rig);
}

// #region bug
Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    const std::string key = cache_key(rig);
    const std::string path = cache_path(directory, key);
    Choice choice{-1, 0.0, 0};
    if (const auto text = read_file(path)) choice = right::decode(*text, key, rig);
    if (choice.config >= 0) return choice;
    choice = tune(rig, max_trials);
    replace_file(path, encode(key, rig.name(choice.config), choice.us));
    return choice;
}
// #endregion bug
