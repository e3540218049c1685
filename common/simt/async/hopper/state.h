/// async/hopper/state.h: what a block remembers for Hopper's asynchronous instructions.
#pragma once

#include <cstdarg>
#include <deque>
#include <memory>
#include <vector>

#include "core/fault.h"
#include "core/scheduler.h"
#include "simt/hopper/tensor_map.h"
#include "warpgroup.h"

namespace simt::detail {

/// A copy that TMA has been asked for. A load has been read, and lands when somebody
/// waits for the barrier; a store is read when its thread waits.
struct TensorCopy {
    static constexpr size_t kPiece = 16;  // bytes that stay together in both memories
    struct Piece {
        char* shared;
        char* global;
        size_t valid;  // bytes that lie inside of the tensor
    };
    std::vector<Piece> pieces;
    std::vector<char> data;  // of a load
    char* begin = nullptr;   // in shared memory
    uint64_t* barrier = nullptr;
    unsigned thread = 0;
    uint64_t group = 0;  // of a store
    const char* file = nullptr;
    int line = 0;

    size_t bytes() const { return pieces.size() * kPiece; }
};

/// A word of st.async, on its way to another block.
struct AsyncStore {
    char* to;
    unsigned char data[16];
    unsigned bytes;
    uint64_t* barrier;
    const char* file;
    int line;
};

struct NamedBarrier {
    unsigned expected = 0;
    unsigned arrived = 0;
    unsigned phase = 0;
    ThreadList waiting;
};

/// A part of the state that works by itself, and arrives at mbarriers.
class AsyncUnit {
 public:
    virtual ~AsyncUnit() = default;
    /// What has been committed to the barrier is done, and it counts the arrivals,
    /// until its phase is complete.
    virtual void land_commits(Worker&, uint64_t* barrier) = 0;
    /// All threads of the block have returned.
    virtual void block_ends(Worker&) = 0;
};

struct HopperState : BlockExtension {
    struct Waiter {
        Thread* thread;
        const uint64_t* barrier;
    };
    std::vector<Waiter> at_mbarrier;
    std::vector<TensorCopy> loads;
    std::vector<AsyncStore> words;  // st.async of other blocks
    std::vector<TensorCopy> stores;
    std::vector<uint64_t> store_group;  // of each thread, the one that is open
    NamedBarrier barriers[16];
    std::vector<NamedBarrier> tile_barriers;  // of tiles larger than a warp
    std::vector<const void*> tile_values;     // of each thread, what it shows its tile
    std::vector<Warpgroup> warpgroups;
    std::vector<int> registers;  // of each thread
    int free_registers = 0;
    ThreadList at_registers;
    std::unique_ptr<AsyncUnit> tensor_memory;  // of a block that uses tcgen05

    void thread_ends(Worker& w) override;
    void block_ends(Worker& w) override;
    Waits waits() const override;
};

/// The state of the running block, made at its first use.
HopperState& hopper_state(Worker& w);
/// That of another block of its cluster.
HopperState& hopper_state(Block& block);
/// The block of the running one's cluster in whose shared memory the address lies; the
/// running one if it is nobody's.
Block& home_of(Worker& w, const void* address);

/// The simulator works on behalf of the running thread while this lives.
class InRuntime {
 public:
    explicit InRuntime(Worker& w) : worker_(w) { w.in_runtime = true; }
    ~InRuntime() { worker_.in_runtime = false; }
    InRuntime(const InRuntime&) = delete;
    InRuntime& operator=(const InRuntime&) = delete;

 private:
    Worker& worker_;
};

/// Ends the launch with cudaErrorLaunchFailure (719) or the code given.
[[noreturn]] void hopper_fault(Worker& w,
                               const char* file,
                               int line,
                               const char* text,
                               ...) __attribute__((format(printf, 4, 5)));

/// Puts the running thread where it waits, and runs others until it is resumed.
void hopper_suspend(Worker& w, const char* op, const char* file, int line);

/// Notes that the running thread executes setmaxnreg, as its warpgroup must together.
void setmaxnreg_together(Worker& w, int registers, const char* file, int line);

/// The loads that have been issued for a barrier land, until its phase is complete.
void land_loads(Worker& w, uint64_t* barrier);

/// A load for the barrier (or a commit) has been issued, has landed, or has arrived.
void mbarrier_copy_issued(Worker& w, uint64_t* barrier, const char* file, int line);
void mbarrier_bytes_arrived(
    Worker& w, uint64_t* barrier, size_t bytes, const char* file, int line);
void mbarrier_commit_arrives(Worker& w, uint64_t* barrier, const char* file, int line);

}  // namespace simt::detail
