/// right.h: the parts of a right tuner, compiled once for right.cu and all edits of it.
#pragma once

#include <string>
#include <vector>

#include "autotuning.h"

namespace right {

double middle_of(std::vector<double> samples);
double time_of(const Footprint& f, const Gpu& gpu);

/// What an edit may change.
struct Habits {
    double (*summary)(std::vector<double>) = right::middle_of;
    bool checks = true;
    int first_round_percent = 60;
    size_t most_candidates = 1000;
    int trials_at_once = 1;
    bool has_rounds = true;
};

/// Successive halving.
Choice search(Rig& rig, int max_trials, const Habits& habits = {});

std::string key(const Rig& rig);
/// The lines of the key that are about the problem and the family.
std::string key_of_problem(const Rig& rig);

/// The configuration whose text this is; -1 if it is nobody's.
Choice decode(const std::string& text, const std::string& key, const Rig& rig);
bool works(Rig& rig, int config);

}  // namespace right
