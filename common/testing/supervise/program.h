/// program.h: runs a test program and takes what it reports.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace wb::supervise {

/// What a program has done until its end.
struct Run {
    int wait_status = 0;        ///< as waitpid() gives it
    std::string document{};     ///< the last one, "" if none came
    std::string names{};        ///< of test cases, if it was asked for them
    std::string exit_stack{};   ///< where it called exit()
    std::string crash_stack{};  ///< where a signal has come
    bool has_called_exit = false;
    bool has_called_quick_exit = false;
    bool is_disturbed = false;  ///< bytes came that are not the grader's
    std::string last_name{};    ///< of the program that it was at its end: of 15 bytes
};

/// Runs a program with these arguments to its end, and ends what it leaves behind.
///
/// @param is_silent    without its standard output
/// @param on_document  called for each document that is not the last
/// Throws std::runtime_error if it cannot be started.
Run run(const std::vector<std::string>& command,
        bool is_silent,
        const std::function<void(const std::string&)>& on_document);

}  // namespace wb::supervise
