// Data races: every access is compared with those that the word remembers.

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
    const uint64_t block = probe.here.shared ? probe.worker.block->linear
                                             : launch_order.owner_of(old.segment());
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
                                  probe.worker.thread->index});
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
    const uint32_t bytes = now.bytes();
    if (bytes == 15) {
        cell.reads[0] = cell.reads[1] = Record();
    } else {
        cell.reads[0].remove_bytes(bytes);
        cell.reads[1].remove_bytes(bytes);
    }
    Record& last = cell.writes[0];
    Record& before = cell.writes[1];
    const bool replaces = (last.bytes() & ~bytes) == 0 &&
                          !(last.atomic() && now.atomic() && !last.same_time(now));
    if (replaces) {
        before.remove_bytes(bytes);
    } else {
        if (!now.atomic()) last.remove_bytes(bytes);
        before = last;
    }
    last = now;
}

}  // namespace

void check_race(Shadow& shadow, const Access& a, Worker& worker) {
    BlockState& state = state_of(*worker.block);
    const Probe probe{
        Here(state.order, worker.thread->rank, a.space == Space::shared), a, worker};
    const Record record(
        probe.here.segment, probe.here.thread, a.site, a.atomic || a.relaxed);
    const auto at = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(a.address) & 3);
    Cell* cell = shadow.cell(a.address);
    uint32_t left = a.bytes;
    // The first word may be entered in its middle, the last one left there.
    uint32_t bytes = (left >= 4 ? 15u : (1u << left) - 1) << at & 15;
    left -= left < 4 - at ? left : 4 - at;
    for (;; ++cell) {
        if (a.write)
            write_word(probe, *cell, record.with_bytes(bytes));
        else
            read_word(probe, *cell, record.with_bytes(bytes));
        if (left == 0) break;
        bytes = left >= 4 ? 15u : (1u << left) - 1;
        left -= left < 4 ? left : 4;
    }
}

void flush_doubtful(Worker& worker, BlockState& state) {
    for (const DoubtfulRead& d : state.doubtful) {
        Scene scene = scene_of(worker);
        scene.who = {worker.block->index, d.index};
        Access read{};
        read.address = const_cast<char*>(d.address);
        read.bytes = d.bytes;
        read.site = d.site;
        read.space =
            state.order.shared.mapped() && state.order.shared.contains(d.address)
                ? Space::shared
            : static_shadow.contains(d.address) ? Space::constant
                                                : Space::global;
        report_race(scene, read, worker, d.old, true, d.by);
    }
    state.doubtful.clear();
}

}  // namespace simt::check
