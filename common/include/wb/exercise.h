/// wb/exercise.h: how an exercise says that it has not been solved yet.
#pragma once

namespace wb {

/// Throws NotSolved (<wb/errors.h>); reads `file` to name the lines where a
/// TODO(learner) stands. Not [[noreturn]], or compilers would warn of the unreachable
/// code below it.
void not_solved(const char* file, int line);

}  // namespace wb

/// Stands in an untouched starter; the learner deletes it with the TODO it belongs to.
#define WB_NOT_SOLVED() ::wb::not_solved(__FILE__, __LINE__)
