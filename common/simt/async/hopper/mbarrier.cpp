// mbarriers: arrivals, bytes, and waiting for a phase.

#include "mbarrier.h"

#include "core/observer.h"
#include "simt/cluster.h"
#include "simt/hopper/mbarrier.h"
#include "simt/shared.h"
#include "state.h"

namespace simt::detail {
namespace {

/// Where a phase's arrivals release and its waits acquire: the two parities apart.
const void* sync_object(const uint64_t* barrier, unsigned phase) {
    return reinterpret_cast<const char*>(barrier) + 4 * (phase & 1);
}

void check_address(Worker& w, const uint64_t* barrier, const char* file, int line) {
    if (reinterpret_cast<uintptr_t>(barrier) % 8 != 0 || !is_cluster_shared(barrier))
        hopper_fault(w,
                     file,
                     line,
                     "mbarrier at %p: it must lie in shared memory, at a multiple of 8",
                     static_cast<const void*>(barrier));
    const Block& home = home_of(w, barrier);
    if (home.alive == 0)
        hopper_fault(w,
                     file,
                     line,
                     "mbarrier of block %s of the cluster, which has ended: "
                     "cluster.sync() before the\n    end of the kernel keeps it alive",
                     triple(home.index).c_str());
}

/// The operation is one for the barriers of the running block.
void check_own(Worker& w, const uint64_t* barrier, const char* file, int line) {
    if (is_shared(barrier)) return;
    hopper_fault(
        w,
        file,
        line,
        "mbarrier at %p: it is initialised, and waited for, only by threads of "
        "the block in\n    whose shared memory it lies; others of the cluster "
        "may arrive",
        static_cast<const void*>(barrier));
}

Mbarrier load(Worker& w, const uint64_t* barrier, const char* file, int line) {
    check_address(w, barrier, file, line);
    if (!Mbarrier::valid(*barrier))
        hopper_fault(w,
                     file,
                     line,
                     "mbarrier at %p has not been initialised (mbarrier_init by one "
                     "thread, then\n    a barrier of the block), or its memory was "
                     "overwritten",
                     static_cast<const void*>(barrier));
    return Mbarrier::decode(*barrier);
}

void wake(Worker& w, const uint64_t* barrier) {
    auto& waiters = hopper_state(home_of(w, barrier)).at_mbarrier;
    size_t kept = 0;
    for (const HopperState::Waiter& waiter : waiters) {
        if (waiter.barrier == barrier)
            w.make_ready(waiter.thread);
        else
            waiters[kept++] = waiter;
    }
    waiters.resize(kept);
    w.note_progress();
}

void store(Worker& w, uint64_t* barrier, Mbarrier m) {
    const bool complete = m.complete();
    if (complete) {
        m.phase ^= 1;
        m.pending = m.expected;
    }
    *barrier = m.encode();
    if (complete) wake(w, barrier);
}

void arrive(uint64_t* barrier, unsigned count, int bytes, const char* file, int line) {
    Worker& w = kernel_worker("mbarrier.arrive", file, line);
    const InRuntime guard(w);
    Mbarrier m = load(w, barrier, file, line);
    if (observer) observer->barrier_used(barrier, true);
    if (m.pending < count)
        hopper_fault(w,
                     file,
                     line,
                     "mbarrier at %p: more arrivals in one phase than the %u it was "
                     "initialised for.\n    A phase ends when its bytes have arrived, "
                     "too: has somebody waited for the last one?",
                     static_cast<const void*>(barrier),
                     m.expected);
    if (bytes < 0 || m.bytes + bytes > Mbarrier::kMostBytes)
        hopper_fault(w,
                     file,
                     line,
                     "mbarrier.expect_tx of %d bytes: a phase counts up to %d",
                     bytes,
                     Mbarrier::kMostBytes);
    if (observer) observer->synchronises(sync_object(barrier, m.phase), false, true);
    m.pending -= count;
    m.bytes += bytes;
    store(w, barrier, m);
}

/// Whether the phase of that parity is complete; what has been copied for it lands.
bool is_complete(
    Worker& w, uint64_t* barrier, unsigned parity, const char* file, int line) {
    check_own(w, barrier, file, line);
    if (parity > 1)
        hopper_fault(w, file, line, "the parity of a phase is 0 or 1, not %u", parity);
    Mbarrier m = load(w, barrier, file, line);
    if (m.phase == parity) {
        land_loads(w, barrier);
        AsyncUnit* const unit = hopper_state(w).tensor_memory.get();
        if (unit && (*barrier >> 63) == parity) unit->land_commits(w, barrier);
        m = Mbarrier::decode(*barrier);
    }
    if (m.phase == parity) return false;
    if (observer) observer->synchronises(sync_object(barrier, parity), true, false);
    return true;
}

}  // namespace

void mbarrier_bytes_arrived(
    Worker& w, uint64_t* barrier, size_t bytes, const char* file, int line) {
    Mbarrier m = load(w, barrier, file, line);
    m.bytes -= static_cast<int>(bytes);
    if (m.bytes < -Mbarrier::kMostBytes)
        hopper_fault(w,
                     file,
                     line,
                     "mbarrier at %p: bytes have arrived that nobody expects",
                     static_cast<const void*>(barrier));
    store(w, barrier, m);
}

void mbarrier_commit_arrives(Worker& w, uint64_t* barrier, const char* file, int line) {
    Mbarrier m = load(w, barrier, file, line);
    if (m.pending == 0)
        hopper_fault(w,
                     file,
                     line,
                     "tcgen05.commit: more arrivals at the mbarrier in one phase than "
                     "the %u it was initialised for",
                     m.expected);
    --m.pending;
    store(w, barrier, m);
}

void mbarrier_copy_issued(Worker& w, uint64_t* barrier, const char* file, int line) {
    const Mbarrier m = load(w, barrier, file, line);
    if (observer) {
        observer->barrier_used(barrier, true);
        observer->barrier_given(barrier);
        observer->synchronises(sync_object(barrier, m.phase), false, true);
    }
    wake(w, barrier);  // who waits lets the copy land
}

}  // namespace simt::detail

namespace simt::ptx {

using simt::detail::Mbarrier;
using simt::detail::Worker;

void mbarrier_init(uint64_t* barrier, int arrivals, const char* file, int line) {
    Worker& w = simt::detail::kernel_worker("mbarrier.init", file, line);
    const simt::detail::InRuntime guard(w);
    simt::detail::check_address(w, barrier, file, line);
    simt::detail::check_own(w, barrier, file, line);
    const auto count = static_cast<unsigned>(arrivals);
    if (arrivals < 1 || count > Mbarrier::kMostArrivals)
        simt::detail::hopper_fault(w,
                                   file,
                                   line,
                                   "mbarrier.init for %d arrivals: 1 to %u can be "
                                   "counted",
                                   arrivals,
                                   Mbarrier::kMostArrivals);
    if (simt::detail::observer) simt::detail::observer->barrier_made(barrier);
    *barrier = Mbarrier{count, count, 0, 0}.encode();
}

void mbarrier_arrive(uint64_t* barrier, const char* file, int line) {
    simt::detail::arrive(barrier, 1, 0, file, line);
}

void mbarrier_expect(uint64_t* barrier, int bytes, const char* file, int line) {
    simt::detail::arrive(barrier, 1, bytes, file, line);
}

void mbarrier_arrive_many(uint64_t* barrier, int count, const char* file, int line) {
    simt::detail::arrive(barrier, static_cast<unsigned>(count), 0, file, line);
}

void mbarrier_expect_bytes(uint64_t* barrier, int bytes, const char* file, int line) {
    simt::detail::arrive(barrier, 0, bytes, file, line);
}

void mbarrier_complete_bytes(uint64_t* barrier, int bytes, const char* file, int line) {
    Worker& w = simt::detail::kernel_worker("mbarrier.complete_tx", file, line);
    const simt::detail::InRuntime guard(w);
    simt::detail::mbarrier_bytes_arrived(
        w, barrier, static_cast<size_t>(bytes), file, line);
}

void mbarrier_init_fence() {
    Worker& w = simt::detail::kernel_worker("fence.mbarrier_init", nullptr, 0);
    const simt::detail::InRuntime guard(w);
    if (simt::detail::observer) simt::detail::observer->barriers_fenced();
}

void async_proxy_fence() {
    Worker& w = simt::detail::kernel_worker("fence.proxy.async", nullptr, 0);
    const simt::detail::InRuntime guard(w);
    if (simt::detail::observer) simt::detail::observer->proxy_fenced();
}

bool mbarrier_try_wait(uint64_t* barrier, unsigned parity, const char* file, int line) {
    Worker& w = simt::detail::kernel_worker("mbarrier.try_wait", file, line);
    const simt::detail::InRuntime guard(w);
    if (simt::detail::observer) simt::detail::observer->barrier_used(barrier, false);
    if (simt::detail::is_complete(w, barrier, parity, file, line)) return true;
    w.yield();
    w.in_runtime = true;
    return simt::detail::is_complete(w, barrier, parity, file, line);
}

void mbarrier_wait(uint64_t* barrier, unsigned parity, const char* file, int line) {
    Worker& w = simt::detail::kernel_worker("mbarrier.try_wait", file, line);
    const simt::detail::InRuntime guard(w);
    if (simt::detail::observer) simt::detail::observer->barrier_used(barrier, false);
    while (!simt::detail::is_complete(w, barrier, parity, file, line)) {
        simt::detail::hopper_state(w).at_mbarrier.push_back({w.thread, barrier});
        simt::detail::hopper_suspend(w, "mbarrier.try_wait", file, line);
        w.in_runtime = true;
    }
}

}  // namespace simt::ptx
