// Data races: every access is compared with those that the word remembers.

#include "quick.h"
#include "report.h"
#include "state.h"

namespace simt::check {

using detail::Worker;

namespace {

constexpr size_t kMostDoubtful = 1024;

/// One access on its way through its words.
struct Probe {
    Here here;
    const Access& access;
    Worker& worker;
};

Who who_did(const Probe& probe, Record old) {
    const detail::Launch& launch = *probe.worker.launch;
    const uint64_t block = launch_order.owner_of(old.segment());
    return who_is(launch, block, old.thread());
}

bool races(const Probe& probe, Record old, Record now) {
    return (old.bytes() & now.bytes()) != 0 && !(old.atomic() && now.atomic()) &&
           !probe.here.is_after(old);
}

__attribute__((noinline, cold)) void found(const Probe& probe,
                                           Record old,
                                           bool old_write) {
    const Access& a = probe.access;
    if (!a.write && old.atomic()) {
        BlockState& state = state_of(*probe.worker.block);
        // Nobody needs so many tries: somebody polls by ordinary reads.
        if (state.doubtful.size() >= kMostDoubtful) flush_doubtful(probe.worker, state);
        state.doubtful.push_back({probe.here.thread,
                                  a.address,
                                  a.bytes,
                                  a.site,
                                  old,
                                  who_did(probe, old),
                                  probe.worker.thread->index,
                                  a.home});
        return;
    }
    report_race(
        scene_of(probe.worker), a, probe.worker, old, old_write, who_did(probe, old));
}

void read_word(const Probe& probe, Cell& cell, Record now) {
    for (const Record& w : cell.writes)
        if (races(probe, w, now)) found(probe, w, true);
    Record& first = cell.reads[0];
    Record& second = cell.reads[1];
    if (first.same_time(now)) {
        first.add_bytes(now);
    } else if (first.empty() || probe.here.is_after(first)) {
        // Who comes after this read comes after the forgotten one, too.
        first = now;
    } else if (second.same_time(now)) {
        second.add_bytes(now);
    } else if (second.empty() || probe.here.is_after(second) ||
               second.thread() / kLanes == first.thread() / kLanes) {
        // Of many readers, two that no __syncwarp() can order together.
        second = now;
    }
}

void write_word(const Probe& probe, Cell& cell, Record now) {
    for (const Record& w : cell.writes)
        if (races(probe, w, now)) found(probe, w, true);
    for (const Record& r : cell.reads)
        if (races(probe, r, now)) {
            found(probe, r, false);
            break;
        }
    remember_write(cell, now);
}

/// Checks a record of the whole access on its words from number `first` on.
void check_cells(const Probe& probe, Cell* cell, Record record, uint32_t first) {
    const Access& a = probe.access;
    const auto at = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(a.address) & 3);
    uint32_t left = a.bytes;
    // The first word may be entered in its middle, the last one left there.
    uint32_t bytes = (left >= 4 ? 15u : (1u << left) - 1) << at & 15;
    left -= left < 4 - at ? left : 4 - at;
    for (uint32_t i = 0;; ++i) {
        if (i < first)
            ;
        else if (a.write)
            write_word(probe, cell[i], record.with_bytes(bytes));
        else
            read_word(probe, cell[i], record.with_bytes(bytes));
        if (left == 0) break;
        bytes = left >= 4 ? 15u : (1u << left) - 1;
        left -= left < 4 ? left : 4;
    }
}

}  // namespace

void check_race(Shadow& shadow, const Access& a, Worker& worker) {
    BlockState& state = state_of(*worker.block);
    const Probe probe{
        Here(state.order, worker.thread->rank, a.space == Space::shared), a, worker};
    const Record record(
        probe.here.segment, probe.here.thread, a.site, a.atomic || a.relaxed);
    check_cells(probe, shadow.cell(a.address), record, 0);
}

void check_words(Known& known,
                 char* address,
                 uint32_t bytes,
                 bool write,
                 uint32_t first,
                 uintptr_t pc,
                 void* const* frame,
                 Worker& worker) {
    const bool shared = known.reach == Reach::shared;
    Access a{};
    a.address = address;
    a.bytes = bytes;
    a.write = write;
    a.space = shared              ? Space::shared
              : known.initialised ? Space::global
                                  : Space::constant;
    a.site = known.site.site();
    a.pc = pc;
    a.frame = reinterpret_cast<const char*>(frame);
    BlockState& state = state_of(*worker.block);
    const Probe probe{Here(state.order, worker.thread->rank, shared), a, worker};
    Cell* cell = known.cells + (address - known.begin) / 4;
    check_cells(probe, cell, running.record | known.site, first);
}

void flush_doubtful(Worker& worker, BlockState& state) {
    for (const DoubtfulRead& d : state.doubtful) {
        Scene scene = scene_of(worker);
        scene.who = {worker.block->index, d.index};
        Access read{};
        read.address = const_cast<char*>(d.address);
        read.bytes = d.bytes;
        read.site = d.site;
        read.home = d.home;
        read.space =
            d.home ? Space::shared
            : state.order.shared.mapped() && state.order.shared.contains(d.address)
                ? Space::shared
            : static_shadow.contains(d.address) ? Space::constant
                                                : Space::global;
        report_race(scene, read, worker, d.old, true, d.by);
    }
    state.doubtful.clear();
}

}  // namespace simt::check
