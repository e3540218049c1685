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
        t.known.assign(b.size, 0);
        t.known_epoch = b.epoch;
    }
    return t.known;
}

/// A loop of its own over plain arrays: compilers vectorise it.
void raise(std::vector<uint32_t>& to, const std::vector<uint32_t>& from) {
    const size_t count = std::min(to.size(), from.size());
    uint32_t* const __restrict target = to.data();
    const uint32_t* const __restrict source = from.data();
    for (size_t i = 0; i < count; ++i)
        target[i] = std::max(target[i], source[i]);
}

void acquire(BlockOrder& b, uint32_t thread, const SyncObject& object) {
    if (object.owner == b.linear && !object.threads.empty()) {
        raise(known_of(b, thread), object.threads);
    } else if (const auto it = object.peers.find(b.linear); it != object.peers.end()) {
        raise(known_of(b, thread), it->second);
    }
    b.acquired_all = std::max(b.acquired_all, object.all);
    b.acquired.join_all(
        object.blocks, release_key(b.linear, 0), release_key(b.linear + 1, 0));
}

/// What the object says about the threads of the block, by rank.
std::vector<uint32_t>& threads_of(SyncObject& object, const BlockOrder& b) {
    const bool owned = object.owner != ~uint64_t{0};
    if (b.clustered && owned && object.owner != b.linear) {
        std::vector<uint32_t>& threads = object.peers[b.linear];
        threads.resize(b.size);
        return threads;
    }
    if (object.owner != b.linear || object.threads.size() != b.size) {
        object.owner = b.linear;
        object.threads.assign(b.size, 0);
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
    for (uint32_t first = 0; first < b.size; first += kLanes) {
        const auto lanes = t.known.begin() + first;
        const uint32_t last = *std::max_element(
            lanes, lanes + std::min<uint32_t>(kLanes, b.size - first));
        if (last >= b.epoch)
            join(object.blocks[release_key(b.linear, first / kLanes)], {0, last});
    }
}

}  // namespace

void share_known(BlockOrder& b, unsigned warp, uint32_t lanes) {
    const std::vector<uint32_t>* first = nullptr;
    std::vector<uint32_t> joined;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const BlockOrder::Thread& t = b.threads[warp * kLanes + lane];
        if (t.known_epoch != b.epoch) continue;
        if (!first)
            joined = *(first = &t.known);
        else
            raise(joined, t.known);
    }
    if (!first) return;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        if (lanes >> lane & 1) raise(known_of(b, warp * kLanes + lane), joined);
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
                  bool acquires,
                  bool writes,
                  bool releases) {
    running.forget();
    if (acquires && !objects.empty()) {
        const auto it = objects.find(address);
        if (it != objects.end()) acquire(b, thread, it->second);
    }
    if (!writes) return;
    BlockOrder::Thread& t = b.threads[thread];
    const unsigned warp = thread / kLanes;
    Release release{std::max(b.covered, t.fence_epoch), b.warps[warp].fence};
    uint32_t own = t.fence;
    if (releases) {
        launch_order.synchronises = true;
        own = b.segment_of(thread);
        release = {b.epoch, own};
    }
    const bool of_block = release.everyone == 0 && release.warp == 0;
    if (of_block && own < b.epoch) return;
    SyncObject& object = objects[address];
    if (own >= b.epoch) release_threads(b, thread, own, object);
    if (of_block) return;
    join(object.blocks[release_key(b.linear, warp)], release);
    if (releases && t.known_epoch == b.epoch) release_known_warps(b, t, object);
    join(object, b.acquired);
    object.all = std::max(object.all, b.acquired_all);
    // What the thread does from now on has not been released.
    if (releases) t.segment = launch_order.new_segment(b);
}

}  // namespace simt::check
