// Errors that another one has caused.
#pragma once

#include <set>
#include <string>

#include "diagnostics.h"

namespace rewriter {

/// Where a type is refused, what is declared with it is unknown to the compiler, too:
/// that need not be said.
class FollowUps {
 public:
    /// The name is refused at this place.
    void refused(const Diagnostic& at, const std::string& name);
    /// True if the message comes of what has been refused before it.
    bool contain(const Diagnostic& message);

 private:
    std::set<std::string> lines_;  // "a.cu:3"
    std::set<std::string> names_;
};

}  // namespace rewriter
