/// wb/exercise.h: how an exercise says that it has not been solved yet.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wb {

/// Thrown by WB_NOT_SOLVED(). The message names the file and the lines of its TODOs.
class NotSolved : public std::logic_error {
 public:
    struct Place {
        std::string file;
        int line;
    };
    explicit NotSolved(const std::string& message, std::vector<Place> todos = {})
        : std::logic_error(message), todos_(std::move(todos)) {}

    /// Where there is something to write.
    const std::vector<Place>& todos() const { return todos_; }

 private:
    std::vector<Place> todos_;
};

/// Throws NotSolved; reads `file` to name the lines where a TODO(learner) stands.
/// Not [[noreturn]], or compilers would warn of the unreachable code below it.
void not_solved(const char* file, int line);

}  // namespace wb

/// Stands in an untouched starter; the learner deletes it with the TODO it belongs to.
#define WB_NOT_SOLVED() ::wb::not_solved(__FILE__, __LINE__)
