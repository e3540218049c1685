/// time_limit.h: ends test cases that take too long, for ./learn. It does nothing
/// unless these variables are set:
///
///   WB_TIME_LIMIT  seconds after which a test case is ended, with the whole program;
///                  a case with the tag [slow] or [large] has three times as long,
///                  unless another one has been ended by then. Time for which other
///                  programs had the processors does not count: on a busy machine, a
///                  right answer must not look like a loop that never ends
///   WB_STOP_FILE   a file that a case leaves behind if it reached the limit, or if it
///                  failed after half of that; programs that start later do not run
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <wb/testing/verdict.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "waiting.h"
#include "words.h"

namespace wb::testing {

/// Ends the program when a test case takes too long, whatever it is doing.
class TimeLimit {
 public:
    TimeLimit() {
        if (const char* text = std::getenv("WB_TIME_LIMIT")) seconds_ = std::atof(text);
        if (const char* text = std::getenv("WB_STOP_FILE")) stop_file_ = text;
    }
    static TimeLimit& instance() {
        static TimeLimit limit;
        return limit;
    }

    /// True if an earlier program has left the file behind.
    bool is_stopped() const {
        return !stop_file_.empty() && access(stop_file_.c_str(), F_OK) == 0;
    }
    void begin(bool slow) {
        slow_ = slow;
        waited_ = 0;
        begun_ = now();
        if (seconds_ > 0 && !started_.exchange(true)) {
            std::thread([this] { watch(); }).detach();
        }
    }
    void end(bool passed) {
        const double taken = now() - begun_.exchange(kNoCase) - waited_;
        if (seconds_ > 0 && !passed && taken > seconds_ / 2) leave_file();
    }

 private:
    static constexpr double kNoCase = -1;
    static constexpr double kSlowFactor = 3;  // discover_tests.cmake knows it, too

    static double now() {
        using namespace std::chrono;
        return duration<double>(steady_clock::now().time_since_epoch()).count();
    }
    void leave_file() const {
        if (stop_file_.empty()) return;
        const int file = open(stop_file_.c_str(), O_WRONLY | O_CREAT, 0644);
        if (file >= 0) close(file);
    }
    void watch() {
        Waiting waiting;
        double seen = kNoCase;
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            const double begun = begun_;
            if (begun == kNoCase) continue;
            if (seen != begun) waiting.restart();
            seen = begun;
            waited_ = waiting.seconds();
            const double taken = now() - begun - waited_;
            if (taken < seconds_) continue;
            const double limit = slow_ ? kSlowFactor * seconds_ : seconds_;
            if (taken < limit && !is_stopped()) continue;
            leave_file();
            Finding finding{Kind::time_limit};
            finding.numbers.measured = taken;
            finding.numbers.allowed = limit;
            put_into_words(finding);
            // No printf: the case may hang while it holds stdout's lock.
            const std::string text = "wb| " + finding.what + "\n";
            if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(2);
            Verdict::instance().time_limit(std::move(finding), taken);
            _exit(1);
        }
    }

    double seconds_ = 0;  // 0: no limit
    std::string stop_file_;
    std::atomic<double> begun_{kNoCase};
    std::atomic<double> waited_{0};  // for a processor, since then
    std::atomic<bool> slow_{false};
    std::atomic<bool> started_{false};
};

}  // namespace wb::testing
