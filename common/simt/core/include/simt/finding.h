/// simt/finding.h: what the simulator and its checker find, for a program that wants to
/// know it as data: a test framework, say.
///
///     simt::on_finding([](const simt::Finding& f) { ... });
///
/// What is found is printed all the same. A program whose course explains mistakes can
/// name the lesson, too:
///
///     simt::explain_findings([](simt::FindingKind kind, const char* detail) {
///         return kind == simt::FindingKind::race ? "day01/barriers" : "";
///     });
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// In a folder of its own, for programs that are compiled without the simulator.
#include "../../portable/simt/finding_kind.h"

namespace simt {

/// A line of the source, and who was there.
struct FindingPlace {
    const char* role;  // "access", "other_access", "barrier", "launch"
    std::string file;  // as the compiler was given it
    int line = 0;
    bool has_thread = false;
    unsigned block[3] = {};
    unsigned thread[3] = {};
};

/// One mistake.
struct Finding {
    static constexpr std::size_t kNoNumber = static_cast<std::size_t>(-1);

    FindingKind kind = FindingKind::fault;
    const char* detail = "";           // tells those of one kind apart: "same_warp"
    std::string kernel;                // "" in host code
    std::vector<FindingPlace> places;  // the most telling one first
    std::string advice;                // how it is usually fixed
    std::string lesson;                // see explain_findings()
    std::string text;                  // as printed: lines, the first says what it is
    std::size_t number = kNoNumber;    // of the checker's, for simt::check::finding()
};

/// Called for each finding that is not a repetition, from any thread, perhaps on the
/// small stack of a kernel's: it may copy and allocate, and must do no more.
using FindingHook = void (*)(const Finding& finding);
void on_finding(FindingHook hook);

/// Which lesson explains a finding; "" if none does.
using LessonHook = const char* (*)(FindingKind kind, const char* detail);
void explain_findings(LessonHook hook);

}  // namespace simt
