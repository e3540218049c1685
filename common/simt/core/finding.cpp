#include "finding.h"

#include <atomic>

namespace simt {
namespace {

// Constant-initialised: static objects of the program may register before main.
constinit std::atomic<FindingHook> g_hook{nullptr};
constinit std::atomic<LessonHook> g_lessons{nullptr};

}  // namespace

void on_finding(FindingHook hook) {
    g_hook = hook;
}

void explain_findings(LessonHook hook) {
    g_lessons = hook;
}

namespace detail {

void tell(const Finding& finding) {
    if (const FindingHook hook = g_hook) hook(finding);
}

std::string lesson_of(FindingKind kind, const char* detail) {
    const LessonHook lessons = g_lessons;
    const char* lesson = lessons ? lessons(kind, detail) : nullptr;
    return lesson ? lesson : "";
}

}  // namespace detail
}  // namespace simt
