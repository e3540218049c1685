// Thread block clusters: their barrier, and accesses to the shared memory of a peer.

#include "core/cluster.h"

#include "report.h"
#include "safety.h"
#include "state.h"

namespace simt::check {

using detail::Block;
using detail::Cluster;
using detail::Thread;
using detail::Worker;

namespace {

std::vector<BlockOrder*> orders_of(const Cluster& cluster) {
    std::vector<BlockOrder*> orders;
    for (const Block* block : cluster.blocks)
        orders.push_back(&state_of(*block).order);
    return orders;
}

/// Through what the halves of a phase of the barrier order a block's threads.
const void* object_of(const Cluster& cluster, unsigned rank, uint32_t phase) {
    return reinterpret_cast<const char*>(&cluster.arrivals[rank]) + (phase & 1);
}

/// "shared `tile` (...) of block (1,0,0), which may have ended".
std::string where(const Access& access, Worker& worker, const char* what) {
    return name_of(scene_of(worker), access).name + ", " + what;
}

}  // namespace

Block* peer_of(const Worker& worker, const void* address) {
    const Cluster* cluster = worker.block->cluster.get();
    Block* owner = cluster ? cluster->owner_of(address) : nullptr;
    return owner == worker.block ? nullptr : owner;
}

void safety_cluster_begins(Cluster& cluster) {
    order_cluster_begins(orders_of(cluster));
    for (unsigned rank = 0; rank < cluster.blocks.size(); ++rank)
        for (uint32_t phase = 0; phase < 2; ++phase)
            launch_order.objects.erase(object_of(cluster, rank, phase));
}

void safety_cluster_synchronised(Worker& worker, Cluster& cluster) {
    for (const Block* block : cluster.blocks) {
        flush_doubtful(worker, state_of(*block));
        state_of(*block).peers.clear();
    }
    order_cluster_synchronised(orders_of(cluster));
}

void safety_cluster_arrives(const Thread& thread) {
    const Block& block = *thread.block;
    const Cluster& cluster = *block.cluster;
    order_atomic(state_of(block).order,
                 thread.rank,
                 launch_order.objects,
                 object_of(cluster, block.cluster_rank, cluster.phase),
                 {false, false, true, true});
}

void safety_cluster_passes(const Thread& thread) {
    const Block& block = *thread.block;
    Cluster& cluster = *block.cluster;
    const uint32_t phase = cluster.member(block, thread.rank).phase;
    for (unsigned rank = 0; rank < cluster.blocks.size(); ++rank)
        order_atomic(state_of(block).order,
                     thread.rank,
                     launch_order.objects,
                     object_of(cluster, rank, phase),
                     {true, true, false, false});
}

bool check_peer(const Access& a, Worker& worker) {
    const BlockOrder& here = state_of(*worker.block).order;
    BlockState& there = state_of(*a.home);
    if (a.home->alive == 0) {
        report_bad_access(scene_of(worker),
                          a,
                          Kind::use_after_free,
                          where(a, worker, "which has ended"),
                          Detail::cluster);
        return false;
    }
    // Also a barrier that orders no memory (.relaxed) says who has begun or ended.
    Cluster& cluster = *worker.block->cluster;
    const Cluster::Member& me = cluster.member(*worker.block, worker.thread->rank);
    if (!me.passed && !order_knows(here, Record(there.order.begin, 0, 0, false))) {
        report_bad_access(scene_of(worker),
                          a,
                          Kind::race,
                          where(a, worker, "which may not have begun"),
                          Detail::cluster);
        return false;
    }
    const Record record(
        here.segment_of(worker.thread->rank), worker.thread->rank, a.site, a.atomic);
    const uint32_t phase = cluster.phase + (me.at != Cluster::At::none);
    for (PeerAccess& peer : there.peers) {
        if (peer.access.site != a.site || peer.block != worker.block->linear) continue;
        peer.record = record;
        peer.phase = phase;
        return true;
    }
    there.peers.push_back({record, worker.block->linear, phase, a});
    return true;
}

void check_peers_done(Block& block, const Worker& worker) {
    BlockState& state = state_of(block);
    for (const PeerAccess& peer : state.peers) {
        if (peer.phase < block.cluster->phase || order_knows(state.order, peer.record))
            continue;
        Scene scene = scene_of(worker);
        scene.who = who_is(*worker.launch, peer.block, peer.record.thread());
        report_bad_access(
            scene,
            peer.access,
            Kind::use_after_free,
            where(peer.access,
                  const_cast<Worker&>(worker),
                  "which may have ended: nothing makes it wait for this access"),
            Detail::cluster);
    }
    state.peers.clear();
}

}  // namespace simt::check
