/// all_but_one.h: the solution, of which a mutant replaces one function.
///
///     #include "rulers.h"              // what is given calls divide(), the mutant's
///     #define divide right_divide      // the solution's gets another name
///     #include "all_but_one.h"
///     #undef divide
///     __device__ uint32_t divide(...)  // and this one is called
///
/// Rungs are not registered, so that the tests call the contract's functions.
#pragma once

#include <wb/ladder.h>

#undef WB_RUNG
#define WB_RUNG(exercise, launcher, idea) \
    [[maybe_unused]] static const auto unused_##launcher = &launcher

#include "../../../../solutions/day07-tuning/04-instructions/instructions.cu"
