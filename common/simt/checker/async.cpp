// What mbarriers, TMA and the tensor cores do: see observer.h.

#include "report.h"
#include "safety.h"
#include "state.h"

namespace simt::check {

using detail::Block;
using detail::Worker;

void safety_synchronises(Worker& worker,
                         const void* object,
                         bool acquires,
                         bool releases) {
    const Block* peer = peer_of(worker, object);
    order_atomic(state_of(*worker.block).order,
                 worker.thread->rank,
                 state_of(peer ? *peer : *worker.block).order.objects,
                 object,
                 {acquires, acquires, releases, releases});
}

void safety_barrier_made(Worker& worker, const void* barrier, uint32_t site) {
    BlockState& state = state_of(*worker.block);
    const uint32_t rank = worker.thread->rank;
    // Of all bytes of a word, as a write is.
    state.barriers[barrier] =
        Record(state.order.segment_of(rank), rank, site, false).with_bytes(15);
}

namespace {

/// Who has made the barrier, empty if nobody is known.
Record maker_of(Worker& worker, const void* barrier) {
    const Block* peer = peer_of(worker, barrier);
    const auto& barriers = state_of(peer ? *peer : *worker.block).barriers;
    const auto it = barriers.find(barrier);
    return it == barriers.end() ? Record() : it->second;
}

}  // namespace

bool safety_may_use_barrier(Worker& worker, const void* barrier) {
    const Record made = maker_of(worker, barrier);
    return made.empty() ||
           Here(state_of(*worker.block).order, worker.thread->rank, true)
               .is_after(made);
}

bool safety_may_give_barrier(Worker& worker, const void* barrier) {
    const Record made = maker_of(worker, barrier);
    if (made.empty() || !safety_may_use_barrier(worker, barrier)) return true;
    const Block* peer = peer_of(worker, barrier);
    const BlockOrder::Thread& maker =
        state_of(peer ? *peer : *worker.block).order.threads[made.thread()];
    const uint32_t segment = made.segment();
    return maker.barrier_fence >= segment || maker.proxy_fence >= segment ||
           state_of(*worker.block).order.threads[worker.thread->rank].proxy_fence >=
               segment;
}

void safety_barrier_fence(Worker& worker) {
    order_barrier_fence(state_of(*worker.block).order, worker.thread->rank);
}

void safety_report_barrier(
    Worker& worker, const void* barrier, bool writes, uint32_t site, Special special) {
    const Record made = maker_of(worker, barrier);
    Access use =
        access_by_runtime(barrier, sizeof(uint64_t), writes, Space::shared, site);
    use.home = peer_of(worker, barrier);
    const uint64_t block = launch_order.owner_of(made.segment());
    report_race(scene_of(worker),
                use,
                made,
                true,
                who_is(*worker.launch, block, made.thread()),
                special);
}

uint32_t safety_product_begins(Worker& worker) {
    return order_product(state_of(*worker.block).order);
}

bool safety_product_is_past(const Worker& worker, uint32_t product) {
    return product < state_of(*worker.block).order.epoch;
}

void safety_products_done(Worker& worker,
                          uint32_t product,
                          const uint32_t* read_until) {
    const uint32_t rank = worker.thread->rank;
    order_products_done(state_of(*worker.block).order,
                        rank,
                        rank / kWarpgroupSize,
                        product,
                        read_until);
}

uint32_t safety_moment(const Worker& worker) {
    return state_of(*worker.block).order.segment_of(worker.thread->rank);
}

namespace {

/// Where TMA has written: such writes need no fence before TMA or wgmma read them.
std::vector<bool> g_async_sites;

/// An ordinary write that TMA or the tensor cores read needs fence.proxy.async: by the
/// thread that wrote, after the write, or by the one that has them read.
void check_proxy(const Access& read, Worker& worker) {
    const BlockOrder& order = state_of(*worker.block).order;
    if (!order.shared.mapped() || !order.shared.contains(read.address)) return;
    const Cell* cell = order.shared.cell(read.address);
    for (uint32_t i = 0; i < read.bytes / 4; ++i) {
        const Record write = cell[i].writes[0];
        const uint32_t segment = write.segment();
        if (write.empty() || segment < launch_order.first ||
            launch_order.owner_of(segment) != order.linear ||
            (write.site() < g_async_sites.size() && g_async_sites[write.site()]) ||
            order.threads[write.thread()].proxy_fence >= segment ||
            order.threads[worker.thread->rank].proxy_fence >= segment)
            continue;
        report_race(scene_of(worker),
                    read,
                    write,
                    true,
                    who_is(*worker.launch, order.linear, write.thread()),
                    Special::proxy);
        return;
    }
}

}  // namespace

void safety_proxy_fence(Worker& worker) {
    order_proxy_fence(state_of(*worker.block).order, worker.thread->rank);
}

void safety_async_access(Worker& worker,
                         const void* address,
                         size_t bytes,
                         bool write,
                         uint32_t product,
                         uint32_t site) {
    const Space space = in_device_memory(address) ? Space::global : Space::shared;
    Access access = access_by_runtime(address, bytes, write, space, site);
    if (space == Space::shared) access.home = peer_of(worker, address);
    if (write && site >= g_async_sites.size()) g_async_sites.resize(site + 1);
    if (write) g_async_sites[site] = true;
    if (!write && space == Space::shared) check_proxy(access, worker);
    access.structure = bytes > 16;  // of a size that no instruction has
    access.product = product;
    const BlockOrder& order = state_of(*worker.block).order;
    if (product != 0 && order.ranks() == order.size) return;  // a block too large
    check_safety(access, worker);
}

void safety_async_pending(Worker& worker, const void* to, size_t bytes, bool begins) {
    const Block* peer = peer_of(worker, to);
    Shadow& shadow = state_of(peer ? *peer : *worker.block).order.shared;
    if (shadow.mapped() && shadow.contains(to))
        shadow.set_initialised(static_cast<const char*>(to), bytes, !begins);
}

}  // namespace simt::check
