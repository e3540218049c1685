// Barriers for a part of the block, registers that change hands, election of a lane.

#include "core/observer.h"
#include "simt/hopper/warpgroup.h"
#include "simt/sync.h"
#include "simt/warp.h"
#include "state.h"

namespace simt::detail {
namespace {

constexpr int kRegistersPerBlock = 65536;
constexpr int kMostRegisters = 255;

/// What the checker regards as the barrier's phase.
const void* sync_object(const NamedBarrier& barrier) {
    return reinterpret_cast<const char*>(&barrier) + barrier.phase % 2;
}

/// Counts the running thread; returns the barrier.
NamedBarrier& come(
    Worker& w, int id, int threads, const char* op, const char* file, int line) {
    if (id < 0 || id > 15)
        hopper_fault(w, file, line, "%s %d: there are barriers 0 to 15", op, id);
    if (threads <= 0 || threads % 32 != 0 ||
        static_cast<unsigned>(threads) > (w.block->size + 31) / 32 * 32)
        hopper_fault(w,
                     file,
                     line,
                     "%s %d for %d threads: whole warps of the block's %u threads",
                     op,
                     id,
                     threads,
                     w.block->size);
    NamedBarrier& barrier = hopper_state(w).barriers[id];
    if (barrier.arrived == 0) barrier.expected = static_cast<unsigned>(threads);
    if (barrier.expected != static_cast<unsigned>(threads))
        hopper_fault(w,
                     file,
                     line,
                     "%s %d for %d threads, while others are there that expect %u",
                     op,
                     id,
                     threads,
                     barrier.expected);
    ++barrier.arrived;
    if (observer) observer->synchronises(sync_object(barrier), false, true);
    return barrier;
}

void complete_if_all(Worker& w, NamedBarrier& barrier) {
    if (barrier.arrived != barrier.expected) return;
    barrier.arrived = 0;
    ++barrier.phase;
    w.make_ready(barrier.waiting);
    w.note_progress();
}

/// The registers of each thread; at first those that the block was launched with.
std::vector<int>& registers_of(Worker& w) {
    HopperState& state = hopper_state(w);
    if (state.registers.empty()) {
        const int each = kRegistersPerBlock / static_cast<int>(w.block->size) / 8 * 8;
        state.registers.assign(w.block->size, std::min(each, kMostRegisters));
    }
    return state.registers;
}

void check_registers(
    Worker& w, const char* op, int registers, bool fits, const char* file, int line) {
    const int mine = registers_of(w)[w.thread->rank];
    if (registers < 24 || registers > 256 || registers % 8 != 0)
        hopper_fault(w,
                     file,
                     line,
                     "%s %d: a multiple of 8 from 24 to 256 is wanted",
                     op,
                     registers);
    if (!fits)
        hopper_fault(
            w, file, line, "%s %d: the thread has %d registers", op, registers, mine);
}

void elect(WarpArg* const* lanes, uint32_t present) {
    for (int lane = 0; lane < 32; ++lane)
        if (present >> lane & 1) lanes[lane]->out = lane == __builtin_ctz(present);
}

}  // namespace

}  // namespace simt::detail

namespace simt::ptx {

namespace d = simt::detail;

void named_barrier_sync(int id, int threads, const char* file, int line) {
    d::Worker& w = d::kernel_worker("bar.sync", file, line);
    if (id == 0 && static_cast<unsigned>(threads) == w.block->size) {
        d::block_barrier(0, "bar.sync 0", file, line);
        return;
    }
    const d::InRuntime guard(w);
    d::NamedBarrier& barrier = d::come(w, id, threads, "bar.sync", file, line);
    const void* const object = d::sync_object(barrier);
    barrier.waiting.push(w.thread);
    d::complete_if_all(w, barrier);
    d::hopper_suspend(w, "bar.sync", file, line);
    w.in_runtime = true;
    if (d::observer) d::observer->synchronises(object, true, false);
}

void named_barrier_arrive(int id, int threads, const char* file, int line) {
    d::Worker& w = d::kernel_worker("bar.arrive", file, line);
    const d::InRuntime guard(w);
    d::complete_if_all(w, d::come(w, id, threads, "bar.arrive", file, line));
}

void setmaxnreg_dec(int registers, const char* file, int line) {
    d::Worker& w = d::kernel_worker("setmaxnreg.dec", file, line);
    const d::InRuntime guard(w);
    int& mine = d::registers_of(w)[w.thread->rank];
    d::check_registers(w, "setmaxnreg.dec", registers, registers <= mine, file, line);
    d::setmaxnreg_together(w, registers, file, line);
    auto& state = d::hopper_state(w);
    state.free_registers += mine - registers;
    mine = registers;
    w.make_ready(state.at_registers);
}

void setmaxnreg_inc(int registers, const char* file, int line) {
    d::Worker& w = d::kernel_worker("setmaxnreg.inc", file, line);
    const d::InRuntime guard(w);
    int& mine = d::registers_of(w)[w.thread->rank];
    d::check_registers(w, "setmaxnreg.inc", registers, registers >= mine, file, line);
    d::setmaxnreg_together(w, registers, file, line);
    auto& state = d::hopper_state(w);
    while (state.free_registers < registers - mine) {
        state.at_registers.push(w.thread);
        d::hopper_suspend(w, "setmaxnreg.inc", file, line);
        w.in_runtime = true;
    }
    state.free_registers -= registers - mine;
    mine = registers;
}

bool elect_one(const char* file, int line) {
    d::WarpArg arg{0, 0, 0, nullptr, d::elect};
    d::warp_op(d::WarpOp::custom, 0xffffffffu, arg, "elect.sync", file, line);
    return arg.out != 0;
}

}  // namespace simt::ptx
