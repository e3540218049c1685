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
constexpr const char* kBarrier = "day01-basics/05-dot-product";
constexpr const char* kAsync = "day02-memory/06-async-copy";
constexpr const char* kLastBlock = "day03-parallel-patterns/01-reduction";
constexpr const char* kDependent = "day05-quantization/02-gptq-int4";
constexpr const char* kHopper = "day06-llm-attention/08-hopper-attention";
constexpr const char* kLoads = "day07-tuning/04-instructions";
constexpr const char* kStreams = "day07-tuning/05-streams-and-memory";
constexpr const char* kRanks = "day07-tuning/10-multi-gpu";

constexpr const char* kEverybodyAdds = "First attempt: everybody adds to the result";
constexpr const char* kBlockAdds = "Second attempt: the block adds up first";
constexpr const char* kTheBarrier = "The barrier";
constexpr const char* kShuffles = "A warp: shuffles";
constexpr const char* kGrid = "A grid: a second kernel, or the last block";
constexpr const char* kSameCalls = "Everybody makes the same calls";
constexpr const char* kGroups = "cp.async, groups and waits";
constexpr const char* kGoesWrong = "What it looks like when it goes wrong";

// No chapter explains memory that is freed too early: nothing is better than a lesson
// on something else.
constexpr LessonSection kSections[] = {
    {Kind::race, "same_warp", kLastBlock, kShuffles, "__syncwarp()"},
    {Kind::race, "async", kAsync, kGroups, "cp_async_wait"},
    {Kind::race,
     "proxy",
     kHopper,
     "The solution, version by version",
     "asynchronous proxy"},
    {Kind::race,
     "barrier",
     kHopper,
     "A barrier that counts bytes",
     "mbarrier_init_fence()"},
    {Kind::race,
     "dependency",
     kDependent,
     "Go faster",
     "programmatic dependent launch"},
    {Kind::race, "collective_buffer", kRanks, "Overlap", "its buffer"},
    {Kind::race, "scope", kLastBlock, kGrid, "*scope*"},
    {Kind::race, "read_only", kLoads, "Pointers that may overlap", "__ldg()"},
    {Kind::race,
     "streams",
     kStreams,
     "Memory in the order of a stream",
     "at the same time"},
    {Kind::race, "writers", kBarrier, kEverybodyAdds, "atomicAdd"},
    {Kind::race, "update", kBarrier, kEverybodyAdds, "atomicAdd"},
    {Kind::race, "fence", kLastBlock, kGrid, "fence"},
    {Kind::race, "blocks", kBarrier, kTheBarrier, "no barrier for the whole grid"},
    {Kind::race, "", kBarrier, kTheBarrier, "race"},
    {Kind::out_of_bounds, "", kGuard, "The idea", "guard is missing"},
    {Kind::uninitialised, "async", kAsync, kGroups, "cp_async_wait"},
    {Kind::uninitialised, "shared", kBarrier, kBlockAdds, "garbage"},
    {Kind::uninitialised, "", kBarrier, "The contract", "set it to 0"},
    {Kind::misaligned, "", kLoads, "Four floats at a time", "multiple of 16"},
    {Kind::host_pointer, "", kLaunch, "The picture", "two memories"},
    {Kind::device_pointer_on_host, "", kLaunch, "The picture", "two memories"},
    {Kind::divergent_barrier, "", kBarrier, kTheBarrier, "must reach the same barrier"},
    {Kind::use_after_free, "collective_buffer", kRanks, "Overlap", "nor freed"},
    {Kind::missing_lanes, "", kLastBlock, kShuffles, "does not come"},
    {Kind::deadlock, "collective_order", kRanks, kSameCalls, "different order"},
    {Kind::deadlock, "missing_rank", kRanks, kSameCalls, "all ranks have called it"},
    {Kind::deadlock, "", kHopper, "A barrier that counts bytes", "hang"},
    {Kind::refused_launch, "", kLaunch, kGoesWrong, "at most 1024 threads"},
};

#ifdef SIMT_CPU
// Before the program's static objects, which may launch kernels.
[[gnu::constructor(101)]] void explain() {
    simt::explain_findings(lesson_of);
}
#endif

}  // namespace

const LessonSection* lesson_section_of(Kind kind, const char* detail) {
    for (const LessonSection& row : kSections) {
        const bool any = *row.detail == '\0';
        if (row.kind == kind && (any || std::strcmp(row.detail, detail) == 0))
            return *row.lesson == '\0' ? nullptr : &row;
    }
    return nullptr;
}

const char* lesson_of(Kind kind, const char* detail) {
    const LessonSection* const found = lesson_section_of(kind, detail);
    return found ? found->lesson : "";
}

}  // namespace wb
