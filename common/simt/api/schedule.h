#pragma once
// Streams that really are asynchronous: with a seed (simt/streams.h), submit() and the
// like hand their work to this queue, which runs it later, in an order that the
// dependencies allow.

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/observer.h"
#include "operation.h"
#include "simt/streams.h"

struct CUstream_st;

namespace simt::detail {

struct Task;
using TaskPtr = std::shared_ptr<Task>;
using Work = std::function<cudaError_t()>;

/// Whether a task takes time, and so is a link of longest_chain().
enum class Weight { nothing, one };

/// True while this thread runs a task: what it calls is to be done, not queued.
bool running_task();

/// True if work is to be queued.
bool deferring();

/// Queues `work` behind what the stream has to do so far, behind what the rules of the
/// legacy default stream ask for, and behind `after`.
TaskPtr defer(CUstream_st& stream, Work work, Weight weight,
              const std::vector<TaskPtr>& after = {});

/// The same for an operation; waits for it if CUDA's call would.
cudaError_t defer_operation(CUstream_st& stream, OperationPtr operation);

/// Queues work of a graph: only `after` comes before it.
TaskPtr defer_node(Work work, const std::vector<TaskPtr>& after);

/// What the next work of the stream has to wait for.
std::vector<TaskPtr> tasks_before(const CUstream_st& stream);

/// Runs an operation as a task does: memory may have been freed since it was issued.
cudaError_t run_late(const Operation& operation, cudaStream_t stream);

/// True for a task that has run, and for null.
bool is_done(const TaskPtr& task);

/// Each runs what must be run until the task, the stream, everything is done; gives the
/// fault if there was one. Without a seed they return at once.
cudaError_t finish(const TaskPtr& task);
cudaError_t finish_stream(const CUstream_st& stream);
cudaError_t finish_all();
cudaError_t finish_device(int device);

/// Lets one task run, as time passes for a host that only asks.
void let_one_run();

/// Forgets all queued work (cudaDeviceReset).
void discard_tasks();

/// The counts of simt::issue_counters().
struct IssueCounts {
    std::atomic<unsigned long> kernels{0};
    std::atomic<unsigned long> captures{0};
    std::atomic<unsigned long> instantiations{0};
    std::atomic<unsigned long> graph_launches{0};
};
extern IssueCounts g_issued;

/// Tells the program's hook of what host code asks (simt::on_issue), and the checker.
extern std::atomic<IssueHook> g_issue_hook;
inline void tell_issue(Issue what, const void* stream) {
    if (observer && what != Issue::kernel) observer->launches_divided();
    const IssueHook hook = g_issue_hook.load(std::memory_order_relaxed);
    if (hook && !running_task()) hook(what, stream);
}

}  // namespace simt::detail
