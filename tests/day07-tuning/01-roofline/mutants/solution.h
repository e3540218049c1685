/// solution.h: all of the solution, for mutants that get one function wrong. They give
/// the right one another name first:
///
///     #define predict right_predict
///     #include "solution.h"
///     #undef predict
#pragma once

#include "../../../../solutions/day07-tuning/01-roofline/roofline.cu"
