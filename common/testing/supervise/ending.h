/// ending.h: what is to be said of the end of a test program.
#pragma once

#include <string>

#include "program.h"

namespace wb::supervise {

/// The verdict, and how the supervisor ends.
struct Ending {
    std::string
        document{};       ///< JSON; "ended" in it is true only if all is as it should
    std::string words{};  ///< for the terminal: why it is not; "" if it is
    int status = 0;
    std::string summary{};  ///< of a single test case, see document.h
};

/// Judges a run by its last document and by the way in which it ended.
///
/// @param program  its path
/// @param lists    it was to name its test cases, and to run none
Ending judge(const Run& run, const std::string& program, bool lists);

}  // namespace wb::supervise
