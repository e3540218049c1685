/// channel.h: a test program's way to its supervisor (docs/verdict.md, "Who writes").
#pragma once

#include <string>
#include <vector>

#include "channel_protocol.h"

namespace wb::testing {

/// Taken before any of the learner's code runs, static objects included: the socket
/// then has a number that nobody can guess, and does not survive an exec.
class Channel {
 public:
    static Channel& instance();

    /// Is there a supervisor?
    bool is_open() const { return socket_ >= 0; }

    /// What to use instead of argv, which static objects can write to.
    const std::vector<std::string>& arguments() const { return arguments_; }

    /// Nothing is sent by a process that the program has forked. Errors are not told:
    /// the supervisor misses what it does not get.
    void send(Frame type, const std::string& payload) const;

    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

 private:
    Channel();

    int socket_ = -1;
    int process_ = 0;
    Nonce nonce_{};
    std::vector<std::string> arguments_;
};

/// The calling thread's stack, innermost frame first: an offset within the program's
/// own file on each line. Goes on below a signal's handler.
std::string stack_in_text();

}  // namespace wb::testing
