/// replaced.h: a learner's functions keep away from those of the tests.
#pragma once

#include <string>

namespace wb::testing {

/// The first function that the program has and that a library has, too, so that the
/// library's own calls, the grader's among them, lead to the program's. Empty: none.
std::string replaced_function();

/// The first function that the program calls although it is there to set up tests: the
/// grader's own, and the simulator's settings. Empty: none.
std::string function_of_the_tests();

}  // namespace wb::testing
