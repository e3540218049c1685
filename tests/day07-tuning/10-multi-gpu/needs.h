/// needs.h: test cases that need several GPUs.
#pragma once

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include "team.h"

/// False, with the reason in `why`, where there are not so many GPUs that can access
/// each other's memory. What a learner has not written is said first: calls that have
/// nothing to do ask for it.
inline bool can_have(int ranks, std::string& why) {
    wb::testing::result_of([] {
        multi_gpu({0, 1, 1, 1}, {}, nullptr, nullptr, nullptr);
        one_shot_all_reduce({}, nullptr, 0, nullptr);
        return true;
    });
    why =
        "needs " + std::to_string(ranks) + " GPUs that can access each other's memory";
    return available_devices() >= ranks && are_peers(ranks);
}

#define WB_NEEDS_DEVICES(ranks)                    \
    do {                                           \
        std::string why;                           \
        if (!can_have((ranks), why)) WB_SKIP(why); \
    } while (0)
