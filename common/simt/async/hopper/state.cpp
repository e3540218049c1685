#include "state.h"

#include <cstdio>

#include "core/cluster.h"
#include "core/fault.h"
#include "core/switch.h"
#include "mbarrier.h"

namespace simt::detail {

HopperState& hopper_state(Worker& w) {
    return hopper_state(*w.block);
}

Block& home_of(Worker& w, const void* address) {
    Block* const owner =
        w.block->cluster ? w.block->cluster->owner_of(address) : nullptr;
    return owner ? *owner : *w.block;
}

HopperState& hopper_state(Block& b) {
    if (!b.extension) {
        auto state = std::make_unique<HopperState>();
        state->store_group.resize(b.size);
        state->warpgroups.resize((b.size + 127) / 128);
        b.extension = std::move(state);
        worker->leave_row();
    }
    return static_cast<HopperState&>(*b.extension);
}

void hopper_fault(Worker& w, const char* file, int line, const char* text, ...) {
    char buffer[512];
    va_list args;
    va_start(args, text);
    std::vsnprintf(buffer, sizeof buffer, text, args);
    va_end(args);
    w.in_runtime = true;
    w.abandon(make_fault(w, cudaErrorLaunchFailure, file, line, buffer));
}

void hopper_suspend(Worker& w, const char* op, const char* file, int line) {
    Thread* t = w.thread;
    t->state = State::in_extension;
    t->op = op;
    t->file = file;
    t->line = line;
    w.suspend();
}

void HopperState::thread_ends(Worker& w) {
    const Thread& t = *w.thread;
    for (const TensorCopy& store : stores) {
        if (store.thread != t.rank) continue;
        hopper_fault(w,
                     store.file,
                     store.line,
                     "the thread has returned without waiting for its TMA store, which "
                     "may still\n    be reading shared memory: call "
                     "cp.async.bulk.wait_group.read (tma_store_wait_read)");
    }
    const Warpgroup& group = warpgroups[t.rank / 128];
    if (const WgmmaEntry* entry = group.running()) {
        hopper_fault(w,
                     entry->file,
                     entry->line,
                     "the thread has returned while this wgmma is running: "
                     "wgmma.wait_group is missing");
    }
    if (w.block->alive != 1) return;
    for (const TensorCopy& load : loads) {
        hopper_fault(
            w,
            load.file,
            load.line,
            "the block has ended before anybody waited for this TMA load: it "
            "may still be writing\n    to the shared memory of the next block");
    }
}

void HopperState::block_ends(Worker& w) {
    if (tensor_memory) tensor_memory->block_ends(w);
}

Waits HopperState::waits() const {
    std::string text;
    for (const Waiter& waiter : at_mbarrier) {
        const Mbarrier m = Mbarrier::decode(*waiter.barrier);
        const std::string line = format(
            "\n    the mbarrier that is waited for at %s (%p) is in phase %u, which "
            "lacks %u of %u arrivals and %d bytes",
            place(waiter.thread->file, waiter.thread->line).c_str(),
            static_cast<const void*>(waiter.barrier),
            m.phase,
            m.pending,
            m.expected,
            m.bytes);
        if (text.find(line) == std::string::npos) text += line;
    }
    return {std::move(text),
            "\n    Look at the parity, at the number of arrivals and at the bytes "
            "announced."};
}

}  // namespace simt::detail
