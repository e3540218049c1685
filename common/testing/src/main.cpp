// The main() of every test program, compiled once: Catch2's single header costs
// seconds. `--wb-list` prints the names of the test cases, one a line, for CMake, or,
// with Catch2's filter behind it, of those that it would run; `--wb-list-serial` those
// tagged [serial], which nothing may run beside. `--wb-each`: see each_kernel.h.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cuda_runtime.h>
#include <wb/testing/simulator.h>
#include <wb/testing/verdict.h>

#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "case_watch.h"
#include "channel.h"
#include "each_kernel.h"
#include "replaced.h"
#include "settings.h"
#include "words.h"

namespace wb::testing {

void note_skipped(const std::string& reason);

namespace {

constexpr int kSkippedExitCode = 4;  // CTest: SKIP_RETURN_CODE
int skipped_tests = 0;

/// To the supervisor, or by hand to the terminal.
int tell_names(const std::string& names) {
    const Channel& channel = Channel::instance();
    if (channel.is_open()) {
        Verdict::instance().begin();
        channel.send(Frame::names, names);
        Verdict::instance().all_ran(false);
    } else {
        std::fputs(names.c_str(), stdout);
    }
    return 0;
}

int list_tests(Catch::Session& session, const char* tag) {
    std::string names;
    session.useConfigData(session.configData());
    for (const auto& test : Catch::getAllTestCasesSorted(session.config())) {
#if __has_include(<catch2/catch_session.hpp>)
        const Catch::TestCaseInfo& info = test.getTestCaseInfo();
#else
        const Catch::TestCaseInfo& info = test;
#endif
        // Hidden: goals in counters, which only checked programs can judge.
        if (info.isHidden()) continue;
        if (info.tagsAsString().find(tag) != std::string::npos)
            names += info.name + '\n';
    }
    return tell_names(names);
}

/// Those that a filter chooses.
int list_chosen(Catch::Session& session, const char* program, const char* filter) {
    const char* const arguments[] = {program, filter};
    if (session.applyCommandLine(2, arguments) != 0) return 1;
    std::string names;
    for (const std::string& name : chosen_cases(session.config()))
        names += name + '\n';
    return tell_names(names);
}

/// Says so once, instead of letting every test case fail in its own way.
bool device_is_usable() {
    const cudaError_t error = cudaFree(nullptr);  // makes the context
    if (error == cudaSuccess) return true;
    Finding unusable{Kind::cuda_error, "no_device"};
    unusable.numbers.error = cudaGetErrorName(error);
    unusable.what = "no GPU can be used here: " + unusable.numbers.error + " (" +
                    cudaGetErrorString(error) + ")";
    unusable.advice =
        "without one, build for the simulator: ./learn --cpu, or cmake --preset sim";
    put_into_words(unusable);
    for (const std::string& line : unusable.text)
        std::printf("wb| %s\n", line.c_str());
    Verdict::instance().add(std::move(unusable));
    Verdict::instance().all_ran(true);
    return false;
}

/// The program meddles with its own tests: says so, and that it has failed.
void fail_program(const char* detail, std::string what, const char* advice) {
    Finding finding{Kind::contract, detail};
    finding.what = std::move(what);
    finding.advice = advice;
    put_into_words(finding);
    for (const std::string& line : finding.text)
        std::printf("wb| %s\n", line.c_str());
    Verdict::instance().add(std::move(finding));
    Verdict::instance().all_ran(true);
}

/// The tests call a function of the program's in place of theirs, or the program calls
/// one of theirs.
bool functions_are_kept_apart() {
    if (const std::string name = replaced_function(); !name.empty()) {
        fail_program("replaces_function",
                     "the program has a function `" + name +
                         "` of its own, and the tests would call it in place of theirs",
                     "give it another name, or write `static` in front of it");
        return false;
    }
    if (const std::string name = function_of_the_tests(); !name.empty()) {
        fail_program(
            "calls_tests",
            "the program calls `" + name + "`, with which its tests are set up",
            "what a kernel and its launcher need is in CUDA and in <wb/...>");
        return false;
    }
    return true;
}

bool settings_are_kept() {
    const std::string name = changed_setting();
    if (!name.empty())
        fail_program("changes_setting", told_of_setting(name), kSettingAdvice);
    return name.empty();
}

/// The checker of simt-c++ leaves by _exit() where it has found something.
bool checker_ends_the_program() {
#ifdef SIMT_CPU
    return simt::check::num_findings() > 0;
#else
    return false;
#endif
}

}  // namespace

void note_skipped(const std::string& reason) {
    ++skipped_tests;
    Verdict::instance().skip(reason);
    std::printf("wb| SKIPPED: %s\n", reason.c_str());
}

}  // namespace wb::testing

int main(int argc, char** argv) {
    Catch::Session session;
    // A static object of the learner's can write to argv.
    std::vector<char*> given;
    if (const auto& channel = wb::testing::Channel::instance(); channel.is_open()) {
        for (const std::string& argument : channel.arguments())
            given.push_back(const_cast<char*>(argument.c_str()));
        argc = static_cast<int>(given.size());
        given.push_back(nullptr);
        argv = given.data();
    }
    if (argc == 2 && std::strcmp(argv[1], "--wb-list") == 0) {
        return wb::testing::list_tests(session, "");
    }
    if (argc == 3 && std::strcmp(argv[1], "--wb-list") == 0) {
        return wb::testing::list_chosen(session, argv[0], argv[2]);
    }
    if (argc == 2 && std::strcmp(argv[1], "--wb-list-serial") == 0) {
        return wb::testing::list_tests(session, "[serial]");
    }
    auto& verdict = wb::testing::Verdict::instance();
    verdict.begin();
    if (wb::testing::TimeLimit::instance().is_stopped()) {
        const std::string reason = "a case before this one took too long";
        std::printf("wb| not run: %s\n", reason.c_str());
        if (session.applyCommandLine(argc, argv) != 0) return 1;
        wb::testing::name_chapter(session.config());
        verdict.not_run(wb::testing::chosen_cases(session.config()), reason);
        verdict.all_ran(true);
        return wb::testing::kSkippedExitCode;
    }
    if (!wb::testing::functions_are_kept_apart()) return 1;
    if (!wb::testing::settings_are_kept()) return 1;
    wb::testing::prepare_simulator();
    if (!wb::testing::device_is_usable()) return 1;
    if (argc == 3 && std::strcmp(argv[1], "--wb-each") == 0) {
        return wb::testing::run_each(session, argv[0], argv[2]);
    }
    const int failed = session.run(argc, argv);
    verdict.all_ran(wb::testing::checker_ends_the_program());
    if (failed == 0 && wb::testing::skipped_tests > 0) {
        return wb::testing::kSkippedExitCode;
    }
    return failed;
}
