// Groups, and how calls become queued work.

#include <utility>

#include "api/stream.h"
#include "clique.h"
#include "core/devices.h"

namespace simt::nccl {
namespace {

/// What a host thread has called since ncclGroupStart.
struct Group {
    int depth = 0;
    std::vector<Call> calls;
    std::vector<Init> inits;
    ncclResult_t error = ncclSuccess;
};
thread_local Group t_group;

/// A call that has found its collective.
struct Joined {
    const Call* call;
    std::shared_ptr<Collective> collective;
    int slot;
};

Clique::Key next_key(const Call& call) {
    ncclComm& comm = *call.comm;
    if (call.kind != Kind::pair) return {-1, -1, ++comm.collectives};
    if (call.sends) return {comm.rank, call.peer, ++comm.sends[call.peer]};
    return {call.peer, comm.rank, ++comm.recvs[call.peer]};
}

ncclResult_t join(const Call& call, std::vector<Joined>& joined) {
    ncclComm& comm = *call.comm;
    if (comm.error != ncclSuccess) return comm.error;
    comm.issuer = call.thread;
    const std::shared_ptr<Clique> clique = comm.clique;
    const Clique::Key key = next_key(call);
    std::shared_ptr<Collective>& one = clique->running[key];
    if (!one) one = std::make_shared<Collective>(clique, call, std::get<2>(key));
    const std::shared_ptr<Collective> collective = one;
    for (int rank = 0; rank < clique->size; ++rank) {
        if (!clique->gone[rank] || !collective->lacks(rank)) continue;
        const std::string text =
            std::string(call.name) + ": " + clique->rank_is_gone(rank);
        found(FindingKind::deadlock, "missing_rank", text,
              "every rank makes every call before it destroys its communicator.");
        clique->fail(ncclRemoteError, text);
        return ncclRemoteError;
    }
    if (const ncclResult_t error = collective->join(call)) return error;
    joined.push_back({&call, collective, collective->slot_of(call)});
    return ncclSuccess;
}

}  // namespace

bool in_group() {
    return t_group.depth > 0;
}

ncclResult_t issue(const std::vector<Call>& calls) {
    detail::start_queueing();
    const auto lock = detail::lock_queue();
    std::vector<Joined> joined;
    ncclResult_t error = ncclSuccess;
    for (const Call& call : calls)
        if (error == ncclSuccess) error = join(call, joined);
    if (error != ncclSuccess) {
        for (const Call& call : calls)
            call.comm->clique->fail(error, call.comm->text);
        return error;
    }
    // The calls of a group begin together; a rank's groups come one after the other,
    // whatever their streams.
    std::map<ncclComm*, std::vector<detail::TaskPtr>> before;
    for (const Joined& j : joined)
        before.try_emplace(j.call->comm, j.call->comm->last);
    for (const auto& [comm, tasks] : before)
        comm->last.clear();
    const auto stream_of = [](const Call& call) -> CUstream_st& {
        return *detail::find_stream(call.stream);
    };
    for (const Joined& j : joined) {
        const detail::OnDevice on(j.call->comm->device);
        j.collective->set_arrival(j.slot,
                                  detail::defer(
                                      stream_of(*j.call),
                                      [one = j.collective, slot = j.slot] {
                                          one->arrive(slot);
                                          return cudaSuccess;
                                      },
                                      detail::Weight::nothing, before[j.call->comm]));
    }
    for (const Joined& j : joined) {
        const detail::OnDevice on(j.call->comm->device);
        j.call->comm->last.push_back(detail::defer_gated(
            stream_of(*j.call),
            [one = j.collective, slot = j.slot] {
                one->complete(slot);
                return cudaSuccess;
            },
            {}, j.collective));
    }
    detail::tell_waiting();
    return ncclSuccess;
}

ncclResult_t submit(Call call) {
    call.thread = std::this_thread::get_id();
    call.grouped = in_group();
    if (!call.grouped) return issue({call});
    t_group.calls.push_back(call);
    return ncclSuccess;
}

ncclResult_t submit(const Init& init) {
    if (!in_group()) return make_ranks({init});
    t_group.inits.push_back(init);
    return ncclSuccess;
}

void fail_group(ncclResult_t error) {
    if (in_group() && t_group.error == ncclSuccess) t_group.error = error;
}

}  // namespace simt::nccl

using namespace simt::nccl;

ncclResult_t ncclGroupStart() {
    ++t_group.depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    if (!in_group())
        return refuse(ncclInvalidUsage, "ncclGroupEnd: without ncclGroupStart");
    if (--t_group.depth > 0) return ncclSuccess;
    const Group group = std::exchange(t_group, {});
    if (group.error != ncclSuccess) return group.error;
    if (!group.inits.empty())
        if (const ncclResult_t error = make_ranks(group.inits)) return error;
    return group.calls.empty() ? ncclSuccess : issue(group.calls);
}
