// Order through fences and atomic operations: release and acquire.

#include <algorithm>

#include "order.h"

namespace simt::check {
namespace {

// More blocks than this are not told apart in one object: the cost of a launch would
// grow with their square.
constexpr size_t kMostReleases = 2048;

void join(SyncObject& object, const Releases& releases) {
    object.blocks.join_all(releases, 0, 0);
    if (object.blocks.size() > kMostReleases) {
        object.blocks.clear();
        object.all = launch_order.next;
    }
}

/// What the thread has acquired in this epoch, by rank.
std::vector<uint32_t>& known_of(BlockOrder& b, uint32_t thread) {
    BlockOrder::Thread& t = b.threads[thread];
    if (t.known_epoch != b.epoch) {
        t.known.assign(b.ranks(), 0);
        t.known_epoch = b.epoch;
    }
    return t.known;
}

/// What the thread has heard of in this epoch, by rank, and not acquired.
std::vector<uint32_t>& heard_of(BlockOrder& b, uint32_t thread) {
    BlockOrder::Thread& t = b.threads[thread];
    if (t.heard_epoch != b.epoch) {
        t.heard.assign(b.ranks(), 0);
        t.heard_epoch = b.epoch;
    }
    return t.heard;
}

/// A loop of its own over plain arrays: compilers vectorise it.
void raise(uint32_t* __restrict to, const uint32_t* __restrict from, size_t count) {
    for (size_t i = 0; i < count; ++i)
        to[i] = std::max(to[i], from[i]);
}
void raise(std::vector<uint32_t>& to, const std::vector<uint32_t>& from) {
    if (to.size() < from.size()) to.resize(from.size());
    raise(to.data(), from.data(), from.size());
}

/// What the object says to the block about its own threads; null: nothing.
const std::vector<uint32_t>* threads_in(const SyncObject& object, const BlockOrder& b) {
    if (object.owner == b.linear && !object.threads.empty()) return &object.threads;
    const auto it = object.peers.find(b.linear);
    return it == object.peers.end() ? nullptr : &it->second;
}

void acquire(BlockOrder& b, uint32_t thread, const SyncObject& object, bool of_block) {
    if (const auto* threads = threads_in(object, b))
        raise(known_of(b, thread), *threads);
    if (of_block) return;
    b.acquired_all = std::max(b.acquired_all, object.all);
    b.acquired.join_all(
        object.blocks, release_key(b.linear, 0), release_key(b.linear + 1, 0));
}

/// A relaxed operation has read the object. What that tells of other blocks any thread
/// of this one may acquire by a fence: often one counts, and others fence.
void hear(BlockOrder& b, uint32_t thread, const SyncObject& object, bool of_block) {
    if (const auto* threads = threads_in(object, b))
        raise(heard_of(b, thread), *threads);
    if (of_block) return;
    b.heard_all = std::max(b.heard_all, object.all);
    b.heard.join_all(
        object.blocks, release_key(b.linear, 0), release_key(b.linear + 1, 0));
}

/// A fence acquires what has been heard before it.
void acquire_heard(BlockOrder& b, uint32_t thread, bool of_block) {
    const BlockOrder::Thread& t = b.threads[thread];
    if (t.heard_epoch == b.epoch) raise(known_of(b, thread), t.heard);
    if (of_block) return;
    b.acquired_all = std::max(b.acquired_all, b.heard_all);
    if (b.heard.empty()) return;
    b.acquired.join_all(b.heard, 0, 0);
    b.heard.clear();
}

/// What the object says about the threads of the block, by rank.
std::vector<uint32_t>& threads_of(SyncObject& object, const BlockOrder& b) {
    const bool owned = object.owner != ~uint64_t{0};
    if (b.clustered && owned && object.owner != b.linear) {
        std::vector<uint32_t>& threads = object.peers[b.linear];
        if (threads.size() < b.ranks()) threads.resize(b.ranks());
        return threads;
    }
    if (object.owner != b.linear || object.threads.size() < b.ranks()) {
        object.owner = b.linear;
        object.threads.assign(b.ranks(), 0);
    }
    return object.threads;
}

/// Adds what the thread knows of its block's other threads, and itself up to `own`.
void release_threads(BlockOrder& b, uint32_t thread, uint32_t own, SyncObject& object) {
    std::vector<uint32_t>& threads = threads_of(object, b);
    const BlockOrder::Thread& t = b.threads[thread];
    if (t.known_epoch == b.epoch) raise(threads, t.known);
    const unsigned warp = thread / kLanes;
    const BlockOrder::Warp& w = b.warps[warp];
    for (uint32_t lane = 0; lane < kLanes && warp * kLanes + lane < b.size; ++lane) {
        uint32_t& released = threads[warp * kLanes + lane];
        if (w.complete > b.epoch) released = std::max(released, w.complete - 1);
        if (w.seen_epoch == b.epoch)
            released = std::max(released, w.seen[thread % kLanes * kLanes + lane]);
    }
    threads[thread] = std::max(threads[thread], own);
}

/// Adds, for other blocks, what the thread knows of the warps of its own block: that a
/// warpgroup has multiplied, say, for which one thread arrives at another block's
/// mbarrier; or that warps which have arrived at an mbarrier have added to global
/// memory. As for its own warp, up to one segment for all lanes.
void release_known_warps(const BlockOrder& b,
                         const BlockOrder::Thread& t,
                         SyncObject& object) {
    const uint32_t ranks = b.ranks();
    const auto last_of = [&](uint32_t begin, uint32_t end) {
        const auto known = t.known.begin();
        return begin < end ? *std::max_element(known + begin, known + end) : 0;
    };
    for (uint32_t first = 0; first < ranks; first += kLanes) {
        const uint32_t end = std::min(first + kLanes, ranks);
        uint32_t last = last_of(first, end);
        // What is known of reads alone is told of all: nobody keeps them apart there.
        if (t.known.size() > ranks)
            last =
                std::max(last, last_of(ranks + first, ranks + std::min(end, b.size)));
        if (last >= b.epoch)
            join(object.blocks[release_key(b.linear, first / kLanes)], {0, last});
    }
}

/// Adds, for other blocks, what fences of single warps cover that lie before a barrier.
void release_fenced_warps(const BlockOrder& b, SyncObject& object) {
    for (uint32_t warp = 0; warp * kLanes < b.size; ++warp) {
        const uint32_t fence = b.warps[warp].fence;
        if (fence >= b.covered && fence < b.epoch)
            join(object.blocks[release_key(b.linear, warp)], {0, fence});
    }
}

/// The lanes tell one another something that each has by rank, valid in an epoch.
template <class Of>
void share(BlockOrder& b,
           unsigned warp,
           uint32_t lanes,
           uint32_t BlockOrder::Thread::*epoch,
           std::vector<uint32_t> BlockOrder::Thread::*by_rank,
           Of of) {
    const std::vector<uint32_t>* first = nullptr;
    std::vector<uint32_t> joined;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const BlockOrder::Thread& t = b.threads[warp * kLanes + lane];
        if (t.*epoch != b.epoch) continue;
        if (!first)
            joined = *(first = &(t.*by_rank));
        else
            raise(joined, t.*by_rank);
    }
    if (!first) return;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        if (lanes >> lane & 1) raise(of(b, warp * kLanes + lane), joined);
}

}  // namespace

void share_known(BlockOrder& b, unsigned warp, uint32_t lanes) {
    using Thread = BlockOrder::Thread;
    share(b, warp, lanes, &Thread::known_epoch, &Thread::known, known_of);
    share(b, warp, lanes, &Thread::heard_epoch, &Thread::heard, heard_of);
}

void order_barrier_fence(BlockOrder& b, uint32_t thread) {
    BlockOrder::Thread& t = b.threads[thread];
    t.barrier_fence = b.segment_of(thread);
    t.segment = launch_order.new_segment(b);
}

void order_proxy_fence(BlockOrder& b, uint32_t thread) {
    BlockOrder::Thread& t = b.threads[thread];
    t.proxy_fence = b.segment_of(thread);
    t.segment = launch_order.new_segment(b);
}

void order_fence(BlockOrder& b, uint32_t thread, bool of_block) {
    BlockOrder::Thread& t = b.threads[thread];
    t.fence = b.segment_of(thread);
    t.segment = launch_order.new_segment(b);
    launch_order.synchronises = true;
    acquire_heard(b, thread, of_block);
    if (of_block) return;
    t.fence_epoch = b.epoch;
    BlockOrder::Warp& warp = b.warps[thread / kLanes];
    warp.fence = std::max(warp.fence, t.fence);
    b.fenced = true;
}

void order_atomic(BlockOrder& b,
                  uint32_t thread,
                  SyncObjects& objects,
                  const void* address,
                  Operation operation) {
    running.forget();
    if (operation.reads && !objects.empty()) {
        const auto it = objects.find(address);
        if (it != objects.end()) {
            if (operation.acquires)
                acquire(b, thread, it->second, operation.of_block);
            else
                hear(b, thread, it->second, operation.of_block);
        }
    }
    if (!operation.writes) return;
    const bool releases = operation.releases;
    BlockOrder::Thread& t = b.threads[thread];
    const unsigned warp = thread / kLanes;
    Release release{std::max(b.covered, t.fence_epoch), b.warps[warp].fence};
    uint32_t own = t.fence;
    if (releases) {
        launch_order.synchronises = true;
        own = b.segment_of(thread);
        release = {b.epoch, own};
    }
    const bool of_block =
        operation.of_block || (release.everyone == 0 && release.warp == 0);
    if (of_block && own < b.epoch) return;
    SyncObject& object = objects[address];
    if (own >= b.epoch) release_threads(b, thread, own, object);
    if (!of_block) {
        join(object.blocks[release_key(b.linear, warp)], release);
        if (b.partly && !releases) release_fenced_warps(b, object);
        if (releases && t.known_epoch == b.epoch) release_known_warps(b, t, object);
        join(object, b.acquired);
        object.all = std::max(object.all, b.acquired_all);
    }
    // What the thread does from now on has not been released.
    if (releases) t.segment = launch_order.new_segment(b);
}

uint32_t order_product(BlockOrder& b) {
    return launch_order.new_segment(b);
}

void order_products_done(BlockOrder& b,
                         uint32_t thread,
                         uint32_t warpgroup,
                         uint32_t product,
                         const uint32_t* read_until) {
    const uint32_t cores = b.rank_of_cores(warpgroup), ranks = b.ranks();
    if (product < b.epoch || cores >= ranks) return;
    running.forget();
    std::vector<uint32_t>& known = known_of(b, thread);
    known[cores] = std::max(known[cores], product);
    if (!read_until) return;
    if (known.size() < ranks + b.size) known.resize(ranks + b.size);
    raise(
        known.data() + ranks + warpgroup * kWarpgroupSize, read_until, kWarpgroupSize);
}

}  // namespace simt::check
