#include "checker.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "access.h"
#include "checker/count/count.h"
#include "checker/count/output.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "core/observer.h"
#include "core/options.h"
#include "findings.h"
#include "report.h"
#include "safety.h"
#include "sites.h"
#include "trace/trace.h"

extern "C" char __executable_start, _end;  // of the program, from the linker

namespace simt::check {

using detail::Block;
using detail::Launch;
using detail::WarpOp;
using detail::Worker;
using detail::worker;

bool counting = false;

namespace {

constexpr uint16_t kBarrierBytes = 8;  // of an mbarrier

/// Set while the checker works on an access of host code.
thread_local bool busy = false;

/// The user's line that has led to the function with this frame.
Place caller_place(void* frame) {
    auto* const words = static_cast<void* const*>(frame);
    return user_place_of(reinterpret_cast<uintptr_t>(words[1]),
                         static_cast<void* const*>(words[0]));
}

/// The user's line; what the compiler says where nothing is known of the code.
Place place_of(detail::Caller caller, const char* file, uint32_t line) {
    const auto* outer = static_cast<void* const*>(caller.frame[0]);
    Place place = user_place_of(caller.pc, outer);
    if (place.line == 0) place = {file, static_cast<int>(line)};
    return place;
}

/// Hands each event to the safety checks and to the counter.
class Checker : public detail::Observer {
 public:
    void launch_begins(const Launch& launch) override {
        safety_launch_begins(launch);
        if (counting) count_launch_begins(launch);
    }
    void launch_ends(const Launch& launch) override {
        safety_launch_ends(launch);
        if (counting) count_launch_ends();
    }
    void block_begins(Worker&, Block& block) override {
        safety_block_begins(block);
        if (counting) count_block_begins(block);
    }
    void block_ends(Worker& w, Block& block) override {
        safety_block_ends(w, block);
        if (counting) count_block_ends(block);
    }
    void block_synchronised(
        Worker& w, Block& block, const char* op, const char* file, int line) override {
        safety_block_synchronised(w, block);
        if (counting) count_block_synchronised(block, op, file, line);
    }
    void cluster_begins(Worker&, detail::Cluster& cluster) override {
        safety_cluster_begins(cluster);
    }
    void cluster_synchronised(Worker& w, detail::Cluster& cluster) override {
        safety_cluster_synchronised(w, cluster);
        if (!counting) return;
        for (Block* block : cluster.blocks) {
            const detail::Cluster::Arrivals& at = cluster.arrivals[block->cluster_rank];
            count_block_synchronised(*block, at.op, at.file, at.line);
        }
    }
    void cluster_arrives(Worker&, const detail::Thread& thread) override {
        safety_cluster_arrives(thread);
    }
    void cluster_passes(Worker&, const detail::Thread& thread) override {
        safety_cluster_passes(thread);
    }
    void grid_synchronised(Worker& w, Launch&) override { safety_grid_synchronised(w); }
    void warp_synchronised(Worker&,
                           Block& block,
                           unsigned warp,
                           uint32_t present,
                           WarpOp op,
                           const char* file,
                           int line) override {
        if (op == WarpOp::sync) safety_warp_synchronised(block, warp, present);
        if (counting) count_warp_synchronised(block, warp, present, op, file, line);
        if (tracing && is_traced(block))
            trace_warp_op(
                block, warp, present, caller_place(__builtin_frame_address(0)));
    }
    void fenced() override { fence(false); }
    void block_fenced() override { fence(true); }
    void dependency_awaited() override { safety_dependency_awaited(*worker); }
    void work_begins(uint64_t number, const std::vector<uint64_t>& beside) override {
        safety_work_begins(number, beside);
    }
    void work_ends() override { safety_work_ends(); }
    void launches_divided() override { safety_launches_divided(); }
    void undefined_value(const char* file,
                         uint32_t line,
                         const char* what,
                         detail::Caller caller) override {
        check_expression(Kind::undefined, place_of(caller, file, line), what, *worker);
    }
    bool follows_threads() const override { return counting; }
    void multiplied(detail::TensorType type, uint64_t operations) override {
        if (counting) count_multiplied(type, operations);
        if (tracing && is_traced(*worker->block))
            trace_product(
                *worker, type, operations, caller_place(__builtin_frame_address(0)));
    }
    void multiplies(Block& block, unsigned warp, bool in_flight) override {
        if (counting) count_multiplies(block, warp, in_flight);
    }
    void shared_variable(Worker&,
                         Block& block,
                         const detail::SharedVariable& variable) override {
        safety_shared_variable(block, variable);
    }
    void allocated(const detail::Allocation& a) override { safety_allocated(a); }
    void released(const detail::Allocation& a) override { safety_released(a); }
    void host_wrote(const void* address, size_t bytes) override {
        safety_host_wrote(address, bytes);
    }
    void host_copied(const void* to, const void* from, size_t bytes) override {
        safety_host_copied(to, from, bytes);
    }
    void copy_issued(const void* to,
                     const void* from,
                     int bytes,
                     int src_bytes) override {
        const auto* frame = static_cast<void* const*>(__builtin_frame_address(0));
        const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
        const auto* outer = static_cast<void* const*>(frame[0]);
        const auto size = static_cast<uint16_t>(bytes);
        safety_copy_issued(*worker,
                           to,
                           from,
                           bytes,
                           src_bytes,
                           site_of(pc, outer, size, false, false),
                           site_of(pc, outer, size, true, false));
        if (counting) count_copy(to, from, bytes, src_bytes, *worker);
    }
    void copy_landed(const void* to, int bytes) override {
        safety_copy_landed(*worker, to, bytes);
        if (tracing) count_note(What::landed, to, bytes, *worker);
    }
    void synchronises(const void* object, bool acquires, bool releases) override {
        safety_synchronises(*worker, object, acquires, releases);
        if (tracing)
            count_note(acquires ? What::acquire : What::release, object, 0, *worker);
    }
    void barrier_made(const void* barrier) override {
        const auto* frame = static_cast<void* const*>(__builtin_frame_address(0));
        const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
        const auto* outer = static_cast<void* const*>(frame[0]);
        safety_barrier_made(
            *worker, barrier, site_of(pc, outer, kBarrierBytes, true, false));
    }
    void barrier_used(const void* barrier, bool writes) override {
        if (safety_may_use_barrier(*worker, barrier)) [[likely]]
            return;
        const auto* frame = static_cast<void* const*>(__builtin_frame_address(0));
        const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
        const auto* outer = static_cast<void* const*>(frame[0]);
        safety_report_barrier(
            *worker, barrier, writes, site_of(pc, outer, kBarrierBytes, writes, false));
    }
    void barrier_given(const void* barrier) override {
        if (safety_may_give_barrier(*worker, barrier)) [[likely]]
            return;
        const auto* frame = static_cast<void* const*>(__builtin_frame_address(0));
        const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
        const auto* outer = static_cast<void* const*>(frame[0]);
        safety_report_barrier(*worker,
                              barrier,
                              true,
                              site_of(pc, outer, kBarrierBytes, true, false),
                              Special::barrier);
    }
    void barriers_fenced() override { safety_barrier_fence(*worker); }
    uint32_t product_begins() override { return safety_product_begins(*worker); }
    bool product_is_past(uint32_t product) const override {
        return safety_product_is_past(*worker, product);
    }
    void products_done(uint32_t product, const uint32_t* read_until) override {
        safety_products_done(*worker, product, read_until);
    }
    void products_awaited(const void* warpgroup, bool over) override {
        if (tracing)
            count_note(over ? What::acquire : What::release, warpgroup, 0, *worker);
    }
    uint32_t moment() const override { return safety_moment(*worker); }
    void async_access(const void* address,
                      size_t bytes,
                      bool write,
                      uint32_t product) override {
        const auto* frame = static_cast<void* const*>(__builtin_frame_address(0));
        const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
        const auto* outer = static_cast<void* const*>(frame[0]);
        const auto size = static_cast<uint16_t>(bytes < 65535 ? bytes : 65535);
        safety_async_access(*worker,
                            address,
                            bytes,
                            write,
                            product,
                            site_of(pc, outer, size, write, false));
    }
    void proxy_fenced() override { safety_proxy_fence(*worker); }
    void async_pending(const void* to, size_t bytes, bool begins) override {
        safety_async_pending(*worker, to, bytes, begins);
        if (tracing && is_traced(*worker->block))
            trace_tile(
                *worker, to, bytes, begins, caller_place(__builtin_frame_address(0)));
    }
    bool faulted(const Launch& launch, const detail::PendingFault& fault) override {
        return safety_faulted(launch, fault);
    }
    bool tolerated(const Launch& launch, const detail::PendingFault& fault) override {
        return safety_faulted(launch, fault);
    }
    bool knows_damage(const Launch& launch) const override {
        return safety_knows_damage(launch);
    }
};

Checker& checker() {
    static Checker* const instance = new Checker;
    return *instance;
}

/// The last thing a program does. Its exit status tells of findings.
void finish() {
    write_output();
    if (const int status = conclude_findings()) _exit(status);
}

/// The checker watches from the program's start: allocations may come before main.
[[gnu::constructor(101)]] void start() {
    detail::options().workers = 1;  // its state is not shared among OS threads
    detail::options().strict = true;
    detail::observer = &checker();
    std::atexit(finish);  // first registered, thus last called
}

/// The variables that a launch sets for each thread: threadIdx and its like. They lie
/// together, and between them nothing that a program may name.
struct BuiltIns {
    const char* begin;
    size_t size;
};
constinit thread_local BuiltIns built_ins = {nullptr, 0};

BuiltIns find_built_ins() {
    const char* begin = nullptr;
    const char* end = nullptr;
    const auto include = [&](const auto& variable) {
        const auto* first = reinterpret_cast<const char*>(&variable);
        begin = begin ? std::min(begin, first) : first;
        end = std::max(end, first + sizeof variable);
    };
    include(threadIdx);
    include(blockIdx);
    include(blockDim);
    include(gridDim);
    include(detail::thread_rank);
    return {begin, static_cast<size_t>(end - begin)};
}

/// Where memory lies that is none of the usual: registered host memory, the launch's
/// arguments, memory that the kernel has allocated; or a host pointer.
enum class Elsewhere { registered, private_to_thread, nowhere };

Elsewhere find_elsewhere(const Worker& w, const char* address) {
    const detail::Body& body = *w.launch->body;
    const auto* arguments = static_cast<const char*>(body.context);
    if (address >= arguments && address < arguments + body.context_size)
        return Elsewhere::private_to_thread;
    detail::Allocation allocation;
    if (detail::find_allocation(address, &allocation)) return Elsewhere::registered;
    if (is_heap_of_kernels(address)) return Elsewhere::private_to_thread;
    return Elsewhere::nowhere;
}

void access_on_host(
    char* address, size_t bytes, bool write, uintptr_t pc, void* const* frame) {
    busy = true;
    if (is_hosts_too(address)) {  // managed or pinned memory
        if (write) safety_host_wrote(address, bytes);
    } else if (serves_algorithm(pc, frame)) {
        if (write) safety_host_wrote(address, bytes);
    } else {
        check_host_access(
            address,
            bytes,
            write,
            site_of(pc, frame, static_cast<uint16_t>(bytes), write, false));
    }
    busy = false;
}

}  // namespace

void access(
    char* address, size_t bytes, unsigned flags, uintptr_t pc, void* const* frame) {
    Worker* w = worker;
    if (!w || !w->thread) {
        if (in_device_memory(address) && !busy)
            access_on_host(address, bytes, flags & kWrite, pc, frame);
        return;
    }
    if (w->in_runtime) return;
    const detail::Fiber& fiber = *w->fiber;
    if (static_cast<size_t>(address - fiber.low) < fiber.size) return;
    if (!built_ins.begin) built_ins = find_built_ins();
    if (static_cast<size_t>(address - built_ins.begin) < built_ins.size) return;
    const detail::SharedArena& arena = w->block->shared;
    Space space = Space::global;
    Block* home = nullptr;
    Elsewhere elsewhere = Elsewhere::registered;
    if (in_device_memory(address)) {
    } else if (address >= arena.begin && address < arena.end) {
        space = Space::shared;
    } else if (w->block->cluster && (home = peer_of(*w, address))) {
        space = Space::shared;
    } else if (address >= &__executable_start && address < &_end) {
        space = Space::constant;
    } else {
        w->in_runtime = true;
        elsewhere = find_elsewhere(*w, address);
        w->in_runtime = false;
        if (elsewhere == Elsewhere::private_to_thread) return;
    }
    // Nobody may interrupt: the checker's state belongs to all threads.
    w->in_runtime = true;
    const bool write = flags & kWrite;
    const bool atomic = flags & kAtomic;
    const bool of_block =
        (flags & (kAtomic | kRelaxed)) && safety_atomic_scope_is_block(*w);
    bool same = false;
    const Access a{
        address,
        static_cast<uint32_t>(bytes),
        write,
        atomic,
        space,
        site_of(
            pc, frame, static_cast<uint16_t>(bytes), write, atomic, &same, of_block),
        (flags & kStructure) != 0,
        // Shared volatile variables are how old code let lanes race.
        (flags & kRelaxed) || ((flags & kVolatile) && space != Space::shared),
        (flags & kStores) != 0,
        (flags & kReleases) != 0,
        (flags & kAcquires) != 0,
        pc,
        reinterpret_cast<const char*>(frame),
        home,
        (flags & kSeen) == 0,
        0,
        of_block};
    if (elsewhere == Elsewhere::nowhere) {
        check_wild_access(a, *w);
    } else {
        check_safety(a, *w);
        if (counting)
            count_access(a, *w);
        else if (same && !w->block->cluster)
            note_known(a, *w);
    }
    w->in_runtime = false;
    if (counting) count_pause(*w);
}

bool is_watched_call(const void* address, uintptr_t pc) {
    Worker* w = worker;
    if (!w || !w->thread) {
        if (busy || !in_device_memory(address)) return false;
        busy = true;
        const bool library = is_library_code(pc);
        busy = false;
        return !library;
    }
    if (w->in_runtime) return false;
    w->in_runtime = true;
    const bool library = is_library_code(pc);
    w->in_runtime = false;
    return !library;
}

void bad_expression(FindingKind kind,
                    const char* file,
                    uint32_t line,
                    const char* what,
                    detail::Caller caller) {
    Worker* w = worker;
    if (!w || !w->thread || w->in_runtime) return;
    w->in_runtime = true;
    check_expression(kind, place_of(caller, file, line), what, *w);
    w->in_runtime = false;
}

void fence(bool of_block) {
    Worker* w = worker;
    if (!w || !w->thread || w->in_runtime) return;
    w->in_runtime = true;
    safety_fenced(*w, of_block);
    w->in_runtime = false;
}

void set_atomic_scope(bool of_block) {
    Worker* w = worker;
    if (w && w->thread && !w->in_runtime) safety_set_atomic_scope(*w, of_block);
}

void read_only_access(const char* address,
                      size_t bytes,
                      uintptr_t pc,
                      void* const* frame) {
    Worker* w = worker;
    if (!w || !w->thread || w->in_runtime) return;
    w->in_runtime.set_untold(true);
    const uint32_t site =
        site_of(pc, frame, static_cast<uint16_t>(bytes), false, false);
    safety_read_only(*w, address, bytes, site);
    w->in_runtime.set_untold(false);
}

void enter_basic_block(uintptr_t pc, void* const* frame) {
    Worker* w = worker;
    if (!counting || !w || !w->thread || w->in_runtime) return;
    w->in_runtime = true;
    count_basic_block(pc, static_cast<const char*>(frame[0]), *w);
    w->in_runtime = false;
    count_pause(*w);
}

}  // namespace simt::check
