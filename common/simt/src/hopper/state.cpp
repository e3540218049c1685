#include "state.h"

#include <cstdio>

#include "../blackwell/tensor_memory.h"
#include "../fault.h"
#include "mbarrier.h"

namespace simt::detail {

HopperState& hopper_state(Worker& w) {
    Block& b = *w.block;
    if (!b.hopper) {
        b.hopper = new HopperState;
        b.hopper->store_group.resize(b.size);
        b.hopper->warpgroups.resize((b.size + 127) / 128);
    }
    return *b.hopper;
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

void hopper_suspend(
    Worker& w, State state, const char* op, const char* file, int line) {
    Thread* t = w.thread;
    t->state = state;
    t->op = op;
    t->file = file;
    t->line = line;
    w.suspend();
}

void discard_hopper(Block& b) {
    delete b.hopper;
    b.hopper = nullptr;
}

void hopper_thread_ends(Worker& w) {
    HopperState& state = *w.block->hopper;
    const Thread& t = *w.thread;
    for (const TensorCopy& store : state.stores) {
        if (store.thread != t.rank) continue;
        hopper_fault(w,
                     store.file,
                     store.line,
                     "the thread has returned without waiting for its TMA store, which "
                     "may still\n    be reading shared memory: call "
                     "cp.async.bulk.wait_group.read (tma_store_wait_read)");
    }
    const Warpgroup& group = state.warpgroups[t.rank / 128];
    if (const WgmmaEntry* entry = group.running()) {
        hopper_fault(w,
                     entry->file,
                     entry->line,
                     "the thread has returned while this wgmma is running: "
                     "wgmma.wait_group is missing");
    }
}

void hopper_block_ends(Worker& w, Block& b) {
    for (const TensorCopy& load : b.hopper->loads) {
        warn(*w.launch,
             load.file,
             load.line,
             "the block has ended before anybody waited for this TMA load: it may "
             "still be writing\n    to the shared memory of the next block.");
    }
    if (b.hopper->tensor_memory) check_tmem_freed(w, *b.hopper->tensor_memory);
    discard_hopper(b);
}

std::string describe_mbarriers(const Block& b) {
    std::string text;
    if (!b.hopper) return text;
    for (const HopperState::Waiter& waiter : b.hopper->at_mbarrier) {
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
    return text;
}

}  // namespace simt::detail
