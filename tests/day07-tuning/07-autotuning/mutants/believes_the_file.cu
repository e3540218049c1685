// Mutant: the checksum is not compared
// Rejected by: a damaged file is tuned again
#include <cstdlib>

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
    const std::string key = cache_key(rig);
    const auto text = read_file(cache_path(directory, key));
    if (text && text->compare(0, key.size(), key) == 0) {
        const std::string rest = text->substr(key.size());
        for (int config = 0; config < rig.count(); ++config) {
            const size_t us = rest.find("choice " + rig.name(config) + "\nus ");
            if (us == std::string::npos || !right::works(rig, config)) continue;
            return {
                config, std::strtod(rest.c_str() + rest.find("us ") + 3, nullptr), 0};
        }
    }
    return right::kept_or_found(rig, max_trials, directory);
}
