/// complain.h: failures in words that name the argument, not only its index.
#pragma once

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// Ends the test case with a report for the learner.
[[noreturn]] inline void complain(const std::string& what,
                                  const std::string& more = "") {
    wb::testing::fail(wb::testing::Kind::wrong_result, what, more);
}
