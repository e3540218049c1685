/// place.h: the line of a chapter's file at which a program has ended.
#pragma once

#include <string>

namespace wb::supervise {

struct SourceLine {
    std::string file{};  ///< from the workbook's folder; "": not known
    int line = 0;
};

/// The innermost frame of a stack that is neither the framework's nor a library's.
///
/// @param stack    as Frame::crash brings it: offsets within the program, one a line
SourceLine place_in(const std::string& stack, const std::string& program);

}  // namespace wb::supervise
