/// case_watch.h: tells of Catch2's events; part of main.cpp alone, because it needs
/// Catch2's headers for a main(). Test cases and checks that fail go to the program's
/// verdict, test cases to the time limit, and with the variable WB_PROGRESS a line
/// "[3/12] name" follows each of them.
#pragma once

#include <wb/testing/simulator.h>
#include <wb/testing/verdict.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "channel.h"
#include "time_limit.h"
#include "told.h"
#include "words.h"

namespace wb::testing {

#if __has_include(<catch2/catch_session.hpp>)
using CatchListener = Catch::EventListenerBase;
inline const Catch::TestCaseInfo& info_of(const Catch::TestCaseInfo* info) {
    return *info;
}
inline const Catch::TestCaseInfo& info_of(const Catch::TestCaseHandle& test) {
    return test.getTestCaseInfo();
}
#else
using CatchListener = Catch::TestEventListenerBase;
#endif
inline const Catch::TestCaseInfo& info_of(const Catch::TestCaseInfo& info) {
    return info;
}

/// The names of the test cases that the command line asks for.
template <class Config>
std::vector<std::string> chosen_cases(const Config& config) {
    const auto& all = Catch::getAllTestCasesSorted(config);
    std::vector<std::string> names;
    for (const auto& test : Catch::filterTests(all, config.testSpec(), config))
        names.push_back(info_of(test).name);
    return names;
}

/// The verdict is of the chapter in whose folder the tests are.
template <class Config>
void name_chapter(const Config& config) {
    const auto& all = Catch::getAllTestCasesSorted(config);
    if (!all.empty())
        Verdict::instance().set_chapter(info_of(all.front()).lineInfo.file);
}

/// The last exception of ours that Catch2 has put into words; not all of them are
/// failures, some are expected.
inline std::optional<Finding>& last_exception() {
    static std::optional<Finding> last;
    return last;
}

/// bool in Catch2 2, void in Catch2 3.
using Handled = decltype(std::declval<CatchListener&>().assertionEnded(
    std::declval<const Catch::AssertionStats&>()));

class CaseWatch : public CatchListener {
 public:
    using CatchListener::CatchListener;

    void testRunStarting(const Catch::TestRunInfo& info) override {
        CatchListener::testRunStarting(info);
        name_chapter(*m_config);
        total_ = chosen_cases(*m_config).size();
    }
    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        CatchListener::testCaseStarting(info);
        const std::string tags = info.tagsAsString();
        begun_ = std::chrono::steady_clock::now();
        Verdict::instance().begin_case(info.name);
        TimeLimit::instance().begin(tags.find("[slow]") != tags.npos ||
                                    tags.find("[large]") != tags.npos);
    }
    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        const bool passed = stats.totals.assertions.allOk();
        TimeLimit::instance().end(passed);
        const auto taken = std::chrono::steady_clock::now() - begun_;
        Verdict::instance().update_times(times_found);
        Verdict::instance().end_case(passed,
                                     std::chrono::duration<double>(taken).count());
        if (std::getenv("WB_PROGRESS")) {
            const std::string& name = info_of(stats.testInfo).name;
            std::printf("[%zu/%zu] %s\n", ++done_, total_, name.c_str());
            std::fflush(stdout);
        }
        CatchListener::testCaseEnded(stats);
    }
    Handled assertionEnded(const Catch::AssertionStats& stats) override {
        note(stats);
        return CatchListener::assertionEnded(stats);
    }

 private:
    /// A check that failed without a finding is one.
    static void note(const Catch::AssertionStats& stats) {
        const Catch::AssertionResult& result = stats.assertionResult;
        const std::optional<Finding> thrown = std::move(last_exception());
        last_exception().reset();
        if (result.isOk()) return;
        // Catch2's handler of signals: the program is about to die, of which the
        // supervisor will tell.
        if (result.getResultType() == Catch::ResultWas::FatalErrorCondition &&
            Channel::instance().is_open()) {
            Channel::instance().send(Frame::crash, stack_in_text());
            return;
        }
        if (failure_is_told) {
            failure_is_told = false;
            return;
        }
        if (thrown && result.getResultType() == Catch::ResultWas::ThrewException) {
            Verdict::instance().add(*thrown);
            return;
        }
        FailedCheck check;
        if (result.hasExpression()) {
            check.expression = result.getExpressionInMacro();
            check.expansion = result.getExpandedExpression();
        }
        check.message = static_cast<std::string>(result.getMessage());
        for (const Catch::MessageInfo& message : stats.infoMessages)
            check.messages.push_back(message.message);
        check.file = result.getSourceInfo().file;
        check.line = static_cast<int>(result.getSourceInfo().line);
        Verdict::instance().add(finding_of(check));
    }

    std::size_t done_ = 0, total_ = 0;
    std::chrono::steady_clock::time_point begun_;
};

CATCH_REGISTER_LISTENER(CaseWatch)

/// Catch2 asks for the words of an exception that leaves a test case.
template <class Exception>
std::string remember(const Exception& exception) {
    last_exception() = finding_of(exception);
    put_into_words(*last_exception());
    return exception.what();
}

CATCH_TRANSLATE_EXCEPTION(const NotSolved& unsolved) {
    return remember(unsolved);
}

CATCH_TRANSLATE_EXCEPTION(const CudaError& error) {
    return remember(error);
}

}  // namespace wb::testing
