/// wb/testing/fail.h: ending a test case with a finding, for the learner to read.
#pragma once

#include <wb/errors.h>
#include <wb/testing/verdict.h>

#include <string>

namespace wb::testing {

/// Puts the finding into words, prints them line by line behind "wb| ", adds it to the
/// program's verdict and ends the test case.
[[noreturn]] void fail(Finding finding);

/// The same, where a test knows the words better.
///
/// @param what  one sentence
/// @param more  what explains it: more lines, or "likely cause: ..."
[[noreturn]] void fail(Kind kind,
                       const std::string& what,
                       const std::string& more = "");

/// For functions that must report what is wrong with their inputs and go on. Fails,
/// in the learner's words, unless `got` contains `wanted`; where that is "", nothing
/// may be reported.
void expect_report(const std::string& implementation,
                   const std::string& inputs,
                   const std::string& got,
                   const std::string& wanted);

/// The learner's function is not written yet.
[[noreturn]] void fail(const NotSolved& unsolved);

/// What a function of the learner's returns; says so if it is not written yet.
template <class F>
auto result_of(F call) {
    try {
        return call();
    } catch (const NotSolved& unsolved) {
        fail(unsolved);
    }
}

}  // namespace wb::testing
