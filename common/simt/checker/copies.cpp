// Copies by cp.async: they write at some time between the issue and the wait.

#include "report.h"
#include "safety.h"
#include "state.h"

namespace simt::check {

using detail::Block;
using detail::Worker;

namespace {

/// Lines that copy. Two copies to one place may be in flight at once: if one thread has
/// made them, of the same data, it matters to nobody which comes last.
std::vector<bool> g_copy_sites;

/// An ordinary write to where a copy is in flight: on a GPU the copy may come last.
/// Only such a write can have marked the bytes as written since the issue.
void check_overwritten(Worker& worker, const Block& block, const InFlight& copy) {
    const BlockOrder& order = state_of(block).order;
    for (int i = 0; i < copy.bytes; i += 4) {
        if (!order.shared.any_initialised(copy.to + i, 4)) continue;
        const Record write = order.shared.cell(copy.to + i)->writes[0];
        const uint32_t segment = write.segment();
        if (write.empty() || segment < launch_order.first ||
            launch_order.owner_of(segment) != order.linear ||
            (write.site() < g_copy_sites.size() && g_copy_sites[write.site()]))
            continue;
        const auto who = [&](uint32_t thread) {
            return who_is(*worker.launch, order.linear, thread);
        };
        report_race({worker.launch, who(copy.thread), true, &block},
                    access_by_runtime(copy.to,
                                      static_cast<size_t>(copy.bytes),
                                      true,
                                      Space::shared,
                                      copy.site),
                    write,
                    true,
                    who(write.thread()),
                    Special::in_flight);
        return;
    }
}

}  // namespace

void safety_copy_issued(Worker& worker,
                        const void* to,
                        const void* from,
                        int bytes,
                        int src_bytes,
                        uint32_t read_site,
                        uint32_t write_site) {
    if (src_bytes > 0 && in_device_memory(from))
        check_safety(
            access_by_runtime(
                from, static_cast<size_t>(src_bytes), false, Space::global, read_site),
            worker);
    // From now on the copy may write at any moment: whoever still reads races with it.
    const Access write = access_by_runtime(
        to, static_cast<size_t>(bytes), true, Space::shared, write_site);
    check_safety(write, worker);
    BlockState& state = state_of(*worker.block);
    if (!state.order.shared.mapped() || !state.order.shared.contains(to)) return;
    state.order.shared.set_initialised(write.address, write.bytes, false);
    state.copies.push_back({write.address, bytes, worker.thread->rank, write_site});
    if (write_site >= g_copy_sites.size()) g_copy_sites.resize(write_site + 1);
    g_copy_sites[write_site] = true;
}

void safety_copy_landed(Worker& worker, const void* to, int bytes) {
    BlockState& state = state_of(*worker.block);
    const uint32_t rank = worker.thread->rank;
    for (size_t i = 0; i < state.copies.size(); ++i) {
        const InFlight copy = state.copies[i];
        if (copy.to != to || copy.thread != rank) continue;
        state.copies.erase(state.copies.begin() + static_cast<std::ptrdiff_t>(i));
        check_overwritten(worker, *worker.block, copy);
        check_safety(
            access_by_runtime(
                to, static_cast<size_t>(bytes), true, Space::shared, copy.site),
            worker);
        return;
    }
}

void check_copies_in_flight(Worker& worker, const Block& block) {
    for (const InFlight& copy : state_of(block).copies)
        check_overwritten(worker, block, copy);
}

}  // namespace simt::check
