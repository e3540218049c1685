/// checker/order.h: which accesses of a launch come before which, by CUDA's rules.
///
/// * Launches follow one another; so do the parts of a launch around grid.sync(). Not
///   those of two streams, where work is queued and nothing orders the two. A
///   launch that may begin early follows the one before it, block by block, from
///   cudaGridDependencySynchronize() on.
/// * __syncthreads() orders all threads of a block, __syncwarp() the lanes it names.
///   Shuffles and votes order nothing.
/// * A thread that has executed a fence and then an atomic operation on some object
///   releases what came before the fence; who then reads that object, and executes a
///   fence, acquires it. So do, without a fence, the release and acquire operations of
///   cuda::atomic and cuda::barrier. Where the scope of one of the two operations is
///   the block, both threads must be of that block.
/// * What a warpgroup's tensor cores read is over for the threads that have waited for
///   the product, and for those whom they tell; so are the reads of its threads before
///   they issued it, if it has an operand in registers. The wait orders nothing else.
/// * A cluster's barrier orders its threads; so do mbarriers and atomic variables of
///   its blocks' shared memory.
/// * Nothing else orders two blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "record.h"
#include "releases.h"
#include "shadow.h"

namespace simt::detail {
struct Thread;
}

namespace simt::check {

/// An object through which threads synchronise: an atomic variable.
struct SyncObject {
    Releases blocks;
    uint64_t owner = ~uint64_t{0};  // the block to whose threads `threads` belongs
    std::vector<uint32_t> threads;  // their released segments, by rank
    uint32_t all = 0;  // too many blocks have released: everything before this segment
    // Of the owner's cluster: what `threads` are to the owner, by block.
    std::unordered_map<uint64_t, std::vector<uint32_t>> peers;
};

using SyncObjects = std::unordered_map<const void*, SyncObject>;

/// The order of a resident block's threads.
///
/// Beside those of its threads it has ranks of the tensor cores: each warpgroup's are
/// like a thread that reads the operands of products, one after the other.
struct BlockOrder {
    struct Warp {
        uint32_t complete = 0;  // segments of the warp before this one are over for all
        uint32_t seen_epoch = 0;
        std::unique_ptr<uint32_t[]> seen;  // [kLanes][kLanes], valid in that epoch
        uint32_t fence = 0;  // the last segment closed by a fence for other blocks
    };
    struct Thread {
        uint32_t segment = 0;
        uint32_t fence_epoch = 0;  // of its last fence that holds for other blocks, too
        uint32_t fence = 0;        // the segment that its last fence closed
        uint32_t proxy_fence = 0;  // the last one that a fence.proxy.async has closed
        uint32_t barrier_fence = 0;  // the same of fence.mbarrier_init
        bool narrow = false;  // its atomic operations have the scope of the block
        uint32_t known_epoch = 0;
        // Segments acquired, by rank, in that epoch; behind them those of which only
        // the reads are known to be over.
        std::vector<uint32_t> known;
        // The same for what relaxed operations have read, and a fence would acquire.
        uint32_t heard_epoch = 0;
        std::vector<uint32_t> heard;
    };

    uint64_t linear = 0;
    uint32_t size = 0;
    uint32_t first = 0;  // segment
    uint32_t epoch = 0;  // the first segment since the last barrier
    bool clustered = false;
    uint32_t begin = 0;         // the block's first segment
    uint32_t shared_floor = 0;  // in shared memory, all before this segment is ordered
    bool fenced = false;        // by any thread in this epoch
    uint32_t covered = 0;       // segments before this one lie before a fence
    bool partly = false;        // some warps' fences cover more, see Warp::fence
    bool awaited = true;        // the launch before has ended, as it knows
    uint32_t acquired_all = 0;
    uint32_t era = 0;
    std::vector<Warp> warps;
    std::vector<Thread> threads;
    const char* asked = nullptr;  // on what its last atomic operation was, in global
    uint32_t asked_site = 0;      // memory, and where; null: none
    bool asked_relaxed = false;
    bool asked_narrow = false;  // its scope was the block
    Releases acquired;          // from other blocks
    // What relaxed operations of its threads have read: the next fence acquires it.
    Releases heard;
    uint32_t heard_all = 0;
    SyncObjects objects;  // in shared memory
    Shadow shared;

    uint32_t segment_of(uint32_t thread) const {
        const uint32_t s = threads[thread].segment;
        return s > epoch ? s : epoch;
    }
    /// The rank of a warpgroup's tensor cores: in a warp of their own.
    uint32_t rank_of_cores(uint32_t warpgroup) const {
        return (size + kLanes - 1) / kLanes * kLanes + warpgroup;
    }
    /// Threads and tensor cores. A record has no room for more ranks than kRanks: in
    /// larger blocks the reads of products are not followed.
    uint32_t ranks() const {
        const uint32_t all = rank_of_cores(size / kWarpgroupSize);
        return all <= kRanks ? all : size;
    }
};

/// Earlier accesses that come before the running thread's next one: those of segments
/// before `floor`, those of [own, own + own_count), and its own from `own` on.
struct Ordered {
    uint32_t floor = 0;
    uint32_t own = 0;
    uint32_t own_count = 0;
    bool all = false;  // nothing else comes before it

    bool contains(Record old, Record now) const {
        const uint32_t segment = old.segment();
        return segment < floor || segment - own < own_count ||
               (segment >= own && old.thread() == now.thread());
    }
};

/// The running thread's time, so that most accesses need not look it up.
struct Running {
    const detail::Thread* thread;
    Record record;  // of an access: who and when
    Ordered in_shared;
    Ordered elsewhere;

    /// Called when an order changes: nothing is known any more.
    void forget() {
        // Not null: that is host code's.
        thread = reinterpret_cast<const detail::Thread*>(this);
    }
};
extern Running running;

/// A launch that has run, although nothing orders it with the one in progress.
struct Beside {
    uint32_t first;  // its segments
    uint32_t end;
    size_t number;  // see past_launch()
};

/// The launch in progress.
struct LaunchOrder {
    uint32_t next = 1;   // the next segment's number
    uint32_t era = 0;    // how often the numbers have begun again
    uint32_t first = 1;  // of the launch
    uint32_t floor = 1;  // all before this segment is ordered: launch or grid.sync()
    // If it may begin early: the first segment of the launch before; else `first`.
    uint32_t before = 1;
    std::vector<uint64_t> owner;         // block of each of the launch's segments
    std::vector<uint64_t> owner_before;  // the same from `before` on
    uint32_t alone = 1;                  // from this segment on they are of one block
    SyncObjects objects;                 // in global memory
    bool synchronises = false;           // it has executed a fence, or a release
    std::vector<Beside> beside;
    uint32_t beside_floor = ~0u;  // the first of their segments

    uint32_t new_segment(const BlockOrder& block) {
        if (owner.empty() || owner.back() != block.linear) alone = next;
        owner.push_back(block.linear);
        running.forget();
        return next++;
    }
    uint64_t owner_of(uint32_t segment) const { return owner[segment - first]; }
    /// True for an access of the launch before, if that may still run.
    bool is_before(Record old) const {
        return old.segment() < first && old.segment() >= before;
    }
    uint64_t owner_of_before(uint32_t segment) const {
        return owner_before[segment - before];
    }
    /// The launch of an access that nothing orders with this one; null: it is ordered.
    const Beside* beside_of(Record old) const {
        for (const Beside& b : beside)
            if (old.segment() >= b.first && old.segment() < b.end) return &b;
        return nullptr;
    }
    /// All before this segment comes before what the block does to global memory.
    uint32_t floor_of(const BlockOrder& block) const {
        const uint32_t own = block.awaited ? floor : before;
        return own < beside_floor ? own : beside_floor;
    }
};

extern LaunchOrder& launch_order;

/// A running thread that is about to access memory.
struct Here {
    BlockOrder* block;
    uint32_t thread;
    uint32_t segment;
    uint32_t floor;  // what comes before this segment is ordered
    bool shared;
    uint32_t cores = ~0u;  // the rank of the tensor cores for which the thread acts

    Here(BlockOrder& b, uint32_t rank, bool in_shared)
        : block(&b),
          thread(rank),
          segment(b.segment_of(rank)),
          floor(in_shared ? b.shared_floor : launch_order.floor_of(b)),
          shared(in_shared) {}

    /// True if the earlier access comes before this one by CUDA's rules.
    bool is_after(Record old) const {
        if (old.segment() < floor) return true;
        if (old.segment() == segment && old.thread() == thread) return true;
        return is_after_slow(old);
    }
    /// The same for an earlier read.
    bool is_after_read(Record old) const;
    /// True if it would be, had the thread executed a fence by now.
    bool needs_fence_after(Record old) const;

 private:
    bool is_after_slow(Record old) const;
};

/// Sets `running`, to be called in this block's thread of that rank.
void order_runs(BlockOrder& block, const detail::Thread* thread, uint32_t rank);

/// Returns true if the segments' numbers begin again: what memory remembers is void.
/// @param early  the launch before may not have ended
bool order_launch_begins(bool early);
/// The block has waited for the launch before.
void order_dependency_awaited(BlockOrder& block);
void order_block_begins(BlockOrder& block, uint64_t linear, uint32_t size);
void order_block_synchronised(BlockOrder& block);
void order_warp_synchronised(BlockOrder& block, unsigned warp, uint32_t lanes);
/// The lanes tell one another what they have acquired.
void share_known(BlockOrder& block, unsigned warp, uint32_t lanes);
/// All blocks of the launch have met; each of them is told by order_new_epoch().
void order_grid_synchronised();
void order_new_epoch(BlockOrder& block);

/// The blocks are a cluster: they have begun, but none of their threads has.
void order_cluster_begins(const std::vector<BlockOrder*>& blocks);
/// All threads of the cluster have met.
void order_cluster_synchronised(const std::vector<BlockOrder*>& blocks);
/// True if what another block has done in the segment comes before what the block does
/// now.
bool order_knows(const BlockOrder& block, Record old);

/// The thread has executed fence.mbarrier_init.
void order_barrier_fence(BlockOrder& block, uint32_t thread);

/// The thread has executed fence.proxy.async.
void order_proxy_fence(BlockOrder& block, uint32_t thread);

/// The thread has executed a fence.
/// @param of_block  it says nothing to other blocks
void order_fence(BlockOrder& block, uint32_t thread, bool of_block);

/// What an atomic operation does.
struct Operation {
    bool reads;
    bool acquires;  // what it reads; else the thread's next fence does
    bool writes;
    bool releases;          // else what came before the thread's last fence is released
    bool of_block = false;  // all that holds only between threads of one block
};

/// The thread performs an atomic operation on an object.
///
/// @param objects  those of global memory, or of a block's shared memory
void order_atomic(BlockOrder& block,
                  uint32_t thread,
                  SyncObjects& objects,
                  const void* object,
                  Operation operation);

/// The number of a product that a warpgroup begins: a segment of its tensor cores.
uint32_t order_product(BlockOrder& block);
/// The thread has waited for that product, and all before it.
/// @param read_until  by thread of the warpgroup, the segments whose reads are over; or
///                    null
void order_products_done(BlockOrder& block,
                         uint32_t thread,
                         uint32_t warpgroup,
                         uint32_t product,
                         const uint32_t* read_until);

}  // namespace simt::check
