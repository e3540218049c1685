/// model_error.h: the model's predictions beside what a GPU measured.
#pragma once

#include "model.h"

#include <string>

namespace xray {

/// One run of a benchmark's rungs, with the contracts of its problem.
struct Measured {
    std::string path;  ///< rows of a benchmark, as book/data/day01.json
    std::string size;  ///< only rows whose size contains this text
};

/// Predicts each measured row of at least 64 MB by scaling what was counted on a
/// smaller problem, and says how far off the prediction is: JSON objects, one a line.
///
/// @param run     counted on a small problem
/// @param larger  on a larger one, if not null: then each count is extrapolated along
///                the line through both, otherwise in proportion to the bytes
std::string model_error(const Run& run,
                        const Run* larger,
                        const Gpu& gpu,
                        const Measured& measured);

}  // namespace xray
