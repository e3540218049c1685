// What the core tells the safety checks: see observer.h.

#include "addr2line.h"
#include "core/memory.h"
#include "core/symbolize.h"
#include "host_writes.h"
#include "immortal.h"
#include "large_launch.h"
#include "past_launches.h"
#include "report.h"
#include "safety.h"
#include "simt/check.h"
#include "state.h"

extern "C" char __executable_start, _end;  // of the program, from the linker

namespace simt::check {

using detail::Allocation;
using detail::Block;
using detail::Launch;
using detail::PendingFault;
using detail::Worker;

namespace {

Place place_of(const Launch& launch, const PendingFault& fault) {
    if (fault.file) return {fault.file, fault.line};
    for (void* pc : fault.frames)
        for (const std::string& line : lines_at(reinterpret_cast<uintptr_t>(pc))) {
            const size_t colon = line.rfind(':');
            if (colon != std::string::npos && detail::is_users(line.substr(0, colon)))
                return {line.substr(0, colon), std::atoi(line.c_str() + colon + 1)};
        }
    return {launch.config->file, launch.config->line};
}

}  // namespace

LaunchBefore launch_before;

LaunchBefore launch_of(const Launch& launch) {
    const Config& c = *launch.config;
    return {launch.body->name, launch.body->address, c.file, c.line, c.grid, c.block};
}

namespace {

/// The last launch that has ended, and where; null if the host has waited since then.
struct Last {
    LaunchBefore launch;
    cudaStream_t stream = nullptr;
    bool undivided = false;  // the host has neither waited nor issued anything else
};
constinit Immortal<Last> g_last;
[[gnu::constructor(101)]] void make_last() {
    g_last.construct();
}

/// True if the launch may begin before the one before it has ended.
bool begins_early(const Launch& launch) {
    const Last& last = g_last.value;
    return launch.config->programmatic && last.undivided &&
           last.stream == launch.config->stream;
}

}  // namespace

void safety_launch_begins(const Launch& launch) {
    if (!static_shadow.mapped())
        static_shadow.map(&__executable_start,
                          static_cast<size_t>(&_end - &__executable_start));
    const bool early = begins_early(launch);
    if (early) launch_before = g_last.value.launch;
    const bool begins_again = order_launch_begins(early);
    if (begins_again) {
        device_shadow.forget_accesses();
        static_shadow.forget_accesses();
    }
    past_launch_begins(begins_again);
    note_launch_begins(launch);
}

void safety_launch_ends(const Launch& launch) {
    check_read_only(launch);
    past_launch_ends(launch);
    g_last.value.launch = launch_of(launch);
    g_last.value.stream = launch.config->stream;
    g_last.value.undivided = true;
    ++memory_generation[int(Reach::device)];
    ++memory_generation[int(Reach::shared)];
}

void safety_block_begins(Block& block) {
    // Blocks are reused, and so is their state; both live as long as the program.
    if (!block.observed) block.observed = new BlockState;
    BlockState& state = state_of(block);
    order_block_begins(state.order, block.linear, block.size);
    state.copies.clear();
    state.doubtful.clear();
    state.peers.clear();
    state.barriers.clear();
    ++memory_generation[int(Reach::shared)];
}

void safety_block_ends(Worker& worker, Block& block) {
    flush_doubtful(worker, state_of(block));
    if (block.cluster) check_peers_done(block, worker);
    check_copies_in_flight(worker, block);
    note_block_ends(worker);
}

void safety_block_synchronised(Worker& worker, Block& block) {
    flush_doubtful(worker, state_of(block));
    note_block_synchronised(worker);
    order_block_synchronised(state_of(block).order);
}

void safety_grid_synchronised(Worker& worker) {
    order_grid_synchronised();
    for (Block* block : worker.resident()) {
        flush_doubtful(worker, state_of(*block));
        order_new_epoch(state_of(*block).order);
    }
}

void safety_warp_synchronised(Block& block, unsigned warp, uint32_t lanes) {
    order_warp_synchronised(state_of(block).order, warp, lanes);
}

void safety_dependency_awaited(Worker& worker) {
    order_dependency_awaited(state_of(*worker.block).order);
}

void safety_launches_divided() {
    g_last.value.undivided = false;
}

void safety_fenced(Worker& worker, bool of_block) {
    order_fence(state_of(*worker.block).order, worker.thread->rank, of_block);
}

void safety_set_atomic_scope(Worker& worker, bool of_block) {
    state_of(*worker.block).order.threads[worker.thread->rank].narrow = of_block;
}

bool safety_atomic_scope_is_block(const Worker& worker) {
    return state_of(*worker.block).order.threads[worker.thread->rank].narrow;
}

void safety_read_only(Worker& worker,
                      const char* address,
                      size_t bytes,
                      uint32_t site) {
    const uint32_t rank = worker.thread->rank;
    note_read_only(
        address,
        bytes,
        Record(state_of(*worker.block).order.segment_of(rank), rank, site, false));
}

void safety_shared_variable(Block& block, const detail::SharedVariable& v) {
    Shadow& shadow = state_of(block).order.shared;
    const detail::SharedArena& arena = block.shared;
    if (!shadow.mapped())
        shadow.map(arena.begin, static_cast<size_t>(arena.end - arena.begin));
    shadow.set_initialised(v.begin, v.size, false);
}

void safety_allocated(const Allocation& a) {
    ++memory_generation[int(Reach::device)];
    if (a.kind == detail::MemoryKind::registered) return;
    if (!device_shadow.mapped()) {
        char *begin, *end;
        detail::device_range(&begin, &end);
        device_shadow.map(begin, static_cast<size_t>(end - begin));
    }
    device_shadow.set_initialised(a.begin, a.size, false);
    if (a.kind != detail::MemoryKind::device)
        watch_contents(a.begin, a.size, detail::kUnwrittenWord);
}

void safety_released(const Allocation& a) {
    safety_launches_divided();
    ++memory_generation[int(Reach::device)];
    if (a.kind == detail::MemoryKind::registered) return;
    device_shadow.forget(a.begin, a.size);
    ignore_contents(a.begin, a.size);
}

bool in_device_memory(const void* address) {
    return device_shadow.contains(address);
}

void safety_host_wrote(const void* address, size_t bytes) {
    safety_launches_divided();
    if (in_device_memory(address))
        device_shadow.set_initialised(static_cast<const char*>(address), bytes, true);
}

void safety_host_copied(const void* to, const void* from, size_t bytes) {
    safety_launches_divided();
    if (!in_device_memory(to)) return;
    const auto* target = static_cast<const char*>(to);
    if (!in_device_memory(from)) {
        device_shadow.set_initialised(target, bytes, true);
        return;
    }
    const auto* source = static_cast<const char*>(from);
    const bool learned = learn_from_contents(device_shadow, source, bytes);
    device_shadow.copy_initialised(target, device_shadow, source, bytes);
    // Where nobody has written, the copy holds what fresh memory of the source's kind
    // does, until the host writes over it.
    if (is_hosts_too(to) && !device_shadow.all_initialised(target, bytes))
        watch_contents(target, bytes, learned ? detail::kUnwrittenWord : ~uint32_t{0});
}

bool safety_knows_damage(const Launch& launch) {
    return last_bad_access.launch == launch.number;
}

bool safety_faulted(const Launch& launch, const PendingFault& fault) {
    const bool by_access = fault.kind == Kind::out_of_bounds ||
                           fault.kind == Kind::use_after_free ||
                           fault.kind == Kind::misaligned;
    if (by_access && fault.block && fault.thread &&
        last_bad_access.launch == launch.number &&
        last_bad_access.block == fault.block->linear &&
        last_bad_access.thread == fault.thread->rank) {
        std::fputs("==SIMT== this access has ended the launch\n", stderr);
        return true;
    }
    // Found when the kernel had ended, and by this checker before that.
    if (by_access && !fault.thread && last_bad_access.launch == launch.number)
        return true;
    Scene scene{&launch, {}};
    if (fault.block) scene.who.block = fault.block->index;
    scene.has_thread = fault.thread != nullptr;
    if (fault.thread) scene.who.thread = fault.thread->index;
    const size_t line_end = fault.text.find('\n');
    report_at(scene,
              fault.kind,
              place_of(launch, fault),
              fault.text.substr(0, line_end),
              "",
              fault.text);
    return true;
}

}  // namespace simt::check

extern "C" void simt_check_forget(const void* address, size_t bytes) {
    using namespace simt::check;
    if (!in_device_memory(address)) return;
    const auto* begin = static_cast<const char*>(address);
    device_shadow.set_initialised(begin, bytes, false);
    ignore_contents(begin, bytes);
}
