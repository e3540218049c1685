/// core/observer.h: what an instrumented program is told about a running kernel.
///
/// The checker (checker/) is linked only into programs compiled with simt-c++ --check.
/// It sees the kernel's memory accesses through the compiler's hooks; everything else
/// that gives those accesses a meaning it is told here: which threads wait for one
/// another, which memory lives, and what the runtime itself reads and writes.
///
/// In a plain program there is no observer, and each event costs one comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fault.h"
#include "memory.h"
#include "scheduler.h"
#include "simt/tensor.h"

namespace simt::detail {

/// Whose code has called a function of the simulator's that the compiler inserts.
struct Caller {
    uintptr_t pc;
    void* const*
        frame;  // of the function that was called; its first word: the caller's
};
/// The caller of the function that it stands in.
#define SIMT_CALLER                                               \
    simt::detail::Caller {                                        \
        reinterpret_cast<uintptr_t>(__builtin_return_address(0)), \
            static_cast<void* const*>(__builtin_frame_address(0)) \
    }

class Observer {
 public:
    virtual ~Observer() = default;

    /// A launch that will run; children of a launch come after its end.
    virtual void launch_begins(const Launch&) {}
    /// The end, also of a launch that a fault has ended.
    virtual void launch_ends(const Launch&) {}
    /// No thread of the block has run yet; its shared memory is empty.
    virtual void block_begins(Worker&, Block&) {}
    /// All its threads have returned; its shared memory is still there.
    virtual void block_ends(Worker&, Block&) {}

    /// All threads of the block that have not returned are at a barrier. What they did
    /// before comes before all that they will do.
    /// @param op, file, line  what the last of them called, and where
    virtual void block_synchronised(
        Worker&, Block&, const char* op, const char* file, int line) {
        (void)op, (void)file, (void)line;
    }
    /// A cluster that will run: all its blocks are there, and none has begun.
    virtual void cluster_begins(Worker&, Cluster&) {}
    /// All threads of the cluster that have not returned are at its barrier.
    virtual void cluster_synchronised(Worker&, Cluster&) {}
    /// A barrier of a cluster in two halves: the thread releases what it did before;
    /// it acquires what the threads of its cluster have released.
    virtual void cluster_arrives(Worker&, const Thread&) {}
    virtual void cluster_passes(Worker&, const Thread&) {}
    /// The same for all blocks of a cooperative launch.
    virtual void grid_synchronised(Worker&, Launch&) {}
    /// The lanes in `present` of warp number `warp` have performed an operation
    /// together. Only WarpOp::sync orders their memory accesses.
    virtual void warp_synchronised(Worker&,
                                   Block&,
                                   unsigned warp,
                                   uint32_t present,
                                   WarpOp,
                                   const char* file,
                                   int line) {
        (void)warp, (void)present, (void)file, (void)line;
    }
    /// The running thread has executed __threadfence() or a wider fence.
    virtual void fenced() {}
    /// The same for a fence that only the threads of its block can rely on.
    virtual void block_fenced() {}
    /// The running thread has waited for the end of the launch before its own, which
    /// may begin before that (Config::programmatic).
    virtual void dependency_awaited() {}
    /// Queued work of a stream begins: launches are part of it until it ends.
    /// @param number  of the work; 0 is none
    /// @param beside  numbers of the device's other work that nothing orders with it
    virtual void work_begins(uint64_t number, const std::vector<uint64_t>& beside) {
        (void)number, (void)beside;
    }
    virtual void work_ends() {}
    /// The host waits, or issues what is no kernel: the next launch begins when all
    /// before it has ended, whatever its attributes say.
    virtual void launches_divided() {}

    /// The worker is about to continue on another stack, of a fiber or, if null, its
    /// own; and has done so.
    virtual void leaves_stack(const Fiber* to) { (void)to; }
    virtual void enters_stack() {}
    /// From here on the worker runs this thread: for the first time, or again.
    virtual void runs(const Thread&) {}
    /// True if it wants to know of each thread when it begins and ends.
    virtual bool follows_threads() const { return wants_own_stacks(); }
    /// True if no two threads of a block may use one stack, not even one after the
    /// other.
    virtual bool wants_own_stacks() const { return false; }
    /// The simulator's code begins or ends to work on the running thread's behalf. Told
    /// if RuntimeFlag::watched is set.
    virtual void in_runtime(bool inside) { (void)inside; }

    /// A shared variable has come to life; it is filled with poison next.
    virtual void shared_variable(Worker&, Block&, const SharedVariable&) {}
    /// An allocation has been made, filled with poison, or is about to be freed.
    virtual void allocated(const Allocation&) {}
    virtual void released(const Allocation&) {}

    /// The host has filled device memory by cudaMemset and the like.
    virtual void host_wrote(const void* address, size_t bytes) {
        (void)address, (void)bytes;
    }
    /// cudaMemcpy in any direction.
    virtual void host_copied(const void* to, const void* from, size_t bytes) {
        (void)to, (void)from, (void)bytes;
    }
    /// The running thread has issued a cp.async; `to` is written when it lands.
    virtual void copy_issued(const void* to,
                             const void* from,
                             int bytes,
                             int src_bytes) {
        (void)to, (void)from, (void)bytes, (void)src_bytes;
    }
    virtual void copy_landed(const void* to, int bytes) { (void)to, (void)bytes; }

    /// The running thread releases what it did before, or acquires what others have
    /// released, through an object in shared memory (an mbarrier, a named barrier).
    virtual void synchronises(const void* object, bool acquires, bool releases) {
        (void)object, (void)acquires, (void)releases;
    }
    /// The running thread has made an mbarrier; or it, or a copy that it has begun,
    /// uses one, which somebody must have made before.
    /// @param writes  it is not only waited for
    virtual void barrier_made(const void* barrier) { (void)barrier; }
    virtual void barrier_used(const void* barrier, bool writes) {
        (void)barrier, (void)writes;
    }
    /// The running thread gives an mbarrier to TMA or to the tensor cores, which are to
    /// arrive at it: they see that it was made behind a fence only.
    virtual void barrier_given(const void* barrier) { (void)barrier; }
    /// The running thread has executed fence.mbarrier_init.
    virtual void barriers_fenced() {}
    /// TMA or wgmma accesses memory on behalf of the running thread.
    /// @param product  of its warpgroup, that the access is a part of; 0: of none
    virtual void async_access(const void* address,
                              size_t bytes,
                              bool write,
                              uint32_t product = 0) {
        (void)address, (void)bytes, (void)write, (void)product;
    }
    /// The warpgroup of the running thread begins a product: returns its number, which
    /// is larger than that of those before.
    virtual uint32_t product_begins() { return 0; }
    /// True if a barrier of the block has come since then, which tells all threads that
    /// what came before is over. A product may not be.
    virtual bool product_is_past(uint32_t product) const {
        (void)product;
        return false;
    }
    /// The running thread has waited for that product of its warpgroup, and all before
    /// it: they read no more.
    /// @param read_until  by thread of the warpgroup, the moment until which its own
    ///                    reads are over, too; or null
    virtual void products_done(uint32_t product, const uint32_t* read_until) {
        (void)product, (void)read_until;
    }
    /// The running thread waits for products of its warpgroup, or, `over`, goes on: a
    /// trace shows it. It orders nothing; see products_done().
    virtual void products_awaited(const void* warpgroup, bool over) {
        (void)warpgroup, (void)over;
    }
    /// Changes when the running thread synchronises: what it does from then on may be
    /// ordered otherwise than what it has done.
    virtual uint32_t moment() const { return 0; }
    /// The running thread has executed fence.proxy.async.
    virtual void proxy_fenced() {}
    /// TMA begins or ends to write: in between the contents are not defined.
    virtual void async_pending(const void* to, size_t bytes, bool begins) {
        (void)to, (void)bytes, (void)begins;
    }

    /// Tensor cores have worked for the running block: two operations a product.
    virtual void multiplied(TensorType, uint64_t operations) { (void)operations; }
    /// From here on warp number `warp` of the block has products in flight that it has
    /// started and not waited for, or has none.
    virtual void multiplies(Block&, unsigned warp, bool in_flight) {
        (void)warp, (void)in_flight;
    }

    /// The running thread has computed what C++ leaves open.
    /// @param what  in words
    virtual void undefined_value(const char* file,
                                 uint32_t line,
                                 const char* what,
                                 Caller) {
        (void)file, (void)line, (void)what;
    }

    /// A fault has ended the launch. True if the observer has said so by itself.
    virtual bool faulted(const Launch&, const PendingFault&) { return false; }
    /// Something has happened that hardware lets pass although CUDA forbids it. True if
    /// the observer has said so by itself, and the launch may go on.
    virtual bool tolerated(const Launch&, const PendingFault&) { return false; }
    /// True if the launch's writes outside of variables and allocations are known: they
    /// need not be looked for when it has ended.
    virtual bool knows_damage(const Launch&) const { return false; }
};

/// The checker, or null in a plain program.
extern constinit Observer* observer;

}  // namespace simt::detail
