#include "past_launches.h"

#include <algorithm>

#include "immortal.h"
#include "safety.h"

namespace simt::check {

namespace {

constexpr size_t kMostPast = 32;

/// The queued work in progress; number 0: none.
struct QueuedWork {
    uint64_t number = 0;
    std::vector<uint64_t> beside;
    std::vector<PastLaunch> past;
};
constinit Immortal<QueuedWork> g_work;
[[gnu::constructor(101)]] void make_work() {
    g_work.construct();
}

}  // namespace

const PastLaunch& past_launch(size_t number) {
    return g_work.value.past[number];
}

void safety_work_begins(uint64_t number, const std::vector<uint64_t>& beside) {
    g_work.value.number = number;
    g_work.value.beside = beside;
}

void safety_work_ends() {
    g_work.value.number = 0;
    g_work.value.beside.clear();
}

void past_launch_begins(bool forget) {
    QueuedWork& work = g_work.value;
    LaunchOrder& order = launch_order;
    order.beside.clear();
    order.beside_floor = ~0u;
    if (forget || work.number == 0) work.past.clear();
    for (size_t i = 0; i < work.past.size(); ++i) {
        const PastLaunch& past = work.past[i];
        if (std::find(work.beside.begin(), work.beside.end(), past.work) ==
            work.beside.end())
            continue;
        const auto end = past.first + static_cast<uint32_t>(past.owner.size());
        order.beside.push_back({past.first, end, i});
        order.beside_floor = std::min(order.beside_floor, past.first);
    }
}

void past_launch_ends(const detail::Launch& launch) {
    QueuedWork& work = g_work.value;
    if (work.beside.empty()) return;
    if (work.past.size() == kMostPast) work.past.erase(work.past.begin());
    work.past.push_back(
        {work.number, launch_order.first, launch_order.owner, launch_of(launch)});
}

}  // namespace simt::check
