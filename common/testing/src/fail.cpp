#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <cstdio>
#include <utility>

#include "meeting.h"
#include "told.h"
#include "words.h"

namespace wb::testing {

void fail(Finding finding) {
    if (failures_are_withheld()) throw Withheld{std::move(finding)};
    put_into_words(finding);
    std::string text;
    for (const std::string& line : finding.text)
        text += "wb| " + line + "\n";
    std::fflush(stderr);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    const std::string first = finding.text.front();
    Verdict::instance().add(std::move(finding));
    failure_is_told = true;
    FAIL(first);
    throw 0;  // unreachable: FAIL throws, but its declaration does not say so
}

void fail(Kind kind, const std::string& what, const std::string& more) {
    constexpr const char* kCause = "likely cause: ";
    Finding finding;
    finding.kind = kind;
    finding.what = what.substr(0, what.find('\n'));
    if (what != finding.what) finding.advice = what.substr(finding.what.size() + 1);
    if (more.starts_with(kCause))
        finding.causes = {more.substr(std::string(kCause).size())};
    else if (!more.empty())
        finding.advice += (finding.advice.empty() ? "" : "\n") + more;
    fail(std::move(finding));
}

void expect_report(const std::string& implementation,
                   const std::string& inputs,
                   const std::string& got,
                   const std::string& wanted) {
    if (wanted.empty() ? got.empty() : got.find(wanted) != std::string::npos) return;
    Finding finding;
    finding.kind = Kind::contract;
    finding.detail = "report";
    finding.implementation = implementation;
    finding.inputs = inputs + circumstance();
    finding.what = got.empty() ? "nothing is reported" : "it reports \"" + got + "\"";
    finding.what += wanted.empty() ? ", but nothing is wrong with the inputs"
                                   : ", but it must report \"" + wanted + "\"";
    finding.numbers.message = got;
    finding.numbers.wanted = wanted;
    fail(std::move(finding));
}

void fail(const NotSolved& unsolved) {
    fail(finding_of(unsolved));
}

bool failure_is_told = false;
std::atomic<bool> fault_is_told = false;

Finding finding_of(const NotSolved& unsolved) {
    Finding finding;
    finding.kind = Kind::unsolved;
    finding.what = unsolved.what();
    for (const auto& [file, line] : unsolved.todos())
        finding.places.push_back({"todo", file, line});
    return finding;
}

Finding finding_of(const CudaError& error) {
    Finding finding;
    finding.kind = Kind::cuda_error;
    finding.numbers.error = cudaGetErrorName(error.code());
    finding.numbers.message = error.what();
    if (error.line() > 0) finding.places = {{"call", error.file(), error.line()}};
    const std::string cause = cause_of_error(error.code());
    const bool known = fault_is_told.exchange(false);
    if (!known && !cause.empty()) finding.causes = {cause};
    return finding;
}

}  // namespace wb::testing
