#include "scheduler.h"

#include <pthread.h>
#include <sched.h>

#include <cxxabi.h>

#include <algorithm>
#include <exception>

#include "fault.h"
#include "options.h"
#include "pool.h"
#include "simt/fault.h"
#include "switch.h"
#include "watchdog.h"

// The objects that core.h declares const, under the same symbol names, here writable.
constinit thread_local uint3 simt_threadIdx asm("threadIdx") = {};
constinit thread_local uint3 simt_blockIdx asm("blockIdx") = {};
constinit thread_local dim3 simt_blockDim asm("blockDim") = {};
constinit thread_local dim3 simt_gridDim asm("gridDim") = {};
constinit thread_local unsigned simt_thread_rank asm("_ZN4simt6detail11thread_rankE") =
    0;

namespace simt::detail {

constinit thread_local Worker* worker = nullptr;
constinit thread_local bool ptx_carry = false;

namespace {

// After so many yields in a row without progress the threads may be waiting for a block
// that has not started: hand-written grid barriers do.
constexpr unsigned kYieldsBeforeNewBlock = 2000;
constexpr size_t kMaxSpinningBlocks = 256;
// The same for waits: of any launch, and of one of which few blocks may have begun; and
// after so many for each of their threads nothing that they wait for can be on its way.
constexpr unsigned kWaitsBeforeNewBlock = 16384;
constexpr unsigned kFewWaitsBeforeNewBlock = 64;
constexpr uint64_t kWaitsOfAThread = 4000;
// So often a preempted thread is tried again while others spin and yield.
constexpr unsigned kYieldsBeforeParked = 64;

}  // namespace

bool in_kernel() {
    return worker && worker->thread;
}

constinit thread_local bool device_side = false;

bool on_device_side() {
    return in_kernel() || device_side;
}

Worker::Worker() : os_thread(pthread_self()), fibers_(&Worker::fiber_main) {
    add_worker(this);
}

Worker::~Worker() {
    // Static objects are destroyed after this, and ask whether they are in a kernel.
    if (worker == this) worker = nullptr;
    remove_worker(this);
    free_blocks_.insert(free_blocks_.end(), resident_.begin(), resident_.end());
    for (Block* b : free_blocks_)
        delete b;
}

void Worker::run(Launch& l) {
    launch = &l;
    grid_seen_ = 0;
    idle_yields_ = 0;
    ready_.set_random(l.seed != 0);
    has_late_block_ = false;
    rows_allowed_ = l.seed == 0 && l.cluster_size == 1 && l.resident == 0 &&
                    !(observer && observer->follows_threads());
    simt_blockDim = l.config->block;
    simt_gridDim = l.config->grid;
    note_finished();  // a new launch is progress
    // Not at the end of the previous one: another worker that reports a fault may just
    // then be asking this one to leave.
    requested = kNone;
    watched = &l;
    if (l.config->cooperative) {
        const std::lock_guard lock(l.mutex);
        ++l.workers_active;
    }
    if (!l.aborted && open_block()) {
        // Not next_thread(): that may abandon, which only a fiber can.
        Thread* first = start_thread();
        first->fiber = fibers_.take();
        if (first->fiber) {
            set_current(first);
            fiber = first->fiber;
            switch_stack(&main_sp_, fiber->sp, fiber);
            thread = nullptr;  // from here on a crash is not the kernel's
        } else {
            abandoned_ = true;
            fault_ = std::make_unique<PendingFault>();
            fault_->code = cudaErrorLaunchOutOfResources;
            fault_->text = "the system has no memory for the stacks of CUDA threads";
        }
    }
    watched.store(nullptr, std::memory_order_release);
    if (abandoned_ && !fault_ && !l.aborted) {
        fault_ = std::make_unique<PendingFault>();
        fault_->code = cudaErrorIllegalAddress;
        fault_->text =
            "the kernel has destroyed its stack or the heap: an access far out of "
            "bounds";
    }
    if (fault_ && !l.aborted.exchange(true)) {
        for_each_worker(
            [](Worker& w, void* which) {
                if (w.watched == which) w.requested = kLeave;
            },
            &l);
        report(l, *fault_);
    }
    if (l.config->cooperative) {
        const std::lock_guard lock(l.mutex);
        --l.workers_active;
        l.grid_changed.notify_all();
    }
    if (abandoned_) clean_up();
    abandoned_ = false;
    fault_ = nullptr;
    launch = nullptr;
    block = nullptr;
    thread = nullptr;
}

/// After a fault: nothing of what the fibers were doing matters any more.
void Worker::clean_up() {
    fibers_.reset();
    retired_.clear();
    ready_.clear();
    at_grid_ = {};
    parked_ = {};
    for (Block* b : resident_) {
        for (Thread& t : b->threads) {
            t.state = State::done;
            if (t.extension) t.extension->discard();
        }
        b->shared.variables.clear();
        b->extension = nullptr;
        b->cluster = nullptr;
        free_blocks_.push_back(b);
    }
    resident_.clear();
    unstarted_.clear();
    starting_ = nullptr;
    row_first_ = row_last_ = nullptr;
}

void Worker::abandon(std::unique_ptr<PendingFault> fault) {
    in_runtime = true;
    fault_ = std::move(fault);
    abandoned_ = true;
    void* nowhere;
    switch_stack(&nowhere, main_sp_, nullptr);
    __builtin_unreachable();
}

// ---- Fibers ---------------------------------------------------------------------

void Worker::fiber_main() {
    if (observer) observer->enters_stack();
    worker->run_fiber();
}

void Worker::run_fiber() {
    for (;;) {
        in_runtime = false;
        try {
            launch->body->call(launch->body->context);
        } catch (abi::__forced_unwind&) {
            throw;
        } catch (const std::exception& e) {
            in_runtime = true;
            abandon(make_fault(*this,
                               cudaErrorLaunchFailure,
                               nullptr,
                               0,
                               format("the kernel threw an exception: %s", e.what())));
        } catch (...) {
            in_runtime = true;
            abandon(make_fault(*this,
                               cudaErrorLaunchFailure,
                               nullptr,
                               0,
                               "the kernel threw an exception"));
        }
        in_runtime = true;
        finish_thread();
        Fiber* self = fiber;
        Thread* next = next_thread();
        if (!next) {
            fibers_.put(self);
            thread = nullptr;
            switch_stack(&self->sp, main_sp_, nullptr);
            continue;  // taken from the pool for another thread
        }
        const bool retire = observer && observer->wants_own_stacks();
        if (!next->fiber) next->fiber = retire ? take_fiber() : self;
        // Before the observer takes what happens for the next thread's doing.
        if (next->fiber != self && retire)
            retired_.push_back(self);
        else if (next->fiber != self)
            fibers_.put(self);
        set_current(next);
        if (next->fiber == self) continue;
        fiber = next->fiber;
        switch_stack(&self->sp, fiber->sp, fiber);
    }
}

Fiber* Worker::take_fiber() {
    Fiber* taken = fibers_.take();
    if (!taken)
        abandon(make_fault(*this,
                           cudaErrorLaunchOutOfResources,
                           nullptr,
                           0,
                           "the system has no memory for the stacks of CUDA threads: "
                           "set SIMT_STACK_KB, or launch smaller blocks"));
    return taken;
}

bool Worker::note_wait() {
    const Launch& l = *launch;
    const bool few = l.resident != 0;
    ++waits_;
    if (waits_ % (few ? kFewWaitsBeforeNewBlock : kWaitsBeforeNewBlock) != 0)
        return false;
    leave_row();
    // Lanes that ask once, then vote, never yield by themselves.
    if (has_unstarted()) return true;
    if (!few) look_around();
    if (open_another_block()) return true;
    if (few && l.next_block < l.num_blocks &&
        waits_ > kWaitsOfAThread * l.block_size * resident_.size())
        abandon(make_no_room(*this));
    return !few;
}

/// For what the threads wait for may be done on another OS thread.
void Worker::look_around() {
    sched_yield();
    resolve_active_masks();
    if (!launch->shared && launch->num_blocks > 1) call_workers(*launch);
}

void Worker::note_barrier(const Block& b) {
    if (launch->resident == 0 || has_late_block_ || launch->seed % 3 != 0) return;
    has_late_block_ = true;
    if (launch->seed != 0) ready_.set_late_block(&b);
}

void Worker::yield() {
    leave_row();
    ++idle_yields_;
    note_wait();
    if (idle_yields_ % kYieldsBeforeParked == 0) make_ready(parked_);
    if (idle_yields_ % kYieldsBeforeNewBlock == 0) {
        look_around();
        if (!has_unstarted()) open_another_block();
    }
    make_ready(thread);
    // A thread that spins may wait for one that has not started yet.
    resume(has_unstarted() ? start_thread() : next_thread());
}

void Worker::preempt() {
    leave_row();
    const bool carry = ptx_carry;
    if (seeded())
        make_ready(thread);
    else
        parked_.push(thread);
    resume(has_unstarted() ? start_thread() : next_thread());
    ptx_carry = carry;
}

/// For threads that seem to wait for a block that has not started.
bool Worker::open_another_block() {
    if (go_on_with_cluster()) return true;
    const size_t most = launch->resident != 0 ? launch->resident : kMaxSpinningBlocks;
    return resident_.size() < most && open_block();
}

// ---- Choosing the next thread ---------------------------------------------------

Thread* Worker::next_thread_other() {
    if (requested.load(std::memory_order_relaxed) >= kTimeOut) [[unlikely]]
        abandon(requested == kLeave ? nullptr : make_time_out(*this));
    if (ready_.random()) {
        // Now and then start a thread although others could go on, or a block.
        const auto n = static_cast<uint32_t>(ready_.random_size());
        if (launch->resident != 0 && !has_unstarted() && ready_.rng().below(32) == 0)
            open_another_block();
        if (n != 0 && (!has_unstarted() || ready_.rng().below(4) != 0))
            return ready_.pop();
    }
    if (has_unstarted()) return start_thread();
    return next_thread_slow();
}

Thread* Worker::next_thread_slow() {
    if (go_on_with_cluster()) return start_thread();
    for (;;) {
        if (resolve_active_masks()) return ready_.pop();
        if (!parked_.empty())
            return open_another_block() ? start_thread() : parked_.pop();
        // One block at a time, except that a cooperative launch needs them all.
        if (resident_.empty() || launch->config->cooperative)
            if (open_block()) return start_thread();
        if (resident_.empty()) return nullptr;
        if (!wait_for_grid()) report_deadlock(*this);
        if (launch->aborted.load(std::memory_order_relaxed)) abandon(nullptr);
        if (Thread* t = ready_.pop()) return t;
    }
}

Thread* Worker::start_thread() {
    Block& b = *starting_;
    unsigned rank = b.next_unstarted++;
    if (!b.order.empty()) {
        rank = b.order[rank];
        if (b.next_unstarted == b.size) go_on_with_cluster();
    }
    Thread& t = b.threads[rank];
    t.fiber = nullptr;
    if (rows_allowed_) begin_row(b, &t);
    return &t;
}

/// A row: threads of one warp that follow one another in x and are begun so, with
/// nothing to be done for each but its index, because nobody waits for one to end.
void Worker::begin_row(const Block& b, Thread* first) {
    if (b.arrived != 0 || b.at_grid_barrier != 0 || b.at_active_mask != 0 ||
        b.extension || b.warps[first->rank / 32].num_groups != 0 || !ready_.empty() ||
        !parked_.empty())
        return;
    const unsigned more =
        std::min(b.shape.x - 1 - first->index.x, 31u - (first->rank & 31u));
    row_first_ = first;
    row_last_ = first + more;
    starting_->next_unstarted += more;
}

void Worker::end_row() {
    Block& b = *block;
    const auto ended = static_cast<unsigned>(thread - row_first_);
    if (ended != 0) row_first_->state = State::done;
    if (thread->state == State::done) thread->state = State::running;
    b.alive -= ended;
    b.warps[row_first_->rank / 32].alive &=
        ~(((1u << ended) - 1) << (row_first_->rank & 31));
    b.next_unstarted -= static_cast<unsigned>(row_last_ - thread);
    row_first_ = row_last_ = nullptr;
}

bool Worker::begin_next_in_row() {
    // What the threads of a row have in common is done by begin_row() and end_row().
    in_runtime.set_untold(true);
    const bool more =
        thread < row_last_ && requested.load(std::memory_order_relaxed) < kTimeOut;
    if (more) {
        ++thread;
        ++simt_threadIdx.x;
        ++simt_thread_rank;
    }
    in_runtime.set_untold(false);
    return more;
}

// Small kernels are called as fast as this is fetched: it begins with a line of the
// cache.
[[gnu::aligned(64)]] bool begin_next_in_row() {
    return worker->begin_next_in_row();
}

/// Threads that asked for the active mask and stand at the same place have come
/// together: nobody else of their warp can join them before they go on.
bool Worker::resolve_active_masks() {
    bool any = false;
    for (Block* b : resident_) {
        if (b->at_active_mask == 0) continue;
        b->at_active_mask = 0;
        any = true;
        for (Thread& t : b->threads) {
            if (t.state != State::in_active_mask) continue;
            Thread* first = &b->threads[t.rank & ~31u];
            const unsigned lanes = std::min(32u, b->size - (t.rank & ~31u));
            uint32_t mask = 0;
            for (unsigned i = 0; i < lanes; ++i)
                if (first[i].state == State::in_active_mask &&
                    first[i].place == t.place && first[i].line == t.line)
                    mask |= 1u << i;
            for (unsigned i = 0; i < lanes; ++i) {
                if (!(mask >> i & 1)) continue;
                first[i].state = State::running;
                first[i].result = mask;
                make_ready(&first[i]);
            }
        }
    }
    return any;
}

Worker& kernel_worker(const char* op, const char* file, int line) {
    if (!in_kernel())
        fault(cudaErrorLaunchFailure, file, line, "%s is called by host code", op);
    return *worker;
}

}  // namespace simt::detail
