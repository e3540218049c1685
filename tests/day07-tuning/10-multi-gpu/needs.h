/// needs.h: test cases that need several GPUs.
#pragma once

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include "team.h"

/// Calls that have nothing to do say whether their function has been written.
inline void ask_multi_gpu() {
    multi_gpu({0, 1, 1, 1}, {}, nullptr, nullptr, nullptr);
}
inline void ask_one_shot() {
    one_shot_all_reduce({}, nullptr, 0, nullptr);
}

/// False, with the reason in `why`, where there are not so many GPUs that can access
/// each other's memory. What a learner has not written is said first.
inline bool can_have(int ranks, void (*ask)(), std::string& why) {
    wb::testing::result_of([&] {
        ask();
        return true;
    });
    why =
        "needs " + std::to_string(ranks) + " GPUs that can access each other's memory";
    return available_devices() >= ranks && are_peers(ranks);
}

/// Ranks of one_shot_all_reduce() may share a GPU.
inline bool can_share(int ranks) {
    const int devices = std::min(ranks, available_devices());
    return devices > 0 && are_peers(devices);
}

#define WB_NEEDS_DEVICES(ranks, ask)                      \
    do {                                                  \
        std::string why;                                  \
        if (!can_have((ranks), (ask), why)) WB_SKIP(why); \
    } while (0)

#define WB_NEEDS_A_SHARED_DEVICE(ranks)                                \
    do {                                                               \
        if (!can_share(ranks))                                         \
            WB_SKIP("needs GPUs that can access each other's memory"); \
    } while (0)
