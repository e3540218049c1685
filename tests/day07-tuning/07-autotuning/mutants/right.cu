// The right functions of autotuning.h that the .diff files edit. Their parts are in
// right.cpp, which is compiled once for all of them.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "cache_file.h"
#include "right.h"

double median(std::vector<double> samples) {
    return right::middle_of(std::move(samples));
}

double predict(const Footprint& footprint, const Gpu& gpu) {
    return right::time_of(footprint, gpu);
}

Choice tune(Rig& rig, int max_trials) {
    right::Habits habits;
    return right::search(rig, max_trials, habits);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    const std::string key = cache_key(rig);
    const std::string path = cache_path(directory, key);
    Choice choice{-1, 0.0, 0};
    if (const auto text = read_file(path)) choice = right::decode(*text, key, rig);
    if (choice.config >= 0 && right::works(rig, choice.config)) return choice;
    choice = tune(rig, max_trials);
    replace_file(path, encode(key, rig.name(choice.config), choice.us));
    return choice;
}
