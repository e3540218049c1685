/// grade_diagnosis.h: judges what the learner says of a kernel, and its remedy. A wrong
/// name is answered with the counter that speaks against it, never with the right one.
#pragma once

#include "profiling.h"

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// Ends the test case with a report for the learner.
[[noreturn]] inline void fail(const std::string& what, const std::string& more = "") {
    wb::testing::fail(wb::testing::Kind::wrong_result, what, more);
}

using wb::testing::result_of;

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

/// One of the six, and what is wrong with it.
struct Patient {
    char letter;
    Disease Diagnoses::*named;
    Disease right;
};

constexpr Patient kPatients[] = {
    {'a', &Diagnoses::mystery_a, Disease::divergence},
    {'b', &Diagnoses::mystery_b, Disease::shared_memory},
    {'c', &Diagnoses::mystery_c, Disease::uncoalesced},
    {'d', &Diagnoses::mystery_d, Disease::launches},
    {'e', &Diagnoses::mystery_e, Disease::registers},
    {'f', &Diagnoses::mystery_f, Disease::bank_conflicts},
};

inline std::string name_of(const Patient& patient) {
    return std::string("mystery_") + patient.letter;
}

/// What speaks against a diagnosis; "" if it is right, or there is none.
inline std::string objection(const Patient& patient, const Diagnoses& all) {
    const Disease named = all.*patient.named;
    if (named == patient.right || named == Disease::unknown) return "";
    const Claim claim = claim_of(named);
    return name_of(patient) + ": you say that " + claim.words +
           ", but it is something else\n" + claim.look;
}

/// Judges the diagnosis of one kernel. Where there is none yet, it says what is wrong
/// with the others: the learner may begin with any of them.
inline void expect_disease(char letter) {
    const Diagnoses all = result_of([] { return diagnose(); });
    const Patient& patient = kPatients[letter - 'a'];
    if (all.*patient.named == Disease::unknown) {
        std::string more =
            "./learn xray profiling --kernel " + name_of(patient) + "_kernel counts";
        for (const Patient& other : kPatients) {
            const std::string wrong = objection(other, all);
            if (!wrong.empty()) more += "\n" + wrong;
        }
        fail(name_of(patient) + " has no diagnosis yet", more);
    }
    const std::string wrong = objection(patient, all);
    if (!wrong.empty()) fail(wrong);
    CHECK(all.*patient.named == patient.right);
}
