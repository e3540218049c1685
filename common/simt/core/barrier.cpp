// Block and grid barriers, and the yielding of threads that spin.

#include "fault.h"
#include "observer.h"
#include "simt/fault.h"
#include "simt/sync.h"
#include "switch.h"

namespace simt::detail {
namespace {

// A thread may change nothing with so many atomics in a row before it is taken to be
// spinning. High enough not to slow down kernels whose atomics often change nothing.
constexpr unsigned kSpinsBeforeYield = 8;

[[gnu::noinline]] void complete(Worker& w, Block& b) {
    if (observer)
        observer->block_synchronised(
            w, b, b.barrier_op, b.barrier_file, b.barrier_line);
    b.result = b.predicates;
    b.predicates = 0;
    b.arrived = 0;
    w.make_ready(b.waiting);
    w.note_progress();
    w.note_barrier(b);
}

// What reports is kept out of line: it would make the frame large that waits.

/// Ends the launch, unless an observer lets it go on.
void forbid(Worker& w, std::unique_ptr<PendingFault> fault) {
    if (observer && observer->tolerated(*w.launch, *fault)) return;
    w.abandon(std::move(fault));
}

[[gnu::noinline]] void check_strict(Worker& w,
                                    const char* op,
                                    const char* file,
                                    int line) {
    const Block& b = *w.block;
    if (b.arrived == 0 || (b.barrier_line == line && b.barrier_op == op)) return;
    forbid(
        w,
        make_fault(
            w,
            cudaErrorLaunchFailure,
            file,
            line,
            format(
                "barrier divergence: this thread is at %s() here,\n    while %u other "
                "threads of the block wait in %s() at %s.\n"
                "    All threads of a block must reach the same barrier: move it out "
                "of "
                "the branch.",
                op,
                b.arrived,
                b.barrier_op,
                place(b.barrier_file, b.barrier_line).c_str()),
            FindingKind::divergent_barrier));
}

[[gnu::noinline]] void report_exited(Worker& w, const Block& b) {
    forbid(
        w,
        make_fault(
            w,
            cudaErrorLaunchFailure,
            b.barrier_file,
            b.barrier_line,
            format(
                "%u of the block's %u threads have ended, the others wait in %s() at "
                "%s.\n    Every thread of a block must reach every barrier: neither a "
                "`return` before it nor an `if`\n    around it may keep some of them "
                "from it. A GPU may give the right result all the same, but\n    CUDA "
                "does not promise it: the others may wait for ever, or go on too "
                "early. "
                "Let all threads\n    reach the barrier, and put the `if` around their "
                "loads and stores alone.",
                b.size - b.alive,
                b.size,
                b.barrier_op,
                place(b.barrier_file, b.barrier_line).c_str()),
            FindingKind::divergent_barrier));
}

void arrive_at_grid(Worker& w) {
    Launch& l = *w.launch;
    const std::lock_guard lock(l.mutex);
    if (++l.blocks_at_grid_barrier != l.num_blocks) return;
    l.blocks_at_grid_barrier = 0;
    l.workers_idle = 0;
    if (observer) observer->grid_synchronised(w, l);
    ++l.grid_generation;
    l.grid_changed.notify_all();
}

}  // namespace

int block_barrier(int predicate, const char* op, const char* file, int line) {
    Worker& w = kernel_worker(op, file, line);
    w.in_runtime = true;
    w.leave_row();
    Block& b = *w.block;
    Thread* t = w.thread;
    if (w.launch->strict) check_strict(w, op, file, line);
    if (b.arrived == 0) {
        b.barrier_op = op;
        b.barrier_file = file;
        b.barrier_line = line;
    }
    b.predicates += predicate != 0;
    t->state = State::in_barrier;
    t->op = op;
    t->file = file;
    t->line = line;
    b.waiting.push(t);
    if (++b.arrived == b.alive) {
        if (b.alive != b.size && w.launch->strict) report_exited(w, b);
        complete(w, b);
    }
    w.suspend();
    w.in_runtime = false;
    return static_cast<int>(b.result);
}

void complete_barriers_after_exit(Worker& w, Block& b) {
    if (b.arrived == b.alive) {
        if (w.launch->strict) report_exited(w, b);
        complete(w, b);
    }
    if (b.at_grid_barrier == b.alive) arrive_at_grid(w);
}

void grid_barrier(const char* file, int line) {
    Worker& w = kernel_worker("grid.sync", file, line);
    if (!w.launch->config->cooperative)
        fault(
            cudaErrorLaunchFailure,
            file,
            line,
            "grid.sync() in a kernel that was not launched cooperatively.\n"
            "    Launch it with cudaLaunchCooperativeKernel: only then are all blocks "
            "resident at once.");
    w.in_runtime = true;
    w.leave_row();
    Block& b = *w.block;
    Thread* t = w.thread;
    t->state = State::in_grid_barrier;
    t->op = "grid.sync";
    t->file = file;
    t->line = line;
    w.at_grid_.push(t);
    if (++b.at_grid_barrier == b.alive) arrive_at_grid(w);
    w.suspend();
    w.in_runtime = false;
}

bool is_cooperative() {
    return in_kernel() && worker->launch->config->cooperative;
}

void yield() {
    if (!in_kernel()) return;
    Worker& w = *worker;
    w.in_runtime = true;
    w.yield();
    w.in_runtime = false;
}

void interrupt() {
    Worker* w = worker;
    if (!atomics_interrupt || !w || !w->thread) return;
    w->in_runtime = true;
    w->preempt();
    w->in_runtime = false;
}

void fence_hint() {
    if (observer && in_kernel()) observer->fenced();
    spin_hint();
}

void block_fence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (observer && in_kernel()) observer->block_fenced();
    spin_hint();
}

void await_dependency() {
    if (observer && in_kernel()) observer->dependency_awaited();
}

void spin_hint() {
    Worker* w = worker;
    if (!w || !w->thread) return;
    if (w->spinning != w->thread) {
        w->spinning = w->thread;
        w->spins = 0;
    }
    w->in_runtime = true;
    const bool others = w->note_wait();
    w->in_runtime = false;
    if (others || ++w->spins >= kSpinsBeforeYield) yield();
}

}  // namespace simt::detail
