/// solution.h: all of the solution but its ladders, for mutants that get one function
/// wrong. They give the right one another name first:
///
///     #define occupancy right_occupancy
///     #include "solution.h"
///     #undef occupancy
#pragma once

#include <wb/ladder.h>

// The tests are to run the mutant, not the rungs.
#undef WB_RUNG
#define WB_RUNG(exercise, launcher, idea) \
    [[maybe_unused]] static const auto wb_no_rung_##launcher = &launcher

#include "../../../../solutions/day07-tuning/03-occupancy-and-ilp/occupancy_and_ilp.cu"
