// Data races: every access is compared with those that the word remembers.

#include <algorithm>
#include <iterator>
#include <vector>

#include "immortal.h"
#include "past_launches.h"
#include "quick.h"
#include "report.h"
#include "state.h"

namespace simt::check {

using detail::Worker;

namespace {

constexpr size_t kMostDoubtful = 1024;
constexpr uint32_t kMostCompared = 64;  // bytes of an access

/// A word that two threads have written, in no order.
struct Overwrite {
    Scene scene;
    Access access;
    Record now;
    Record old;
    Who by;
    const uint32_t* word;
    uint32_t before;  // what the older write has left there
};
constinit Immortal<std::vector<Overwrite>> g_overwrites;
[[gnu::constructor(101)]] void make_overwrites() {
    g_overwrites.construct();
}

bool same_line(uint32_t a, uint32_t b) {
    if (a == b) return true;
    const Place &one = site(a).place, &other = site(b).place;
    return one.line != 0 && one.line == other.line && one.file == other.file;
}

/// One access on its way through its words.
struct Probe {
    Here here;
    const Access& access;
    Worker& worker;
    const Cell* cells = nullptr;  // of its words
    bool compares = false;        // some of its words are in g_overwrites
};

Who who_did(const Probe& probe, Record old) {
    const detail::Launch& launch = *probe.worker.launch;
    if (const Beside* beside = launch_order.beside_of(old)) {
        const PastLaunch& past = past_launch(beside->number);
        return who_is(past.what.grid,
                      past.what.block,
                      past.owner[old.segment() - past.first],
                      old.thread());
    }
    if (launch_order.is_before(old))
        return who_is(launch_before.grid,
                      launch_before.block,
                      launch_order.owner_of_before(old.segment()),
                      old.thread());
    const uint64_t block = launch_order.owner_of(old.segment());
    const uint32_t rank = old.thread(), cores = probe.here.block->rank_of_cores(0);
    // What tensor cores have read, their warpgroup's first thread has.
    return who_is(launch, block, rank < cores ? rank : (rank - cores) * kWarpgroupSize);
}

/// Are two atomic operations such for each other? Not if the scope of one is its block,
/// and the other is of another block.
bool exclude_each_other(const Probe& probe, Record old) {
    if (!probe.access.of_block && !site(old.site()).of_block) return true;
    return old.segment() < launch_order.first ||
           launch_order.owner_of(old.segment()) == probe.here.block->linear;
}

bool races(const Probe& probe, Record old, Record now) {
    return (old.bytes() & now.bytes()) != 0 &&
           !(old.atomic() && now.atomic() && exclude_each_other(probe, old)) &&
           !probe.here.is_after(old);
}

/// Has another block updated the word on which this one's last atomic operation was?
bool asked_another_block(const BlockOrder& b) {
    const Shadow& shadow =
        device_shadow.contains(b.asked) ? device_shadow : static_shadow;
    if (!b.asked || !shadow.contains(b.asked)) return false;
    const Cell& cell = *shadow.cell(b.asked);
    return std::any_of(cell.writes, std::end(cell.writes), [&](Record write) {
        return write.atomic() && write.segment() >= launch_order.first &&
               launch_order.owner_of(write.segment()) != b.linear;
    });
}

/// Would fences order the two accesses, beside atomic operations that there are? Or a
/// wider scope of these?
Special what_is_missing(const Probe& probe, Record old, bool old_write) {
    const bool both_atomic =
        old.atomic() && (probe.access.atomic || probe.access.relaxed);
    if (both_atomic) return Special::scopes;
    if (probe.here.needs_fence_after(old)) return Special::not_acquired;
    const BlockOrder& b = *probe.here.block;
    const bool told =
        old_write && !old.atomic() && !probe.access.write && !probe.here.shared &&
        launch_order.owner_of(old.segment()) != b.linear && asked_another_block(b);
    if (!told) return Special::none;
    if (b.asked_narrow) return Special::told_the_block;
    return b.asked_relaxed ? Special::not_released : Special::none;
}

__attribute__((noinline, cold)) void found(const Probe& probe,
                                           Record old,
                                           bool old_write) {
    const Access& a = probe.access;
    const bool beside = launch_order.beside_of(old);
    if (beside || launch_order.is_before(old)) {
        report_race(scene_of(probe.worker),
                    a,
                    old,
                    old_write,
                    who_did(probe, old),
                    beside ? Special::launch_beside : Special::launch_before);
        return;
    }
    if (!a.write && !a.relaxed && old.atomic()) {
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
    report_race(scene_of(probe.worker),
                a,
                old,
                old_write,
                who_did(probe, old),
                what_is_missing(probe, old, old_write));
}

/// A write that races with an older one: to be judged by what it writes.
__attribute__((noinline, cold)) void found_write(Probe& probe,
                                                 const Cell* cell,
                                                 Record old,
                                                 Record now) {
    const Access& a = probe.access;
    if (!a.announced || a.bytes > kMostCompared || old.atomic() || now.atomic() ||
        old.segment() < launch_order.first) {
        found(probe, old, true);
        return;
    }
    if (!probe.compares) settle_overwrites();
    probe.compares = any_overwrites = true;
    const auto first = reinterpret_cast<uintptr_t>(a.address) & ~uintptr_t{3};
    const auto* word = reinterpret_cast<const uint32_t*>(first) + (cell - probe.cells);
    g_overwrites.value.push_back(
        {scene_of(probe.worker), a, now, old, who_did(probe, old), word, *word});
}

/// Does the cell's other write, with which the access races too, say more than the last
/// one? Both are remembered where two have written the same.
bool says_more(const Cell& cell, const Record& w, Record now) {
    return w.atomic() || (w.bytes() & now.bytes() & ~cell.writes[0].bytes()) != 0;
}

void read_word(const Probe& probe, Cell& cell, Record now) {
    bool with_last = false;
    for (const Record& w : cell.writes)
        if (races(probe, w, now) && (!with_last || says_more(cell, w, now))) {
            found(probe, w, true);
            with_last = true;
        }
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

/// Has somebody before the writer done a later atomic operation there than `w`? Then
/// that one has seen w, as the ticket of the last block has: it may store a 0.
bool seen_by_atomic(const Probe& probe, const Cell& cell, const Record& w) {
    const Record last = cell.writes[0];
    return &w != cell.writes && w.atomic() && last.atomic() &&
           (w.bytes() & ~last.bytes()) == 0 && probe.here.is_after(last);
}

void write_word(Probe& probe, Cell& cell, Record now) {
    const Record last = cell.writes[0];
    bool with_last = false;
    for (const Record& w : cell.writes)
        if (races(probe, w, now) && !seen_by_atomic(probe, cell, w) &&
            (!with_last || says_more(cell, w, now))) {
            found_write(probe, &cell, w, now);
            with_last |= &w == &cell.writes[0];
        }
    for (const Record& r : cell.reads)
        if (races(probe, r, now) && !probe.here.is_after_read(r)) {
            found(probe, r, false);
            break;
        }
    remember_write(cell, now);
    // The same value may have been written twice: neither writer forgets the other.
    if (with_last && cell.writes[1].empty()) cell.writes[1] = last;
}

/// Checks a record of the whole access on its words from number `first` on.
void check_cells(Probe& probe, Cell* cell, Record record, uint32_t first) {
    const Access& a = probe.access;
    probe.cells = cell;
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

bool any_overwrites = false;

void settle_overwrites() {
    for (const Overwrite& o : g_overwrites.value) {
        uint32_t mask = 0;
        for (uint32_t i = 0; i < 4; ++i)
            if (o.old.bytes() & o.now.bytes() & 1u << i) mask |= 0xffu << 8 * i;
        const bool same = ((*o.word ^ o.before) & mask) == 0;
        // By chance two lines may write the same, one line does so on purpose.
        if (same && same_line(o.old.site(), o.now.site())) continue;
        report_race(o.scene,
                    o.access,
                    o.old,
                    true,
                    o.by,
                    same ? Special::same_value : Special::none);
    }
    g_overwrites.value.clear();
    any_overwrites = false;
}

void check_race(Shadow& shadow, const Access& a, Worker& worker) {
    BlockState& state = state_of(*worker.block);
    Probe probe{
        Here(state.order, worker.thread->rank, a.space == Space::shared), a, worker};
    if (a.product != 0)
        probe.here.cores =
            state.order.rank_of_cores(probe.here.thread / kWarpgroupSize);
    const Record record =
        a.product != 0
            ? Record(a.product, probe.here.cores, a.site, false)
            : Record(
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
    a.announced = true;
    BlockState& state = state_of(*worker.block);
    Probe probe{Here(state.order, worker.thread->rank, shared), a, worker};
    Cell* cell = known.cells + (address - known.begin) / 4;
    check_cells(probe, cell, running.record | known.site, first);
}

void flush_doubtful(Worker& worker, BlockState& state) {
    if (any_overwrites) settle_overwrites();
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
        report_race(scene, read, d.old, true, d.by);
    }
    state.doubtful.clear();
}

}  // namespace simt::check
