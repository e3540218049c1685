/// complain.h: failures in words that name the argument, not only its index.
#pragma once

#include <wb/testing/catch.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// Ends the test case with a report for the learner.
[[noreturn]] inline void complain(const std::string& what,
                                  const std::string& more = "") {
    std::printf("wb| %s\n", what.c_str());
    if (!more.empty()) std::printf("wb|   %s\n", more.c_str());
    std::fflush(stdout);
    FAIL(what);
    std::abort();
}
