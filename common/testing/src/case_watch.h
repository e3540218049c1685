/// case_watch.h: watches the test cases for ./learn; part of main.cpp alone, because it
/// needs Catch2's headers for a main(). It does nothing unless these variables are set:
///
///   WB_TIME_LIMIT  seconds after which a test case is ended, with the whole program;
///                  a case with the tag [slow] or [large] has three times as long,
///                  unless another one has been ended by then
///   WB_STOP_FILE   a file that a case leaves behind if it reached the limit, or if it
///                  failed after half of that; programs that start later do not run
///   WB_PROGRESS    prints "[3/12] name" after each test case
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

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
        begun_ = now();
        if (seconds_ > 0 && !started_.exchange(true)) {
            std::thread([this] { watch(); }).detach();
        }
    }
    void end(bool passed) {
        const double taken = now() - begun_.exchange(kNoCase);
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
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            const double begun = begun_;
            if (begun == kNoCase || now() - begun < seconds_) continue;
            const double limit = slow_ ? kSlowFactor * seconds_ : seconds_;
            if (now() - begun < limit && !is_stopped()) continue;
            leave_file();
            // No printf: the case may hang while it holds stdout's lock.
            char text[80];
            const int length = std::snprintf(text,
                                             sizeof text,
                                             "wb| did not end within %.0f seconds\n",
                                             now() - begun);
            if (write(STDOUT_FILENO, text, length) < 0) _exit(2);
            _exit(1);
        }
    }

    double seconds_ = 0;  // 0: no limit
    std::string stop_file_;
    std::atomic<double> begun_{kNoCase};
    std::atomic<bool> slow_{false};
    std::atomic<bool> started_{false};
};

#if __has_include(<catch2/catch_session.hpp>)
using CatchListener = Catch::EventListenerBase;
#else
using CatchListener = Catch::TestEventListenerBase;
#endif

/// Tells TimeLimit and the learner about the test cases.
class CaseWatch : public CatchListener {
 public:
    using CatchListener::CatchListener;

    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        CatchListener::testCaseStarting(info);
        const std::string tags = info.tagsAsString();
        TimeLimit::instance().begin(tags.find("[slow]") != tags.npos ||
                                    tags.find("[large]") != tags.npos);
    }
    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        TimeLimit::instance().end(stats.totals.assertions.allOk());
        if (std::getenv("WB_PROGRESS")) print_progress(stats.testInfo);
        CatchListener::testCaseEnded(stats);
    }

 private:
    template <typename Info>  // a reference in Catch2 2, a pointer in Catch2 3
    void print_progress(const Info& info) {
        if (total_ == 0) {
            const auto& all = Catch::getAllTestCasesSorted(*m_config);
            total_ = Catch::filterTests(all, m_config->testSpec(), *m_config).size();
        }
        std::printf("[%zu/%zu] %s\n", ++done_, total_, name_of(info).c_str());
        std::fflush(stdout);
    }
    static std::string name_of(const Catch::TestCaseInfo& info) { return info.name; }
    static std::string name_of(const Catch::TestCaseInfo* info) { return info->name; }

    size_t done_ = 0, total_ = 0;
};

CATCH_REGISTER_LISTENER(CaseWatch)

}  // namespace wb::testing
