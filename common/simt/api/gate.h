#pragma once
// What queued work may wait for besides other work: calls of host threads that may
// never be made, as a collective of several GPUs does. The scheduler finds out when
// such a wait cannot end; the gate's owner says it in words, and opens it.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "schedule.h"

namespace simt::detail {

class Gate {
 public:
    virtual ~Gate() = default;

    /// Whether its tasks may run.
    virtual bool open() const = 0;

    /// Queued tasks that bring it nearer to being open.
    virtual std::vector<TaskPtr> needs() const = 0;

    /// Whether a host thread may yet make a call that it lacks.
    ///
    /// @param waits  whether a host thread waits for queued work, and so calls nothing
    virtual bool may_open(const std::function<bool(std::thread::id)>& waits) const = 0;

    /// Nothing can open these gates any more: says why, and opens them, this one among
    /// them.
    ///
    /// @param seconds  for which nothing has moved; 0: it is certain without that
    virtual void give_up(const std::vector<std::shared_ptr<Gate>>& gates,
                         double seconds) = 0;
};
using GatePtr = std::shared_ptr<Gate>;

/// The lock of the queue. A thread that waits for work lets go of it.
std::unique_lock<std::recursive_mutex> lock_queue();

/// Wakes those who wait, for a gate has been opened, or a thread has come.
void tell_waiting();

/// Lets go of the lock, which the caller holds once, until something has changed, or
/// for a while.
/// @returns for how many seconds nothing has been queued or run
double wait_for_change(std::unique_lock<std::recursive_mutex>& lock);

/// As defer(), for work that runs when the gate is open, too.
TaskPtr defer_gated(CUstream_st& stream, Work work, const std::vector<TaskPtr>& after,
                    const GatePtr& gate);

/// The closed gate that keeps a task from running, of a task before it, too; null if
/// none does.
GatePtr gate_before(const TaskPtr& task);

/// Seconds without progress after which a wait for a call is given up.
double gate_limit();
void set_gate_limit(double seconds);

/// Streams are asynchronous from now on, if they were not.
/// @returns true if they were not
bool start_queueing();
/// Finishes what is queued; work runs when it is issued again.
void stop_queueing();

}  // namespace simt::detail
