/// simt/finding_kind.h: what can be wrong with a kernel, or with a program that tests
/// it.
///
/// One enum for the simulator, its checker and the test framework that grades kernels:
/// a verdict is then the same data wherever it comes from (docs/verdict.md). The header
/// stands alone, in a folder without headers named like CUDA's, so that programs built
/// by nvcc can include it, too.
#pragma once

#include <cstdint>

// KIND(name, meaning). Found while a kernel runs, by the simulator and its checker.
#define SIMT_KERNEL_FINDINGS(KIND)                                                    \
    KIND(race, "two threads access the same memory, one of them writes, unordered")   \
    KIND(out_of_bounds, "an access or an index outside of the memory that it means")  \
    KIND(use_after_free, "an access to memory that has been freed")                   \
    KIND(uninitialised, "a read of memory that nobody has written")                   \
    KIND(misaligned, "an access whose address is no multiple of its size")            \
    KIND(undefined, "a shift or a conversion whose result C++ leaves open")           \
    KIND(host_pointer, "a kernel was given, or uses, a pointer to host memory")       \
    KIND(device_pointer_on_host, "host code uses a pointer to device memory")         \
    KIND(divergent_barrier, "not all threads of a block reach the same barrier")      \
    KIND(missing_lanes, "lanes that a mask names do not make the call")               \
    KIND(deadlock, "threads wait for each other, and none can go on")                 \
    KIND(hang, "nothing moves for longer than the simulator waits: an endless loop?") \
    KIND(refused_launch, "no GPU can run a launch of such a size")                    \
    KIND(assertion, "an assert() in a kernel failed")                                 \
    KIND(fault, "anything else that ends a launch: a trap, a division by zero, ...")

// Found by a test program, in what a kernel or its launcher does.
#define SIMT_GRADER_FINDINGS(KIND)                                               \
    KIND(wrong_result, "an output differs from the reference")                   \
    KIND(damaged_memory, "bytes just before or behind an array were written")    \
    KIND(changed_input, "an array that is only read was written")                \
    KIND(work_for_nothing, "zero-size work launches something, or fails")        \
    KIND(not_refused, "a wrong argument is accepted, or refused in a wrong way") \
    KIND(launcher_threw, "the launcher threw an exception of its own")           \
    KIND(cuda_error, "a call of CUDA's returned an error")                       \
    KIND(unsolved, "the exercise has not been written yet")                      \
    KIND(goal_missed, "the result is right, but a performance goal is missed")   \
    KIND(contract, "another promise of the contract is not kept")                \
    KIND(check_failed, "a check of the test failed that says nothing better")    \
    KIND(time_limit, "the test case was ended because it took too long")         \
    KIND(ended_early, "the program ended before its tests had ended")

#define SIMT_FINDING_KINDS(KIND) \
    SIMT_KERNEL_FINDINGS(KIND)   \
    SIMT_GRADER_FINDINGS(KIND)

namespace simt {

/// What a finding is about.
enum class FindingKind : std::uint8_t {
#define SIMT_KIND(name, meaning) name,
    SIMT_FINDING_KINDS(SIMT_KIND)
#undef SIMT_KIND
};

/// "race": as in JSON documents.
constexpr const char* kind_name(FindingKind kind) {
    switch (kind) {
#define SIMT_KIND(name, meaning) \
    case FindingKind::name:      \
        return #name;
        SIMT_FINDING_KINDS(SIMT_KIND)
#undef SIMT_KIND
    }
    return "";
}

/// What it means, in a few words.
constexpr const char* kind_meaning(FindingKind kind) {
    switch (kind) {
#define SIMT_KIND(name, meaning) \
    case FindingKind::name:      \
        return meaning;
        SIMT_FINDING_KINDS(SIMT_KIND)
#undef SIMT_KIND
    }
    return "";
}

}  // namespace simt
