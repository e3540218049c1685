#include <wb/lessons.h>

#include <cuda_runtime.h>

#include <cstring>
#ifdef SIMT_CPU
#include <simt/finding.h>
#endif

namespace wb {
namespace {

using Kind = simt::FindingKind;

constexpr const char* kLaunch = "day01-basics/01-hello-gpu";
constexpr const char* kGuard = "day01-basics/02-vector-add";
constexpr const char* kIndexing = "day01-basics/04-add-bias-nchw";
constexpr const char* kBarrier = "day01-basics/05-dot-product";
constexpr const char* kAsync = "day06-llm-attention/07-tensor-core-attention";
constexpr const char* kHopper = "day06-llm-attention/08-hopper-attention";
constexpr const char* kVectors = "day07-tuning/04-instructions";

struct Row {
    Kind kind;
    const char* detail;  // "": all that no row before it is about
    const char* lesson;
};

constexpr Row kLessons[] = {
    {Kind::race, "writers", kGuard},
    {Kind::race, "async", kAsync},
    {Kind::race, "proxy", kHopper},
    {Kind::race, "", kBarrier},
    {Kind::out_of_bounds, "index", kIndexing},
    {Kind::out_of_bounds, "", kGuard},
    {Kind::use_after_free, "", kGuard},
    {Kind::uninitialised, "async", kAsync},
    {Kind::uninitialised, "shared", kBarrier},
    {Kind::uninitialised, "", kGuard},
    {Kind::misaligned, "", kVectors},
    {Kind::host_pointer, "", kGuard},
    {Kind::device_pointer_on_host, "", kGuard},
    {Kind::divergent_barrier, "", kBarrier},
    {Kind::missing_lanes, "", kBarrier},
    {Kind::deadlock, "", kHopper},
    {Kind::refused_launch, "", kLaunch},
};

#ifdef SIMT_CPU
// Before the program's static objects, which may launch kernels.
[[gnu::constructor(101)]] void explain() {
    simt::explain_findings(lesson_of);
}
#endif

}  // namespace

const char* lesson_of(Kind kind, const char* detail) {
    for (const Row& row : kLessons) {
        const bool any = *row.detail == '\0';
        if (row.kind == kind && (any || std::strcmp(row.detail, detail) == 0))
            return row.lesson;
    }
    return "";
}

}  // namespace wb
