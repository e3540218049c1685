// Mutant: the file is written into, not replaced
// Rejected by: a file is replaced, not written into
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
    return right::search(rig, max_trials);
}

std::string cache_key(const Rig& rig) {
    return right::key(rig);
}

Choice tuned(Rig& rig, int max_trials, const std::string& directory) {
    const std::string path = cache_path(directory, cache_key(rig));
    Choice choice = right::kept(rig, path);
    if (choice.config >= 0 || !read_file(path))
        return right::kept_or_found(rig, max_trials, directory);
    choice = tune(rig, max_trials);
    std::ofstream(path) << encode(cache_key(rig), rig.name(choice.config), choice.us);
    return choice;
}
