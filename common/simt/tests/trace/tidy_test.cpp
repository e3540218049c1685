// How patterns of addresses are written, and how repetitions are folded.
#include <cstdio>
#include <vector>

#include "checker/trace/steps.h"

using namespace simt::check;

namespace {

int failures = 0;

void expect(bool holds, const char* text, int line) {
    if (holds) return;
    ++failures;
    std::printf("line %d: %s\n", line, text);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/// A store of one lane of a warp to shared memory.
Step store(Trace& trace, int warp, uint32_t time, uint32_t place, int64_t base) {
    if (trace.patterns.empty()) trace.patterns = {{0, 0}, {1, 0}, {3, 0}};
    Step step;
    step.time = time;
    step.warp = warp;
    step.doing = Doing::store;
    step.space = Space::shared;
    step.place = place;
    step.pattern = 1;
    step.base = base;
    step.bytes = 4;
    return step;
}

Step step_of(Trace& trace, Doing doing, int warp, uint32_t time, uint32_t place) {
    Step step = store(trace, warp, time, place, 0);
    step.doing = doing;
    step.space = Space::global;
    return step;
}

void patterns_are_short() {
    uintptr_t address[32];
    for (unsigned l = 0; l < 32; ++l)
        address[l] = 1000 + 128 * l;
    EXPECT((pattern_of(~0u, address) == Pattern{0xffffffff, 128}));
    EXPECT((pattern_of(0x10, address) == Pattern{0x10, 0}));
    EXPECT((pattern_of(0x88, address) == Pattern{0x88, 128}));
    EXPECT((pattern_of(0x88, nullptr) == Pattern{0x88, 0}));
    address[2] = 1004;
    EXPECT((pattern_of(7, address) == Pattern{7, 0, 128, 4}));
    address[1] = 996;
    EXPECT((pattern_of(3, address) == Pattern{3, -4}));
    address[3] = 1001;  // no whole stride
    EXPECT((pattern_of(9, address) == Pattern{9, 0, 1}));
}

void runs_are_found() {
    EXPECT(runs_of({1, 2, 3, 4, 5}, 2).empty());
    const auto one = runs_of({9, 1, 1, 1, 1, 8}, 4);
    EXPECT(one.size() == 1 && one[0].first == 1 && one[0].period == 1 &&
           one[0].times == 4);
    const auto pair = runs_of({1, 2, 1, 2, 1, 2, 7}, 3);
    EXPECT(pair.size() == 1 && pair[0].period == 2 && pair[0].times == 3);
    EXPECT(runs_of({1, 2, 1, 2, 1, 2, 7}, 4).empty());
}

void a_loop_of_a_warp_is_folded() {
    Trace trace;
    for (uint32_t i = 0; i < 20; ++i)
        for (int warp = 0; warp < 2; ++warp)
            trace.steps.push_back(store(trace, warp, i, 5, 4 * (i % 8) + 100 * warp));
    EXPECT(tidy(trace, 1000) == 0);
    EXPECT(trace.steps.size() == 2 * (3 + 1 + 1));
    EXPECT(trace.folds.size() == 2);
    const Fold& fold = trace.folds[0];
    EXPECT(fold.times == 16 && fold.steps == 16);
    EXPECT(fold.writes.size() == 8);  // each place once
    EXPECT(trace.steps[6].doing == Doing::folded && trace.steps[6].warp == 0);
}

void folded_copies_are_on_their_way() {
    Trace trace;
    for (uint32_t i = 0; i < 20; ++i) {
        trace.steps.push_back(store(trace, 0, i, 5, 4 * i));
        trace.steps.back().doing = Doing::copy;
    }
    tidy(trace, 1000);
    EXPECT(trace.folds.size() == 1 && trace.folds[0].writes.size() == 16);
    EXPECT(trace.folds[0].writes[0][0] == kNobody);
}

void a_loop_with_barriers_is_folded_for_all_warps() {
    Trace trace;
    for (uint32_t i = 0; i < 20; ++i) {
        // The warps take turns in another order each time.
        for (int w = 0; w < 2; ++w)
            trace.steps.push_back(
                store(trace,
                      static_cast<int>(i + static_cast<unsigned>(w)) % 2,
                      10 * i + static_cast<unsigned>(w),
                      5,
                      0));
        trace.steps.push_back(step_of(trace, Doing::barrier, kNobody, 10 * i + 5, 6));
    }
    tidy(trace, 1000);
    EXPECT(trace.steps.size() == 4 * 3 + 1);
    EXPECT(trace.folds.size() == 1 && trace.folds[0].times == 16);
    EXPECT(trace.steps[9].doing == Doing::folded && trace.steps[9].warp == kNobody);
}

void what_others_wait_for_is_not_folded_for_one_warp() {
    Trace trace;
    for (uint32_t i = 0; i < 20; ++i)
        trace.steps.push_back(step_of(trace, Doing::release, 0, i, 5));
    tidy(trace, 1000);
    EXPECT(trace.steps.size() == 20);
}

void a_step_with_a_finding_is_not_folded() {
    Trace trace;
    for (uint32_t i = 0; i < 20; ++i) {
        trace.steps.push_back(store(trace, 0, i, 5, 0));
        if (i == 10) trace.steps.back().finding = 0;
    }
    tidy(trace, 1000);
    bool found = false;
    for (const Step& step : trace.steps)
        found |= step.finding == 0;
    EXPECT(found);
}

void standing_still_is_dropped() {
    Trace trace;
    trace.steps = {step_of(trace, Doing::at, 0, 1, 5),
                   step_of(trace, Doing::at, 0, 2, 5),  // again
                   step_of(trace, Doing::at, 0, 3, 6),  // before the store at 6
                   store(trace, 0, 4, 6, 0),
                   step_of(trace, Doing::at, 0, 5, 6),   // after it
                   step_of(trace, Doing::at, 0, 6, 6)};  // with other lanes
    trace.steps.back().pattern = 2;
    tidy(trace, 1000);
    EXPECT(trace.steps.size() == 3);
    EXPECT(trace.steps[1].doing == Doing::store);
    EXPECT(trace.steps[2].pattern == 2);
}

void of_many_blocks_the_first_and_the_last_are_kept() {
    Trace trace;
    for (uint32_t i = 0; i < 6; ++i)
        trace.steps.push_back(step_of(trace, Doing::at, 0, i, 10 + i));
    tidy(trace, 1000);
    EXPECT(trace.steps.size() == 2);
    EXPECT(trace.steps[0].place == 10 && trace.steps[1].place == 15);
}

void the_limit_is_said() {
    Trace trace;
    for (uint32_t i = 0; i < 20; ++i)
        trace.steps.push_back(store(trace, 0, i, i, 0));
    EXPECT(tidy(trace, 15) == 5);
    EXPECT(trace.steps.size() == 15);
}

}  // namespace

int main() {
    patterns_are_short();
    runs_are_found();
    a_loop_of_a_warp_is_folded();
    folded_copies_are_on_their_way();
    a_loop_with_barriers_is_folded_for_all_warps();
    what_others_wait_for_is_not_folded_for_one_warp();
    a_step_with_a_finding_is_not_folded();
    standing_still_is_dropped();
    of_many_blocks_the_first_and_the_last_are_kept();
    the_limit_is_said();
    std::printf("%s\n", failures == 0 ? "all right" : "FAILED");
    return failures == 0 ? 0 : 1;
}
