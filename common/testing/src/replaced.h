/// replaced.h: functions of the learner's with the names of others.
#pragma once

#include <string>

namespace wb::testing {

/// The first function that the program has and that a library has, too, so that the
/// library's own calls, the grader's among them, lead to the program's. Empty: none.
std::string replaced_function();

}  // namespace wb::testing
