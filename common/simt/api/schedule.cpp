// The queue of asynchronous work, and the order in which it is run.
//
// Each task has a random priority, mostly that of the task before it in its stream, so
// that for a while one stream runs far ahead and another falls far behind: that is
// where a missing event shows. Of the tasks whose dependencies are done, the one with
// the highest priority is next.

#include "schedule.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>
#include <utility>

#include "call.h"
#include "core/devices.h"
#include "core/options.h"
#include "handles.h"
#include "simt/streams.h"
#include "stream.h"
#include "task_queue.h"

namespace simt::detail {

IssueCounts g_issued;
std::atomic<IssueHook> g_issue_hook{nullptr};

namespace {

constexpr uint32_t kPriorities = 1u << 20;
constexpr uint32_t kSwitch = 6;           // one task in so many gets another priority
constexpr unsigned kRestless = 1u << 30;  // seeds from here on: each task does
constexpr unsigned kInStep = 1u << 31;    // and from here on, all go step by step
constexpr unsigned kMostSteps = 0xfff;    // 12 bits of a priority, above the 20 others
constexpr uint32_t kAtOnce =
    3;  // odd seeds: fewer tasks than this run after each issue
constexpr size_t kMostBeside = 256;  // pending tasks that a new one is compared with

using Queue = TaskQueue;

// Never destroyed: static objects may free streams when the process ends.
Queue& queue() {
    static auto* const instance = new Queue;
    return *instance;
}

thread_local bool t_running = false;

Random& random_of(Queue& q) {
    if (!q.seeded) q.random.seed(options().stream_seed, 1, 2);
    q.seeded = true;
    return q.random;
}

unsigned chain_of(const Queue& q, const TaskPtr& task) {
    return task && task->epoch == q.epoch ? task->chain : 0;
}

void note_move(Queue& q) {
    q.moved = std::chrono::steady_clock::now();
    if (!q.waiters.empty()) q.changed.notify_all();
}

double seconds_since_move(const Queue& q) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - q.moved)
        .count();
}

void collect(const TaskPtr& task, std::unordered_set<const Task*>& needed) {
    std::vector<const Task*> todo = {task.get()};
    while (!todo.empty()) {
        const Task* next = todo.back();
        todo.pop_back();
        if (next->done || !needed.insert(next).second) continue;
        for (const TaskPtr& before : next->after)
            todo.push_back(before.get());
        if (!next->gate) continue;
        for (const TaskPtr& before : next->gate->needs())
            if (before) todo.push_back(before.get());
    }
}

/// Notes which of the pending tasks nothing orders with the new one. What has run when
/// a task is issued counts as before it: mostly the host has waited for it.
void note_beside(Queue& q, const TaskPtr& task) {
    if (!observer || options().live_streams || q.pending.size() > kMostBeside) return;
    task->number = ++q.tasks;
    std::unordered_set<const Task*> before;
    collect(task, before);
    for (const TaskPtr& other : q.pending) {
        if (before.contains(other.get()) || other->device != task->device) continue;
        other->beside.push_back(task->number);
        task->beside.push_back(other->number);
    }
}

/// Adds the task to the queue; with an odd seed, lets others run.
TaskPtr enqueue(Queue& q, const TaskPtr& task, Weight weight) {
    task->epoch = q.epoch;
    task->chain = q.host_chain;
    for (const TaskPtr& before : task->after)
        task->chain = std::max(task->chain, chain_of(q, before));
    if (weight == Weight::one) {
        ++task->chain;
        ++q.links;
    }
    q.longest = std::max(q.longest, task->chain);
    note_beside(q, task);
    q.pending.push_back(task);
    note_move(q);
    if (options().live_streams)
        run_beside_host(q);
    else if (options().stream_seed % 2 == 1)
        for (uint32_t n = random_of(q).below(kAtOnce); n > 0; --n)
            let_one_run();
    return task;
}

void run(Queue& q, const TaskPtr& task) {
    std::erase(q.pending, task);
    do_work(*task);
    task->done = true;
    task->after.clear();
    task->gate = nullptr;
    note_move(q);
}

/// Runs the ready task of the highest priority, among `needed` if there are any.
/// @returns false if there is none
bool run_next(Queue& q, const std::unordered_set<const Task*>* needed) {
    TaskPtr best;
    for (const TaskPtr& task : q.pending) {
        if (needed && !needed->contains(task.get())) continue;
        if (is_ready(*task) && (!best || task->priority > best->priority)) best = task;
    }
    if (!best) return false;
    run(q, best);
    return true;
}

/// The closed gates of tasks for which everything else is done.
std::vector<GatePtr> closed_gates(const Queue& q) {
    std::vector<GatePtr> gates;
    for (const TaskPtr& task : q.pending) {
        const bool waits = task->gate && !task->gate->open() &&
                           std::all_of(task->after.begin(), task->after.end(), is_done);
        if (waits && std::find(gates.begin(), gates.end(), task->gate) == gates.end())
            gates.push_back(task->gate);
    }
    return gates;
}

/// Gives up what has waited for too long.
void let_time_pass(const Queue& q) {
    if (q.pending.empty() || seconds_since_move(q) < gate_limit()) return;
    const std::vector<GatePtr> gates = closed_gates(q);
    if (!gates.empty()) gates.front()->give_up(gates, gate_limit());
}

/// A host thread that waits, as long as it lives.
class Waiting {
 public:
    Waiting(Queue& q, const std::vector<TaskPtr>& tasks) : q_(q) {
        q_.waiters.push_back({std::this_thread::get_id(), &tasks});
    }
    ~Waiting() {
        std::erase_if(q_.waiters, [](const Waiter& w) {
            return w.thread == std::this_thread::get_id();
        });
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

 private:
    Queue& q_;
};

std::atomic<double> g_gate_limit{-1};

cudaError_t finish_tasks(Queue& q, const std::vector<TaskPtr>& tasks) {
    const Waiting waiting(q, tasks);
    std::unordered_set<const Task*> needed;
    const auto collect_all = [&] {
        for (const TaskPtr& task : tasks)
            if (task) collect(task, needed);
    };
    collect_all();
    for (const TaskPtr& task : tasks)
        q.host_chain = std::max(q.host_chain, chain_of(q, task));
    if (options().live_streams) {
        wait_beside(q, tasks);
        return sticky_error();
    }
    const bool only_needed = options().stream_seed % 2 == 0;
    while (!std::all_of(tasks.begin(), tasks.end(), is_done)) {
        if (run_next(q, only_needed ? &needed : nullptr)) continue;
        // What keeps them may be a host thread that waits for something else.
        if (only_needed && !closed_gates(q).empty() && run_next(q, nullptr)) continue;
        if (!wait_for_gates(q)) break;
        needed.clear();  // other threads have queued more
        collect_all();
    }
    return sticky_error();
}

bool is_legacy(const CUstream_st& stream) {
    return stream.legacy;
}

bool is_blocking(const CUstream_st& stream) {
    return !is_legacy(stream) && !(stream.flags & cudaStreamNonBlocking);
}

}  // namespace

bool is_ready(const Task& task) {
    return (!task.gate || task.gate->open()) &&
           std::all_of(task.after.begin(), task.after.end(), is_done);
}

bool wait_for_gates(TaskQueue& q) {
    using namespace std::chrono_literals;
    const bool live = options().live_streams;
    const bool one_runs =
        std::any_of(q.pending.begin(), q.pending.end(), [live](const TaskPtr& task) {
            return !task->done && (task->started || (live && is_ready(*task)));
        });
    const std::vector<GatePtr> gates = closed_gates(q);
    if (gates.empty() && !one_runs) return false;
    const auto waits = [&q](std::thread::id thread) {
        return std::any_of(
            q.waiters.begin(), q.waiters.end(), [thread](const Waiter& w) {
                return w.thread == thread &&
                       !std::all_of(w.tasks->begin(), w.tasks->end(), is_done);
            });
    };
    const bool some_hope =
        std::any_of(gates.begin(), gates.end(),
                    [&](const GatePtr& gate) { return gate->may_open(waits); });
    const double idle = seconds_since_move(q);
    if (one_runs || (some_hope && idle < gate_limit()))
        q.changed.wait_for(q.mutex, 50ms);
    else
        gates.front()->give_up(gates, some_hope ? gate_limit() : 0);
    return true;
}

std::unique_lock<std::recursive_mutex> lock_queue() {
    return std::unique_lock(queue().mutex);
}

void tell_waiting() {
    note_move(queue());
    queue().changed.notify_all();
}

double wait_for_change(std::unique_lock<std::recursive_mutex>& lock) {
    using namespace std::chrono_literals;
    queue().changed.wait_for(lock, 50ms);
    return seconds_since_move(queue());
}

GatePtr gate_before(const TaskPtr& task) {
    std::vector<const Task*> todo = {task.get()};
    std::unordered_set<const Task*> seen;
    while (!todo.empty()) {
        const Task* next = todo.back();
        todo.pop_back();
        if (!next || next->done || !seen.insert(next).second) continue;
        if (next->gate && !next->gate->open()) return next->gate;
        for (const TaskPtr& before : next->after)
            todo.push_back(before.get());
    }
    return nullptr;
}

double gate_limit() {
    if (g_gate_limit < 0) {
        const char* text = std::getenv("SIMT_NCCL_LIMIT");
        const double seconds = text ? std::atof(text) : 0;
        g_gate_limit = seconds > 0 ? seconds : 8;
    }
    return g_gate_limit;
}

void set_gate_limit(double seconds) {
    g_gate_limit = seconds;
}

bool start_queueing() {
    const auto lock = lock_queue();
    if (options().stream_seed != 0) return false;
    options().stream_seed = 2;
    return true;
}

void stop_queueing() {
    finish_all();
    const auto lock = lock_queue();
    options().stream_seed = 0;
}

void do_work(Task& task) {
    if (sticky_error() == cudaSuccess) {
        const OnDevice device(task.device);
        const bool outer = std::exchange(t_running, true);
        const bool told = observer && task.number != 0 && !outer;
        if (told) observer->work_begins(task.number, task.beside);
        const cudaError_t error = task.work();
        if (told) observer->work_ends();
        t_running = outer;
        if (error != cudaSuccess && sticky_error() == cudaSuccess)
            set_sticky_error(error);
    }
    task.work = nullptr;
}

bool running_task() {
    return t_running;
}

bool deferring() {
    return options().stream_seed != 0 && !t_running;
}

std::vector<TaskPtr> tasks_before(const CUstream_st& stream) {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    std::vector<TaskPtr> before;
    if (stream.last) before.push_back(stream.last);
    for (const TaskPtr& task : q.pending)
        if (task->device != stream.device)
            continue;
        else if (is_legacy(stream) ? task->in_blocking
                                   : is_blocking(stream) && task->in_legacy)
            before.push_back(task);
    return before;
}

namespace {

TaskPtr defer_in(CUstream_st& stream, Work work, Weight weight,
                 const std::vector<TaskPtr>& after, const GatePtr& gate) {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    auto task = std::make_shared<Task>();
    task->work = std::move(work);
    task->gate = gate;
    task->after = tasks_before(stream);
    for (const TaskPtr& before : after)
        if (before) task->after.push_back(before);
    task->device = stream.device;
    task->in_legacy = is_legacy(stream);
    task->in_blocking = is_blocking(stream);
    const unsigned seed = options().stream_seed;
    const bool keeps =
        stream.last && seed < kRestless && random_of(q).below(kSwitch) != 0;
    task->priority = keeps ? stream.last->priority : random_of(q).below(kPriorities);
    const bool goes_on = stream.last && stream.last->epoch == q.epoch;
    task->step = (goes_on ? stream.last->step : 0) + (weight == Weight::one ? 1 : 0);
    if (seed >= kInStep)
        task->priority += (kMostSteps - std::min(task->step, kMostSteps)) * kPriorities;
    stream.last = task;
    return enqueue(q, task, weight);
}

}  // namespace

TaskPtr defer(CUstream_st& stream, Work work, Weight weight,
              const std::vector<TaskPtr>& after) {
    return defer_in(stream, std::move(work), weight, after, nullptr);
}

TaskPtr defer_gated(CUstream_st& stream, Work work, const std::vector<TaskPtr>& after,
                    const GatePtr& gate) {
    return defer_in(stream, std::move(work), Weight::one, after, gate);
}

TaskPtr defer_node(Work work, const std::vector<TaskPtr>& after) {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    auto task = std::make_shared<Task>();
    task->work = std::move(work);
    task->after = after;
    task->device = current_device();
    task->priority = random_of(q).below(kPriorities);
    return enqueue(q, task, Weight::one);
}

cudaError_t run_late(const Operation& operation, cudaStream_t stream) {
    if (operation.check() != cudaSuccess) {
        hint(
            "queued work was valid when it was issued, and no more when it was run: "
            "was its memory freed before, or not in the order of its stream?");
        return cudaErrorIllegalAddress;
    }
    return operation.run(stream);
}

cudaError_t defer_operation(CUstream_st& stream, OperationPtr operation) {
    const bool waits = operation->host_waits();
    const TaskPtr task = defer(
        stream, [operation, handle = &stream] { return run_late(*operation, handle); },
        Weight::one);
    return waits ? finish(task) : cudaSuccess;
}

bool is_done(const TaskPtr& task) {
    return !task || task->done;
}

cudaError_t finish(const TaskPtr& task) {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    return t_running ? cudaSuccess : finish_tasks(q, {task});
}

cudaError_t finish_stream(const CUstream_st& stream) {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    if (t_running || options().stream_seed == 0) return cudaSuccess;
    std::vector<TaskPtr> tasks = {stream.last};
    // Waiting for the legacy stream means waiting for the blocking ones, too.
    if (is_legacy(stream)) tasks = tasks_before(stream);
    return finish_tasks(q, tasks);
}

cudaError_t finish_all() {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    if (t_running || q.pending.empty()) return cudaSuccess;
    return finish_tasks(q, std::vector<TaskPtr>(q.pending));
}

cudaError_t finish_device(int device) {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    if (t_running || q.pending.empty()) return sticky_error();
    std::vector<TaskPtr> tasks;
    for (const TaskPtr& task : q.pending)
        if (task->device == device) tasks.push_back(task);
    return finish_tasks(q, tasks);
}

void let_one_run() {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    if (t_running) return;
    if (options().live_streams || !run_next(q, nullptr)) let_time_pass(q);
}

void discard_tasks() {
    Queue& q = queue();
    const std::lock_guard lock(q.mutex);
    for (const TaskPtr& task : q.pending)
        task->done = true;
    q.pending.clear();
}

}  // namespace simt::detail

namespace simt {

void set_stream_seed(unsigned seed) {
    using namespace detail;
    Queue& q = queue();
    finish_all();
    const std::lock_guard lock(q.mutex);
    options().live_streams = false;
    options().stream_seed = seed;
    q.seeded = false;
    ++q.epoch;
    q.longest = q.host_chain = q.links = 0;
}

unsigned longest_chain() {
    detail::Queue& q = detail::queue();
    const std::lock_guard lock(q.mutex);
    return q.longest;
}

unsigned chain_links() {
    detail::Queue& q = detail::queue();
    const std::lock_guard lock(q.mutex);
    return q.links;
}

void on_issue(IssueHook hook) {
    detail::g_issue_hook = hook;
}

IssueCounters issue_counters() {
    const detail::IssueCounts& counts = detail::g_issued;
    return {counts.kernels, counts.captures, counts.instantiations,
            counts.graph_launches};
}

Objects objects() {
    return {detail::handles_made, detail::handles_alive};
}

}  // namespace simt
