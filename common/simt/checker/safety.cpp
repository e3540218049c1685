// One access of a kernel: does its memory exist, has somebody written it, is it a race?

#include "safety.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "core/memory.h"
#include "host_writes.h"
#include "quick.h"
#include "report.h"
#include "state.h"

namespace simt::check {

using detail::Allocation;
using detail::Block;
using detail::SharedVariable;
using detail::Worker;

namespace {

/// Memory that is known to be valid: each instruction tends to use one variable.
struct Region {
    const char* begin = nullptr;
    size_t size = 0;
    uint64_t generation = 0;
};
constexpr size_t kRegions = 256;
constexpr long kNear = 1l << 20;  // a shared array's index is not further off
Region g_regions[kRegions];

std::string bytes_text(long n, const char* where) {
    return detail::format("%ld byte%s %s ", n, n == 1 ? "" : "s", where);
}

std::string shared_name(const SharedVariable& v) {
    return v.key ? detail::format("shared `%s` (%zu bytes, declared at %s)",
                                  v.name,
                                  v.size,
                                  detail::place(v.file, v.line).c_str())
                 : detail::format("the %zu bytes of dynamic shared memory", v.size);
}

/// "8 bytes past the end of shared `tile`": the nearest variable.
std::string describe_shared(const Block& block, const Access& a) {
    const char* first = a.address;
    const char* last = first + a.bytes;
    const SharedVariable* best = nullptr;
    long distance = 0;
    for (const SharedVariable& v : block.shared.variables) {
        const long d = first >= v.begin ? last - (v.begin + static_cast<long>(v.size))
                                        : v.begin - first;
        if (best && d >= distance) continue;
        best = &v;
        distance = d;
    }
    if (!best) return "in shared memory, where there is no variable";
    return bytes_text(
               distance,
               first >= best->begin ? "past the end of" : "before the start of") +
           shared_name(*best);
}

void report_invalid(const Access& a, Worker& worker) {
    last_bad_access = {
        worker.launch->number, worker.block->linear, worker.thread->rank};
    Kind kind = Kind::out_of_bounds;
    std::string where;
    Allocation allocation;
    if (a.space == Space::shared) {
        where = describe_shared(home_of(a, worker), a);
    } else if (detail::find_allocation(a.address, &allocation)) {
        // It begins inside and ends outside.
        const char* end = a.address + a.bytes;
        where =
            bytes_text(end - (allocation.begin + allocation.size), "past the end of") +
            name_of(scene_of(worker), a).name;
    } else {
        bool freed = false;
        where = detail::describe_address(a.address, &freed);
        if (freed) kind = Kind::use_after_free;
        if (where.empty()) where = "where there is no allocation";
    }
    report_bad_access(scene_of(worker), a, kind, where);
}

Reach reach_of(const Access& a) {
    return a.space == Space::shared ? Reach::shared : Reach::device;
}

/// Looks the address up among allocations or shared variables.
bool find_region(const Access& a, const Worker& worker, Region* out) {
    if (a.space == Space::shared) {
        for (const SharedVariable& v : home_of(a, worker).shared.variables) {
            if (a.address < v.begin || a.address >= v.begin + v.size) continue;
            *out = {v.begin, v.size, memory_generation[int(Reach::shared)]};
            return true;
        }
        return false;
    }
    Allocation allocation;
    if (!detail::find_allocation(a.address, &allocation)) return false;
    *out = {allocation.begin, allocation.size, memory_generation[int(Reach::device)]};
    return true;
}

bool is_valid(const Access& a, const Worker& worker) {
    if (a.space == Space::constant) return true;
    Region& region = g_regions[a.site % kRegions];
    const auto inside = [&] {
        const auto offset = static_cast<size_t>(a.address - region.begin);
        return offset < region.size && region.size - offset >= a.bytes;
    };
    if (region.generation == memory_generation[int(reach_of(a))] && inside())
        return true;
    return find_region(a, worker, &region) && inside();
}

/// True unless a half of the access has not been written at all. Less may be a gap in a
/// structure. Of a larger access at least one byte must have been written.
bool is_initialised(const Shadow& shadow, const Access& a) {
    if (a.bytes > 16 || a.structure) return shadow.any_initialised(a.address, a.bytes);
    uint32_t written = shadow.written(a.address, a.bytes);
    if (written == (1u << a.bytes) - 1) [[likely]]
        return true;
    const uint32_t unit = a.bytes > 2 ? a.bytes / 2 : a.bytes;
    for (uint32_t i = 0; i < a.bytes; i += unit, written >>= unit)
        if ((written & ((1u << unit) - 1)) == 0) return false;
    return true;
}

bool is_in_flight(const BlockState& state, const Access& a) {
    return std::any_of(state.copies.begin(), state.copies.end(), [&](const auto& c) {
        return a.address < c.to + c.bytes && c.to < a.address + a.bytes;
    });
}

void check_initialised(Shadow& shadow, const Access& a, Worker& worker) {
    const bool reads = !a.write || (a.atomic && !a.stores);
    if (reads && !is_initialised(shadow, a) &&
        !(learn_from_contents(shadow, a.address, a.bytes) &&
          is_initialised(shadow, a))) {
        const BlockState& state = state_of(*worker.block);
        report_uninitialised(
            scene_of(worker), a, a.space == Space::shared && is_in_flight(state, a));
    }
    if (!a.write) return;
    if (a.bytes <= 16)
        shadow.initialise(a.address, a.bytes);
    else
        shadow.set_initialised(a.address, a.bytes, true);
}

/// What an atomic operation or a volatile access to global memory orders.
void synchronise(const Access& a, Worker& worker) {
    BlockState& state = state_of(*worker.block);
    const uint32_t rank = worker.thread->rank;
    if (a.space != Space::shared) {
        state.order.asked = a.address;
        state.order.asked_site = a.site;
        state.order.asked_relaxed = !a.releases && !a.acquires;
        state.order.asked_narrow = a.of_block;
    }
    if (a.releases || launch_order.synchronises)
        order_atomic(
            state.order,
            rank,
            a.space == Space::shared ? state_of(home_of(a, worker)).order.objects
                                     : launch_order.objects,
            a.address,
            {!(a.relaxed && a.write), a.acquires, a.write, a.releases, a.of_block});
    if (!state.doubtful.empty() && a.write)
        std::erase_if(state.doubtful, [&](const DoubtfulRead& d) {
            return d.thread == rank && d.address == a.address;
        });
}

}  // namespace

constinit Shadow device_shadow;
constinit Shadow static_shadow;
uint64_t memory_generation[2] = {1, 1};
BadAccess last_bad_access;

void check_safety(const Access& a, Worker& worker) {
    if (!is_valid(a, worker)) [[unlikely]] {
        report_invalid(a, worker);
        return;
    }
    if (a.home && !check_peer(a, worker)) [[unlikely]]
        return;
    if (a.atomic || a.relaxed) synchronise(a, worker);
    Shadow* shadow = &static_shadow;
    if (a.space != Space::constant) {
        shadow = a.space == Space::shared ? &state_of(home_of(a, worker)).order.shared
                                          : &device_shadow;
        if (!shadow->contains(a.address)) return;  // registered host memory
        check_initialised(*shadow, a, worker);
    }
    if (shadow->contains(a.address)) check_race(*shadow, a, worker);
}

Known known_accesses[kKnown];

void note_known(const Access& a, const Worker& worker) {
    const bool usual = std::has_single_bit(a.bytes) && a.bytes <= 16 && !a.structure &&
                       !a.atomic && !a.relaxed;
    if (!usual) return;
    const Reach reach = reach_of(a);
    const uint64_t generation = memory_generation[int(reach)];
    const Shadow& shadow = a.space == Space::constant ? static_shadow
                           : reach == Reach::device
                               ? device_shadow
                               : state_of(*worker.block).order.shared;
    const Region region = a.space == Space::constant
                              ? Region{shadow.begin(), shadow.size(), generation}
                              : g_regions[a.site % kRegions];
    if (region.generation != generation || region.size < a.bytes ||
        reinterpret_cast<uintptr_t>(region.begin) % 16 != 0 ||
        !shadow.contains(region.begin))
        return;
    Known& known = known_accesses[known_index(a.pc)];
    known.pc = a.pc;
    known.begin = region.begin;
    known.starts = region.size - a.bytes + 1;
    known.generation = generation;
    known.cells = shadow.cell(region.begin);
    known.initialised =
        a.space == Space::constant ? nullptr : shadow.initialised_bits(region.begin);
    known.site = Record(0, 0, a.site, false);
    known.reach = reach;
}

void check_wild_access(const Access& a, Worker& worker) {
    // Unmapped: the fault that comes now says what the address is.
    const auto page = reinterpret_cast<uintptr_t>(a.address) & ~uintptr_t{4095};
    unsigned char resident;
    if (mincore(reinterpret_cast<void*>(page), 1, &resident) != 0) return;
    const detail::SharedArena& arena = worker.block->shared;
    const bool near_shared = arena.begin && a.address >= arena.begin - kNear &&
                             a.address < arena.end + kNear;
    if (near_shared) {
        Access shared = a;
        shared.space = Space::shared;
        report_invalid(shared, worker);
        return;
    }
    last_bad_access = {
        worker.launch->number, worker.block->linear, worker.thread->rank};
    const HeapBlock heap = heap_block_before(a.address);
    const auto behind = static_cast<size_t>(a.address - (heap.begin + heap.size));
    if (heap.begin && behind < heap.size) {
        report_bad_access(scene_of(worker),
                          a,
                          Kind::out_of_bounds,
                          detail::format("%zu bytes past the end of %zu bytes that a "
                                         "kernel has allocated",
                                         behind,
                                         heap.size));
        return;
    }
    report_bad_access(scene_of(worker),
                      a,
                      Kind::host_pointer,
                      detail::format("address %p, in memory of the host (or a local "
                                     "variable of another thread)",
                                     static_cast<void*>(a.address)));
}

void check_expression(Kind kind, const Place& place, const char* what, Worker& worker) {
    if (kind != Kind::undefined)
        last_bad_access = {
            worker.launch->number, worker.block->linear, worker.thread->rank};
    const char* title = kind == Kind::misaligned      ? "MISALIGNED ACCESS, "
                        : kind == Kind::out_of_bounds ? "OUT-OF-BOUNDS INDEX, "
                                                      : "UNDEFINED VALUE, ";
    report_at(scene_of(worker), kind, place, what, "", std::string(title) + what);
}

bool is_hosts_too(const void* address) {
    Allocation allocation;
    return detail::find_allocation(address, &allocation) &&
           allocation.kind != detail::MemoryKind::device;
}

void check_host_access(char* address, size_t bytes, bool write, uint32_t site) {
    Allocation allocation;
    const bool found = detail::find_allocation(address, &allocation);
    Access a{};
    a.address = address;
    a.bytes = static_cast<uint32_t>(bytes);
    a.write = write;
    a.site = site;
    bool freed = false;
    const std::string where = detail::describe_address(address, &freed);
    const Kind kind = found   ? Kind::device_pointer_on_host
                      : freed ? Kind::use_after_free
                              : Kind::out_of_bounds;
    report_bad_access({nullptr, {}}, a, kind, where);
}

}  // namespace simt::check
