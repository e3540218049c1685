/// core/scheduler.h: the state of a running launch.
///
/// A block runs on one OS thread, its worker. Its CUDA threads are fibers that switch
/// only where they wait: at barriers, warp operations and in spin loops. A fiber that
/// finishes a CUDA thread goes on with the next one not yet started, so that a kernel
/// without barriers never switches.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "extension.h"
#include "fiber.h"
#include "simt/config.h"
#include "simt/finding.h"
#include "simt/warp.h"
#include "thread_queue.h"

namespace simt::detail {

struct Block;
struct Cluster;

enum class State : uint8_t {
    running,  // or ready to
    in_barrier,
    in_warp_op,
    in_active_mask,
    in_grid_barrier,
    in_extension,  // what for, only the extension knows
    done,
};

/// A CUDA thread. Meaningful from its start on.
struct alignas(64) Thread {
    // What every barrier touches: one line of the cache.
    Thread* next = nullptr;  // in the queue that it is in
    Block* block = nullptr;
    Fiber* fiber = nullptr;
    uint3 index{};
    uint16_t rank = 0;
    State state = State::done;
    int line = 0;  // what it waits in, and where
    uint32_t mask = 0;
    const char* op = nullptr;
    const char* file = nullptr;
    // The rest.
    const void* place = nullptr;
    std::unique_ptr<ThreadExtension> extension;
    uint32_t result = 0;
};
static_assert(offsetof(Thread, place) <= 64);

inline void ThreadList::push(Thread* thread) {
    thread->next = nullptr;
    if (tail)
        tail->next = thread;
    else
        head = thread;
    tail = thread;
}
inline Thread* ThreadList::pop() {
    Thread* thread = head;
    head = thread->next;
    if (!head) tail = nullptr;
    return thread;
}
inline void ThreadList::append(ThreadList& other) {
    if (other.empty()) return;
    if (tail)
        tail->next = other.head;
    else
        head = other.head;
    tail = other.tail;
    other = {};
}

inline bool ThreadQueue::is_late(const Thread* thread) const {
    return thread->rank / 32 == late_warp_ || thread->block == late_block_;
}

/// Lanes that wait in the same operation with the same mask.
struct WarpGroup {
    uint32_t mask;
    uint32_t arrived;
    WarpOp op;
    void (*fn)(WarpArg* const*, uint32_t);
    ThreadList waiting;
};

struct Warp {
    uint32_t alive;
    uint32_t num_groups;
    WarpArg* args[32];
    WarpGroup groups[32];
};

struct SharedVariable {
    const void* key;
    char* begin;
    size_t size;
    const char* name;
    const char* file;
    int line;
};

/// A block's shared memory: static variables grow upwards from the start, the dynamic
/// part ends at the end, where a guard page follows.
struct SharedArena {
    char* begin = nullptr;
    char* end = nullptr;
    char* dynamic = nullptr;
    bool dynamic_missing = false;  // asked for, though the launch has none
    size_t used = 0;
    std::vector<SharedVariable> variables;
    ~SharedArena();
};

struct Block {
    uint3 index;
    uint64_t linear;
    unsigned size;
    unsigned alive;
    unsigned next_unstarted;
    dim3 shape{0, 0, 0};  // for which the threads are numbered
    // Barrier
    unsigned arrived;
    unsigned predicates;
    unsigned result;
    const char* barrier_op;
    const char* barrier_file;
    int barrier_line;
    ThreadList waiting;
    // Grid barrier
    unsigned at_grid_barrier;
    // active_mask()
    unsigned at_active_mask;

    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<uint16_t> order;  // of starts, when a seed is given
    SharedArena shared;
    void* observed = nullptr;  // what the observer keeps for it
    std::unique_ptr<BlockExtension> extension;
    std::shared_ptr<Cluster> cluster;  // null without __cluster_dims__ and its like
    unsigned cluster_rank = 0;
};

/// A launch made by a kernel: runs when its parent has ended.
struct ChildLaunch {
    Config config;
    Body body;
    std::shared_ptr<const void> context;
    uint64_t parent_block;
};

/// One run of a kernel.
struct Launch {
    const Config* config;
    const Body* body;
    uint64_t num_blocks;
    unsigned block_size;
    uint64_t number;  // counts the launches of the process
    bool strict;      // options of that name, as they were at the launch
    bool lenient;
    bool poison;
    bool tight;
    uint64_t seed;
    unsigned resident;  // blocks at a time; 0: any number

    dim3 cluster{};  // blocks of a cluster
    unsigned cluster_size = 1;

    std::atomic<uint64_t> next_block{0};  // or the next cluster
    std::vector<uint32_t> order{};        // of blocks or clusters, if not 0, 1, ...
    std::atomic<bool> aborted{false};
    std::atomic<bool> shared{false};  // other workers have been called
    double started = 0;

    std::mutex mutex{};
    std::vector<ChildLaunch> children{};

    // Grid barrier: guarded by mutex.
    std::condition_variable grid_changed{};
    std::atomic<uint64_t> grid_generation{0};
    uint64_t blocks_at_grid_barrier = 0;
    unsigned workers_active = 0;
    unsigned workers_idle = 0;
};

/// What a fiber leaves for the worker to report once it is off the fiber's stack.
struct PendingFault {
    int code = 0;
    std::string text;           // what happened
    std::string place;          // file:line, if already known
    std::vector<void*> frames;  // program counters, innermost first, if not
    Block* block = nullptr;     // who did it, if anybody in particular
    Thread* thread = nullptr;
    FindingKind kind = FindingKind::fault;
    const char* file = nullptr;  // of `place`
    int line = 0;
};

/// True while the simulator's code runs, false in the kernel's. An observer that asks
/// for it is told of each change.
class RuntimeFlag {
 public:
    RuntimeFlag& operator=(bool inside) {
        value_ = inside;
        if (watched) [[unlikely]]
            tell(inside);
        return *this;
    }
    /// The same, and no observer is told: it would see nothing meanwhile.
    void set_untold(bool inside) { value_ = inside; }
    operator bool() const { return value_; }

    static constinit bool watched;  // by the observer

 private:
    static void tell(bool inside);
    volatile bool value_ = true;  // signal handlers read it
};

/// An OS thread that runs blocks, with its fibers.
class Worker {
 public:
    Worker();
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs blocks of the launch until there are none left.
    void run(Launch& launch);

    /// The running thread has been put where it waits: runs others until it is resumed.
    inline void suspend();
    /// See begin_next_in_row(), simt/config.h.
    inline bool begin_next_in_row();
    /// The running thread is more than its kernel's call, or asks about others: from
    /// here on it is a thread like any other, see begin_row().
    void leave_row() {
        if (row_last_) end_row();
    }
    /// Lets others run if there are any.
    void yield();
    /// The running thread was interrupted after a long time without progress: runs
    /// others, and other blocks, before it goes on.
    void preempt();
    /// Ends the launch on this worker; `fault` may be null (another worker reports).
    [[noreturn]] void abandon(std::unique_ptr<PendingFault> fault);

    void make_ready(Thread* thread) { ready_.push(thread); }
    void make_ready(ThreadList& list) { ready_.append(list); }
    /// Counts what the watchdog regards as progress.
    void note_progress() {
        note_activity();
        idle_yields_ = 0;
        waits_ = 0;
    }
    /// The same for lanes of a warp that have met: perhaps to ask once more for what
    /// they all wait for.
    void note_meeting() {
        note_activity();
        idle_yields_ = 0;
    }
    /// The same for a thread that does something, but may be waiting for another one:
    /// yields without progress let further blocks start.
    void note_activity() {
        progress_.store(progress_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    }
    /// The running thread may be waiting for another one. True if it should yield, now:
    /// others are to begin. In a launch of which few blocks may have begun, it may wait
    /// for one that cannot begin, and the launch ends. `in_runtime`.
    bool note_wait();
    /// A block has passed its first barrier: with some seeds it is late from now on, if
    /// it is the first one, in a launch of which few blocks may have begun.
    void note_barrier(const Block& block);
    void note_finished() {
        note_progress();
        finished_.store(finished_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    }
    bool seeded() const { return ready_.random(); }
    const std::vector<Block*>& resident() const { return resident_; }

    Launch* launch = nullptr;
    Block* block = nullptr;    // of the running thread
    Thread* thread = nullptr;  // the running thread; null outside kernels
    Fiber* fiber = nullptr;    // the one that runs
    // No preemption while it is set.
    RuntimeFlag in_runtime;
    Thread* spinning = nullptr;  // perhaps: it did nothing so often
    unsigned spins = 0;

    // For the watchdog, and for a worker whose block has failed.
    pthread_t os_thread;
    std::atomic<Launch*> watched{nullptr};
    uint64_t progress() const {
        // In a row, only the running thread changes: it counts, too.
        const auto at =
            reinterpret_cast<uintptr_t>(__atomic_load_n(&thread, __ATOMIC_RELAXED));
        return progress_.load(std::memory_order_relaxed) * 2048 +
               at / sizeof(Thread) % 2048;
    }
    uint64_t finished() const { return finished_.load(std::memory_order_relaxed); }
    std::atomic<int> requested{0};  // a Request, see signals.h

 private:
    static void fiber_main();
    [[noreturn]] void run_fiber();
    inline Thread* next_thread();
    Thread* next_thread_other();
    Thread* next_thread_slow();
    Thread* start_thread();
    void begin_row(const Block& block, Thread* first);
    void end_row();
    bool has_unstarted() const {
        return starting_ && starting_->next_unstarted < starting_->size;
    }
    bool open_block();
    bool open_cluster();
    bool go_on_with_cluster();
    Block* prepare_block(uint64_t linear);
    bool open_another_block();
    void look_around();
    void close_block(Block* block);
    void release_block(Block* block);
    void finish_thread();
    inline void resume(Thread* thread);
    inline void set_current(Thread* thread);
    bool wait_for_grid();
    bool resolve_active_masks();
    void clean_up();
    Fiber* take_fiber();

    FiberPool fibers_;
    std::vector<Fiber*> retired_;  // until the block has ended
    ThreadQueue ready_;
    std::vector<Block*> resident_;
    std::vector<Block*> free_blocks_;
    Block* starting_ = nullptr;
    Thread* row_first_ = nullptr;  // of the row that the running thread is in, or null
    Thread* row_last_ = nullptr;
    bool rows_allowed_ = false;      // in this launch
    std::vector<Block*> unstarted_;  // blocks of its cluster, the next one last
    void* main_sp_ = nullptr;
    std::unique_ptr<PendingFault> fault_;
    bool abandoned_ = false;
    uint64_t grid_seen_ = 0;
    ThreadList at_grid_;
    ThreadList parked_;  // preempted: run when nobody else can
    unsigned idle_yields_ = 0;
    bool has_late_block_ = false;  // in this launch
    uint64_t waits_ = 0;           // since a thread has ended or a barrier was passed
    std::atomic<uint64_t> progress_{0};
    std::atomic<uint64_t> finished_{0};

    friend void grid_barrier(const char*, int);
};

/// This OS thread's worker; null if it never launched anything.
extern constinit thread_local Worker* worker;

/// The worker in whose kernel we are; a fault outside kernels.
Worker& kernel_worker(const char* op, const char* file, int line);

/// Completes the warp operations that can go on now; called when a lane has returned.
void complete_warp(Worker& w, Warp& warp);

/// Completes the block's barriers if all threads that have not returned are there;
/// called when one has returned.
void complete_barriers_after_exit(Worker& w, Block& block);

/// Reports that no thread of this worker can go on.
[[noreturn]] void report_deadlock(Worker& w);

/// Empties a block's shared memory; faults if a variable has been overrun.
void check_shared(Worker& w, Block& block);
/// Fresh shared memory for a block that is about to start.
void open_shared(Block& block);
/// Another block's instance of a shared variable, made if it was not there.
char* peer_variable(Worker& w, Block& block, const SharedVariable& variable);
/// The block has ended before others that may know its addresses: poison for them.
void poison_shared(Worker& w, Block& block);

}  // namespace simt::detail
