/// grade_diagnosis.h: judges what the learner says of a kernel, and its remedy. A wrong
/// name is answered with the counter that speaks against it, never with the right one.
#pragma once

#include "profiling.h"

#include <wb/exercise.h>
#include <wb/testing/catch.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// Ends the test case with a report for the learner.
[[noreturn]] inline void fail(const std::string& what, const std::string& more = "") {
    std::printf("wb| %s\n", what.c_str());
    if (!more.empty()) std::printf("wb|   %s\n", more.c_str());
    std::fflush(stdout);
    FAIL(what);
    std::abort();
}

/// What a function of the learner's returns; says so if it is not written yet.
template <class F>
auto result_of(F call) {
    try {
        return call();
    } catch (const wb::NotSolved& unsolved) {
        fail(unsolved.what());
    }
}

/// What is claimed of a kernel, in words, and the counter that would show it.
struct Claim {
    const char* words;
    const char* look;
};

inline Claim claim_of(Disease disease) {
    switch (disease) {
        case Disease::uncoalesced:
            return {"its accesses are not coalesced",
                    "then loads or stores of global memory move more sectors than "
                    "needed: look at \"sectors\" and \"%\" in xray, at sectors a "
                    "request in ncu"};
        case Disease::bank_conflicts:
            return {"it has bank conflicts",
                    "then loads or stores of shared memory take more passes than one: "
                    "look for \"-way banks\" in xray, at bank conflicts in ncu"};
        case Disease::registers:
            return {"registers limit its occupancy",
                    "then few blocks fit into 65536 registers: registers a thread "
                    "times threads a block, by nvcc -Xptxas -v or xray"};
        case Disease::shared_memory:
            return {"shared memory limits its occupancy",
                    "then few blocks fit into a multiprocessor's shared memory: look "
                    "at the bytes that one block asks for at its launch"};
        case Disease::launches:
            return {"it is launched too often",
                    "then there are many launches of few blocks: look at the number "
                    "of launches in xray, at the grid in ncu"};
        case Disease::divergence:
            return {"its warps diverge",
                    "then most instructions have fewer than 32 lanes: look for \"of "
                    "32 busy\" in xray, at threads an instruction in ncu"};
        case Disease::unknown:
            break;
    }
    return {"", ""};
}

/// Judges the diagnosis of one kernel.
inline void expect_disease(char letter,
                           Disease (*of)(const Diagnoses&),
                           Disease right) {
    const Diagnoses all = result_of([] { return diagnose(); });
    const Disease got = of(all);
    const std::string name = std::string("mystery_") + letter;
    if (got == Disease::unknown) {
        fail(name + " has no diagnosis yet",
             "./learn xray profiling --kernel " + name + "_kernel counts for you");
    }
    const Claim claim = claim_of(got);
    if (got != right) {
        fail(name + ": you say that " + claim.words + ", but it is something else",
             claim.look);
    }
    CHECK(got == right);
}
