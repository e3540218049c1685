/// needs.h: test cases that need several GPUs.
#pragma once

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>

#include "team.h"

#ifdef SIMT_CPU
#include <simt/streams.h>
#endif

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

/// Seeds [first, end) of stream orders, for GENERATE(). A GPU's streams do not ask for
/// one: two of them must do there, as each communicator takes a second.
inline auto stream_orders(unsigned first, unsigned end) {
#ifndef SIMT_CPU
    end = std::min(first + 2, end);
#endif
    return Catch::Generators::range(first, end);
}

#ifdef SIMT_CPU
/// Counts, while it lives, how often the calls of all ranks wait.
class Waits {
 public:
    Waits() {
        count_ = 0;
        simt::on_issue([](simt::Issue what, const void*) {
            if (is_in_call && what == simt::Issue::wait) ++count_;
        });
    }
    ~Waits() { simt::on_issue(nullptr); }
    Waits(const Waits&) = delete;
    Waits& operator=(const Waits&) = delete;

    static int count() { return count_; }
    static inline thread_local bool is_in_call = false;

 private:
    static inline std::atomic<int> count_ = 0;
};

/// Fails if a rank's call waits for anything.
inline void expect_no_wait(const std::string& implementation,
                           const std::string& inputs,
                           Team& team,
                           const std::function<void(Rank&, cudaStream_t)>& call) {
    const Waits waits;
    team.run([&](Rank& rank, cudaStream_t stream) {
        Waits::is_in_call = true;
        call(rank, stream);
        Waits::is_in_call = false;
    });
    if (Waits::count() == 0) return;
    wb::testing::Finding finding{wb::testing::Kind::contract, "waits"};
    finding.implementation = implementation;
    finding.inputs = inputs;
    finding.what =
        "it must return without waiting, but where there are several ranks it waits: "
        "for a stream, an event, the device, for a copy from or to the host, or in "
        "cudaFree()";
    finding.advice = "whoever needs the result waits for the stream";
    wb::testing::fail(std::move(finding));
}
#endif

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
