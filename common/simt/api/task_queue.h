#pragma once
// Queued work: what schedule.cpp orders and live.cpp runs beside the host.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/scheduler.h"
#include "gate.h"
#include "schedule.h"

namespace simt::detail {

/// Queued work. Its owner is the queue until it is done, and whoever waits for it.
struct Task {
    Work work;
    std::vector<TaskPtr> after;
    GatePtr gate;  // which must be open, too; null for most
    uint32_t priority = 0;
    int device = 0;
    bool in_legacy = false;    // the legacy default stream
    bool in_blocking = false;  // a stream that the legacy stream waits for
    bool started = false;      // by a runner of live.cpp
    std::atomic<bool> done = false;
    unsigned chain = 0;  // length of the longest chain that ends with it
    unsigned step = 0;   // how many of its stream, with it, have weight
    unsigned epoch = 0;  // numbers the seeds that were set
    // For the checker: its number, and those of tasks that nothing orders with it.
    uint64_t number = 0;
    std::vector<uint64_t> beside;
};

/// A host thread that waits for tasks.
struct Waiter {
    std::thread::id thread;
    const std::vector<TaskPtr>* tasks;
};

struct TaskQueue {
    std::recursive_mutex mutex;
    std::condition_variable_any changed;  // a task has come, or has ended
    std::vector<TaskPtr> pending;         // in order of issue
    Random random;
    bool seeded = false;
    unsigned epoch = 0;
    unsigned longest = 0;
    unsigned links = 0;       // of all chains
    unsigned host_chain = 0;  // of what the host has waited for
    uint64_t tasks = 0;       // numbered ones
    int runners = 0, idle_runners = 0;
    std::vector<Waiter> waiters;
    std::chrono::steady_clock::time_point moved;  // when a task has come, or has ended
};

bool is_ready(const Task& task);

/// Waits, for a while, for what opens a gate; gives the gates up that nothing can open.
/// The caller holds the queue, once. False if no task waits for a gate.
bool wait_for_gates(TaskQueue& queue);

/// Does the task's work in this thread, which need not hold the queue.
void do_work(Task& task);

/// Lets what is ready run beside the host (SIMT_STREAMS=live). The caller holds the
/// queue, once.
void run_beside_host(TaskQueue& queue);

/// Waits until such tasks are done, or a fault has ended everything. The caller holds
/// the queue, once.
void wait_beside(TaskQueue& queue, const std::vector<TaskPtr>& tasks);

}  // namespace simt::detail
