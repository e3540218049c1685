// wgmma: products that are written down when they are issued and computed at the wait.

#include "simt/hopper/wgmma.h"

#include "core/observer.h"
#include "product.h"

namespace simt::detail {
namespace {

using Kind = WgmmaEntry::Kind;
using ptx::detail::WgmmaCall;

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::fence:
            return "wgmma.fence";
        case Kind::product:
            return "wgmma.mma_async";
        case Kind::commit:
            return "wgmma.commit_group";
        case Kind::wait:
            return "wgmma.wait_group";
        case Kind::registers:
            break;
    }
    return "setmaxnreg";
}

bool same(const WgmmaCall& a, const WgmmaCall& b) {
    return a.a == b.a && a.b == b.b && a.n == b.n && a.format == b.format &&
           a.accumulate == b.accumulate && a.registers == b.registers &&
           a.transpose_a == b.transpose_a && a.transpose_b == b.transpose_b;
}

Here here(Worker& w, const char* file, int line) {
    const unsigned rank = w.thread->rank;
    const unsigned index = rank / kWarpgroupThreads;
    if ((index + 1) * kWarpgroupThreads > w.block->size)
        hopper_fault(
            w,
            file,
            line,
            "thread %u belongs to no whole warpgroup: the block has %u threads",
            rank,
            w.block->size);
    return {w, hopper_state(w).warpgroups[index], rank % kWarpgroupThreads, file, line};
}

/// The entry of the thread's next instruction; the first thread that comes makes it.
WgmmaEntry& next_entry(const Here& h, Kind kind, int number, const WgmmaCall& call) {
    Warpgroup& group = h.group;
    const uint64_t index = group.position[h.thread]++ - group.first;
    if (index == group.entries.size()) {
        WgmmaEntry entry{};
        entry.kind = kind;
        entry.number = number;
        entry.call = call;
        entry.file = h.file;
        entry.line = h.line;
        group.entries.push_back(std::move(entry));
    }
    WgmmaEntry& entry = group.entries[index];
    if (entry.kind != kind || entry.number != number || !same(entry.call, call))
        hopper_fault(h.w,
                     h.file,
                     h.line,
                     "%s: the 128 threads of a warpgroup must execute the same "
                     "instructions with the\n    same operands; others have executed "
                     "%s%s at %s",
                     name_of(kind),
                     name_of(entry.kind),
                     entry.kind == kind ? " with other operands" : "",
                     place(entry.file, entry.line).c_str());
    ++entry.arrived;
    return entry;
}

/// Drops what all threads have passed and nothing waits for.
void drop_entries(Warpgroup& group) {
    while (!group.entries.empty()) {
        const WgmmaEntry& entry = group.entries.front();
        if (entry.arrived < kWarpgroupThreads || entry.tile) return;
        group.entries.pop_front();
        ++group.first;
    }
}

void complete_wait(const Here& h, uint64_t index, int pending) {
    Warpgroup& group = h.group;
    const uint64_t limit = group.groups - std::min<uint64_t>(group.groups, pending);
    for (uint64_t i = group.first; i < index; ++i) {
        WgmmaEntry& entry = group.entries[i - group.first];
        if (!entry.tile || entry.group >= limit) continue;
        finish_product(h, entry);
        group.fenced.fill(false);
        group.done = entry.product;
        if (entry.call.registers) group.read_until = entry.issued;
    }
    if (!observer) return;
    constexpr unsigned kWarps = kWarpgroupThreads / 32;
    const unsigned first = h.w.thread->rank / kWarpgroupThreads * kWarps;
    for (unsigned i = 0; i < kWarps; ++i)
        observer->multiplies(*h.w.block, first + i, group.running() != nullptr);
}

/// For the checker, the threads share the reading of the operands.
void tell_reads(const Here& h, WgmmaEntry& entry) {
    if (!observer || entry.told[h.thread] == entry.product) return;
    entry.told[h.thread] = entry.product;
    const WgmmaCall& call = entry.call;
    const auto tell = [&](uint64_t bits, int rows, bool transposed) {
        tell_operand_reads(h.w,
                           MatrixDescriptor::decode(bits),
                           rows,
                           transposed,
                           h.thread,
                           kWarpgroupThreads,
                           entry.product);
    };
    if (!call.registers) tell(call.a, 64, call.transpose_a);
    tell(call.b, call.n, call.transpose_b);
}

/// The operands may be read until the threads have waited for the product. A barrier of
/// the block since the issue is no word about that: for the checker, what is in flight
/// begins once more, at the wait. So do the products behind it, for they end in order.
void tell_late_reads(const Here& h, uint64_t index) {
    if (!observer) return;
    Warpgroup& group = h.group;
    bool again = false;
    for (uint64_t i = group.first; i < index; ++i) {
        WgmmaEntry& entry = group.entries[i - group.first];
        if (!entry.tile) continue;
        again = again || observer->product_is_past(entry.product);
        if (again) entry.product = observer->product_begins();
        tell_reads(h, entry);
    }
}

}  // namespace

void setmaxnreg_together(Worker& w, int registers, const char* file, int line) {
    const Here h = here(w, file, line);
    next_entry(h, Kind::registers, registers, {});
    drop_entries(h.group);
}

}  // namespace simt::detail

namespace simt::ptx {

namespace d = simt::detail;

void detail::wgmma(const WgmmaCall& call,
                   float* registers,
                   const uint32_t* a,
                   const char* file,
                   int line) {
    d::Worker& w = d::kernel_worker("wgmma.mma_async", file, line);
    const d::InRuntime guard(w);
    const d::Here h = d::here(w, file, line);
    if (call.n % 8 != 0 || call.n < 8 || call.n > 256)
        d::hopper_fault(w, file, line, "wgmma: N is a multiple of 8 up to 256");
    if (!h.group.fenced[h.thread])
        d::hopper_fault(w,
                        file,
                        line,
                        "wgmma.mma_async without wgmma.fence: registers written before "
                        "(or read, after a\n    wait) may be accessed in any order; "
                        "call wgmma_fence() before the first product");
    const bool bytes =
        call.format == WgmmaFormat::e4m3 || call.format == WgmmaFormat::s8;
    if (bytes && (call.transpose_a || call.transpose_b))
        d::hopper_fault(
            w, file, line, "wgmma of 8-bit types takes K-major operands only");
    d::WgmmaEntry& entry = d::next_entry(h, d::Kind::product, 0, call);
    d::join_tile(h, entry, registers);
    if (a) d::join_rows(h, entry, a);
    if (d::observer && entry.arrived == 1)
        entry.product = d::observer->product_begins();
    d::tell_reads(h, entry);
    if (d::observer) entry.issued[h.thread] = d::observer->moment();
    if (entry.arrived == 1) d::start_product(h, entry);
    if (d::observer) d::observer->multiplies(*w.block, w.thread->rank / 32, true);
    if (entry.arrived == d::kWarpgroupThreads) entry.group = h.group.groups;
}

void wgmma_fence(const char* file, int line) {
    d::Worker& w = d::kernel_worker("wgmma.fence", file, line);
    const d::InRuntime guard(w);
    const d::Here h = d::here(w, file, line);
    d::next_entry(h, d::Kind::fence, 0, {});
    h.group.fenced[h.thread] = true;
    d::drop_entries(h.group);
}

void wgmma_commit(const char* file, int line) {
    d::Worker& w = d::kernel_worker("wgmma.commit_group", file, line);
    const d::InRuntime guard(w);
    const d::Here h = d::here(w, file, line);
    if (d::next_entry(h, d::Kind::commit, 0, {}).arrived == d::kWarpgroupThreads)
        ++h.group.groups;
    d::drop_entries(h.group);
}

void wgmma_wait(int pending, const char* file, int line) {
    d::Worker& w = d::kernel_worker("wgmma.wait_group", file, line);
    const d::InRuntime guard(w);
    const d::Here h = d::here(w, file, line);
    const uint64_t index = h.group.position[h.thread];
    d::WgmmaEntry& entry = d::next_entry(h, d::Kind::wait, pending, {});
    d::tell_late_reads(h, index);
    if (d::observer) d::observer->products_awaited(&h.group, false);
    entry.waiting.push(w.thread);
    if (entry.arrived == d::kWarpgroupThreads) {
        d::complete_wait(h, index, pending);
        w.make_ready(entry.waiting);
        w.note_progress();
        d::drop_entries(h.group);
    }
    d::hopper_suspend(w, "wgmma.wait_group", file, line);
    w.in_runtime = true;
    if (!d::observer) return;
    const bool reads = h.group.read_until[h.thread] != 0;
    d::observer->products_done(h.group.done,
                               reads ? h.group.read_until.data() : nullptr);
    d::observer->products_awaited(&h.group, true);
}

}  // namespace simt::ptx
