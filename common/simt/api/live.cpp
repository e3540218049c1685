// SIMT_STREAMS=live: queued work runs at once, in threads of its own, so that host and
// kernels can wait for each other through mapped or managed memory, and for copies in
// other streams. Kernels still run one at a time.

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "core/options.h"
#include "task_queue.h"

namespace simt::detail {
namespace {

// A task that waits for another one keeps its thread: more than that are started.
constexpr int kMostRunners = 16;

bool may_start(const TaskPtr& task) {
    return !task->started && is_ready(*task);
}

TaskPtr next_of(const TaskQueue& q) {
    if (!options().live_streams) return nullptr;  // a seed has been set since
    const auto next = std::find_if(q.pending.begin(), q.pending.end(), may_start);
    return next == q.pending.end() ? nullptr : *next;
}

[[noreturn]] void run_for_ever(TaskQueue& q) {
    q.mutex.lock();
    for (;;) {
        const TaskPtr task = next_of(q);
        if (!task) {
            ++q.idle_runners;
            q.changed.wait(q.mutex);
            --q.idle_runners;
            continue;
        }
        task->started = true;
        run_beside_host(q);
        q.mutex.unlock();
        do_work(*task);
        q.mutex.lock();
        task->after.clear();
        task->gate = nullptr;
        task->done = true;
        q.moved = std::chrono::steady_clock::now();
        std::erase(q.pending, task);
        q.changed.notify_all();
    }
}

}  // namespace

void run_beside_host(TaskQueue& q) {
    const auto ready = std::count_if(q.pending.begin(), q.pending.end(), may_start);
    if (ready > q.idle_runners && q.runners < kMostRunners) {
        ++q.runners;
        std::thread([&q] { run_for_ever(q); }).detach();
    }
    if (ready > 0) q.changed.notify_all();
}

void wait_beside(TaskQueue& q, const std::vector<TaskPtr>& tasks) {
    using namespace std::chrono_literals;
    while (!std::all_of(tasks.begin(), tasks.end(), is_done)) {
        run_beside_host(q);  // what a gate has kept may go on
        if (!wait_for_gates(q)) q.changed.wait_for(q.mutex, 50ms);
    }
}

}  // namespace simt::detail
