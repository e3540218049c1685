/// wb/exercise.h: how an exercise says that it has not been solved yet.
#pragma once

#include <stdexcept>
#include <string>

namespace wb {

/// Thrown by WB_NOT_SOLVED(). The message names the file and the lines of its TODOs.
class NotSolved : public std::logic_error {
 public:
    using std::logic_error::logic_error;
};

/// Throws NotSolved; reads `file` to name the lines where a TODO(learner) stands.
/// Not [[noreturn]], or compilers would warn of the unreachable code below it.
void not_solved(const char* file, int line);

}  // namespace wb

/// Stands in an untouched starter; the learner deletes it with the TODO it belongs to.
#define WB_NOT_SOLVED() ::wb::not_solved(__FILE__, __LINE__)
