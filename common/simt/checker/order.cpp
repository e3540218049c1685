#include "order.h"

#include <algorithm>

#include "immortal.h"

namespace simt::check {
namespace {

// A launch that begins with a number below this one can count its own.
constexpr uint32_t kMostSegments = 3u << 30;

/// @param cores  the rank of the tensor cores for which the thread acts
bool knows_thread(const BlockOrder& b, uint32_t me, uint32_t cores, Record old) {
    const uint32_t other = old.thread(), segment = old.segment();
    if (segment < b.epoch || other == me || other == cores) return true;
    if (other / kLanes == me / kLanes) {
        const BlockOrder::Warp& warp = b.warps[me / kLanes];
        if (segment < warp.complete) return true;
        if (warp.seen_epoch == b.epoch &&
            warp.seen[me % kLanes * kLanes + other % kLanes] >= segment)
            return true;
    }
    const BlockOrder::Thread& t = b.threads[me];
    return t.known_epoch == b.epoch && t.known[other] >= segment;
}

bool say(const Releases& releases, Record old) {
    if (releases.empty()) return false;
    const uint32_t segment = old.segment();
    const uint64_t owner = launch_order.owner_of(segment);
    const uint64_t first = release_key(owner, 0);
    for (auto it = releases.from(first);
         it != releases.end() && it->first < first + kLanes;
         ++it) {
        if (segment < it->second.everyone) return true;
        if (old.thread() / kLanes == it->first - first && segment <= it->second.warp)
            return true;
    }
    return false;
}

bool knows_block(const BlockOrder& b, Record old) {
    return old.segment() < b.acquired_all || say(b.acquired, old);
}

/// The knowledge of a warp's lanes about one another, empty at the start of an epoch.
uint32_t* seen_of(BlockOrder& b, unsigned warp) {
    BlockOrder::Warp& w = b.warps[warp];
    if (!w.seen) w.seen = std::make_unique<uint32_t[]>(kLanes * kLanes);
    if (w.seen_epoch != b.epoch) {
        std::fill_n(w.seen.get(), kLanes * kLanes, 0);
        w.seen_epoch = b.epoch;
    }
    return w.seen.get();
}

/// The lanes in the mask tell one another all that they know of each other.
void share_seen(BlockOrder& b, unsigned warp, uint32_t mask) {
    uint32_t* seen = seen_of(b, warp);
    uint32_t joined[kLanes] = {};
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        if (!(mask >> lane & 1)) continue;
        for (uint32_t other = 0; other < kLanes; ++other)
            joined[other] = std::max(joined[other], seen[lane * kLanes + other]);
        joined[lane] = std::max(joined[lane], b.segment_of(warp * kLanes + lane));
    }
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        if (mask >> lane & 1) std::copy_n(joined, kLanes, seen + lane * kLanes);
}

}  // namespace

namespace {
constinit Immortal<LaunchOrder> g_order;
[[gnu::constructor(101)]] void make_order() {
    g_order.construct();
}
}  // namespace

LaunchOrder& launch_order = g_order.value;

bool Here::is_after_slow(Record old) const {
    if (old.segment() < launch_order.first)
        return !launch_order.beside_of(old) &&
               (block->awaited || !launch_order.is_before(old));
    if (!shared && old.segment() < launch_order.floor) return true;
    if ((shared && !block->clustered) ||
        launch_order.owner_of(old.segment()) == block->linear)
        return knows_thread(*block, thread, cores, old);
    return knows_block(*block, old);
}

bool Here::is_after_read(Record old) const {
    if (is_after(old)) return true;
    if (old.segment() < launch_order.first ||
        launch_order.owner_of(old.segment()) != block->linear)
        return false;
    const BlockOrder::Thread& t = block->threads[thread];
    const size_t at = block->ranks() + old.thread();
    return t.known_epoch == block->epoch && at < t.known.size() &&
           t.known[at] >= old.segment();
}

bool Here::needs_fence_after(Record old) const {
    if (old.segment() < launch_order.first) return false;
    const BlockOrder& b = *block;
    if (launch_order.owner_of(old.segment()) != b.linear)
        return old.segment() < b.heard_all || say(b.heard, old);
    const BlockOrder::Thread& t = b.threads[thread];
    return t.heard_epoch == b.epoch && t.heard[old.thread()] >= old.segment();
}

constinit Running running = {nullptr, {}, {}, {}};

void order_runs(BlockOrder& b, const detail::Thread* thread, uint32_t rank) {
    const BlockOrder::Warp& warp = b.warps[rank / kLanes];
    const bool only_barriers = warp.complete <= b.epoch && warp.seen_epoch != b.epoch &&
                               b.threads[rank].known_epoch != b.epoch;
    running.thread = thread;
    running.record = Record(b.segment_of(rank), rank, 0, false);
    running.in_shared = {b.epoch, b.epoch, 0, only_barriers};
    const LaunchOrder& l = launch_order;
    const bool alone = l.owner.back() == b.linear && l.alone <= b.epoch;
    const uint32_t own = alone ? std::max(l.alone, l.floor) : ~0u;
    running.elsewhere = {l.floor_of(b),
                         own,
                         alone ? b.epoch - own : 0,
                         only_barriers && l.alone == b.first && b.acquired_all == 0 &&
                             b.acquired.empty() && l.beside.empty()};
}

bool order_launch_begins(bool early) {
    LaunchOrder& l = launch_order;
    const uint32_t before = l.first;
    const bool begins_again = l.next > kMostSegments;
    if (begins_again) {
        l.next = 1;
        ++l.era;
    }
    l.first = l.floor = l.before = l.next;
    if (early && !begins_again) {
        l.before = before;
        l.owner_before.swap(l.owner);
    }
    l.owner.clear();
    l.objects.clear();
    l.synchronises = false;
    running.forget();
    return begins_again;
}

void order_block_begins(BlockOrder& b, uint64_t linear, uint32_t size) {
    b.linear = linear;
    b.size = size;
    b.warps.resize(kLanes);
    if (b.era != launch_order.era) {
        b.era = launch_order.era;
        b.shared.forget_accesses();
        for (BlockOrder::Warp& w : b.warps)
            w.complete = w.seen_epoch = 0;
        for (BlockOrder::Thread& t : b.threads)
            t.segment = t.known_epoch = t.heard_epoch = 0;
    }
    if (b.threads.size() < size) b.threads.resize(size);
    b.first = launch_order.next;
    b.covered = 0;
    b.acquired_all = b.heard_all = 0;
    b.acquired.clear();
    b.heard.clear();
    b.asked = nullptr;
    b.objects.clear();
    b.fenced = b.partly = false;
    b.awaited = launch_order.before == launch_order.first;
    b.clustered = false;
    for (BlockOrder::Warp& w : b.warps)
        w.fence = 0;
    for (BlockOrder::Thread& t : b.threads)
        t.fence = t.fence_epoch = t.proxy_fence = t.barrier_fence = t.narrow = 0;
    order_new_epoch(b);
    b.begin = b.epoch;
}

void order_dependency_awaited(BlockOrder& b) {
    b.awaited = true;
    running.forget();
}

namespace {

/// What fences before a barrier cover, whoever executes an atomic operation behind it:
/// all that came before the epoch, and in the epoch what the fence's warp has done.
void cover(BlockOrder& b, uint32_t old_epoch) {
    const auto end = b.warps.begin() + (b.size + kLanes - 1) / kLanes;
    b.partly = std::any_of(b.warps.begin(), end, [&](const BlockOrder::Warp& warp) {
        return warp.fence < old_epoch;
    });
    b.covered = b.partly ? old_epoch : b.epoch;
}

}  // namespace

void order_new_epoch(BlockOrder& b) {
    const uint32_t old_epoch = b.epoch;
    b.epoch = launch_order.new_segment(b);
    if (!b.clustered) b.shared_floor = b.epoch;
    if (b.fenced) cover(b, old_epoch);
    b.fenced = false;
}

void order_block_synchronised(BlockOrder& b) {
    order_new_epoch(b);
}

void order_cluster_begins(const std::vector<BlockOrder*>& blocks) {
    for (BlockOrder* b : blocks) {
        b->clustered = true;
        b->shared_floor = blocks.front()->epoch;
    }
}

void order_cluster_synchronised(const std::vector<BlockOrder*>& blocks) {
    Releases joined;
    uint32_t all = 0;
    for (BlockOrder* b : blocks) {
        order_new_epoch(*b);
        all = std::max(all, b->acquired_all);
        joined.join_all(b->acquired, 0, 0);
    }
    for (const BlockOrder* b : blocks)
        join(joined[release_key(b->linear, 0)], {b->epoch, 0});
    for (BlockOrder* b : blocks) {
        b->shared_floor = blocks.front()->epoch;
        b->acquired = joined;
        b->acquired_all = all;
    }
}

bool order_knows(const BlockOrder& b, Record old) {
    return old.segment() < launch_order.floor || knows_block(b, old);
}

void order_grid_synchronised() {
    running.forget();
    launch_order.floor = launch_order.next;
    launch_order.objects.clear();
}

void order_warp_synchronised(BlockOrder& b, unsigned warp, uint32_t lanes) {
    const uint32_t left = b.size - warp * kLanes;
    const uint32_t all = left >= kLanes ? ~0u : (1u << left) - 1;
    if (lanes != all) share_seen(b, warp, lanes);
    share_known(b, warp, lanes);
    const uint32_t segment = launch_order.new_segment(b);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        if (lanes >> lane & 1) b.threads[warp * kLanes + lane].segment = segment;
    if (lanes == all) b.warps[warp].complete = segment;
}

}  // namespace simt::check
