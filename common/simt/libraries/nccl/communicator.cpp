// Communicators: how ranks find each other, and how they part.

#include <cstring>
#include <utility>

#include "api/handles.h"
#include "api/schedule.h"
#include "clique.h"
#include "core/devices.h"
#include "simt/nccl_limit.h"

namespace simt::nccl {
namespace {

constexpr char kMagic[8] = "simt-id";

/// What the process has of communicators.
struct State {
    detail::HandleTable<ncclComm> comms;
    std::map<uint64_t, std::shared_ptr<Clique>> waiting;  // by the id of ncclUniqueId
    uint64_t ids = 0;
    int cliques = 0, alive = 0;
    bool queueing = false;  // whether the streams became asynchronous for our sake
};

State& state() {
    static auto* const instance = new State;
    return *instance;
}

/// The number in an id; 0 for one that this process did not make.
uint64_t number_of(const ncclUniqueId& id) {
    uint64_t number = 0;
    if (std::memcmp(id.internal, kMagic, sizeof kMagic) != 0) return 0;
    std::memcpy(&number, id.internal + sizeof kMagic, sizeof number);
    return number <= state().ids ? number : 0;
}

/// Adds a rank to those that wait for the others, or says why it cannot.
ncclResult_t come(const Init& init, std::shared_ptr<Clique>* joined) {
    State& s = state();
    std::shared_ptr<Clique>& clique = s.waiting[init.id];
    if (!clique) {
        clique = std::make_shared<Clique>();
        clique->id = ++s.cliques;
        clique->size = init.size;
        clique->comms.resize(init.size);
        clique->gone.resize(init.size);
    }
    if (clique->size != init.size)
        return refuse(ncclInvalidArgument,
                      format("ncclCommInitRank: rank %d says that there are %d ranks, "
                             "and another one said %d",
                             init.rank, init.size, clique->size));
    if (clique->comms[init.rank])
        return refuse(
            ncclInvalidUsage,
            format("ncclCommInitRank: two ranks call themselves rank %d", init.rank));
    for (const ncclComm* other : clique->comms)
        if (other && other->device == init.device)
            return refuse(
                ncclInvalidUsage,
                format("ncclCommInitRank: Duplicate GPU detected: rank %d and rank %d "
                       "both on CUDA device %d (cudaSetDevice before the call)",
                       init.rank, other->rank, init.device));
    auto comm = std::make_unique<ncclComm>();
    comm->clique = clique;
    comm->rank = init.rank;
    comm->device = init.device;
    comm->sends.resize(init.size);
    comm->recvs.resize(init.size);
    clique->comms[init.rank] = s.comms.insert(std::move(comm));
    ++clique->joined;
    ++s.alive;
    *joined = clique;
    return ncclSuccess;
}

/// Takes a rank out; its handle is not valid any more. The caller holds the lock.
/// @returns true if it was the last one, for which streams were made asynchronous
bool leave(ncclComm_t comm, const char* how) {
    State& s = state();
    comm->clique->comms[comm->rank] = nullptr;
    comm->clique->gone[comm->rank] = how;
    s.comms.remove(comm);
    return --s.alive == 0 && std::exchange(s.queueing, false);
}

/// The others wait in vain for a rank that has gone.
void fail_those_who_wait(Clique& clique, int rank) {
    for (const auto& [key, collective] : clique.running) {
        if (!collective->lacks(rank)) continue;
        const std::string text = collective->words() + ": " + clique.rank_is_gone(rank);
        found(FindingKind::deadlock, "missing_rank", text,
              "every rank makes every call before it destroys its communicator.");
        return clique.fail(ncclRemoteError, text);
    }
}

/// Waits for what the rank has queued.
ncclResult_t flush(ncclComm_t comm) {
    std::vector<detail::TaskPtr> last;
    {
        const auto lock = detail::lock_queue();
        last = comm->last;
    }
    for (const detail::TaskPtr& task : last)
        if (detail::finish(task) != cudaSuccess) return ncclUnhandledCudaError;
    return ncclSuccess;
}

template <class T>
ncclResult_t give(const char* call, ncclComm_t comm, T* out, T ncclComm::*member) {
    const auto lock = detail::lock_queue();
    if (const ncclResult_t error = check_comm(call, comm)) return error;
    if (!out)
        return refuse(ncclInvalidArgument,
                      format("%s: the result's pointer is null", call));
    *out = comm->*member;
    return ncclSuccess;
}

}  // namespace

bool is_comm(ncclComm_t comm) {
    return comm && state().comms.contains(comm);
}

ncclResult_t check_comm(const char* call, ncclComm_t comm) {
    if (!comm)
        return refuse(ncclInvalidArgument,
                      format("%s: the communicator is null", call));
    if (!is_comm(comm))
        return refuse(ncclInvalidArgument,
                      format("%s: the communicator has been destroyed, or was never "
                             "made",
                             call));
    return ncclSuccess;
}

ncclResult_t make_ranks(const std::vector<Init>& inits) {
    auto lock = detail::lock_queue();
    State& s = state();
    if (detail::start_queueing()) s.queueing = true;
    std::vector<std::shared_ptr<Clique>> cliques(inits.size());
    ncclResult_t error = ncclSuccess;
    for (size_t i = 0; i < inits.size() && error == ncclSuccess; ++i) {
        error = come(inits[i], &cliques[i]);
        if (error != ncclSuccess && s.waiting[inits[i].id])
            s.waiting[inits[i].id]->failed = true;
    }
    detail::tell_waiting();
    for (size_t i = 0; i < inits.size() && error == ncclSuccess; ++i) {
        Clique& clique = *cliques[i];
        while (clique.joined < clique.size && !clique.failed) {
            if (detail::wait_for_change(lock) < detail::gate_limit()) continue;
            if (clique.failed || clique.joined == clique.size) break;
            clique.failed = true;
            found(FindingKind::deadlock, "missing_rank",
                  format("ncclCommInitRank: rank %d of %d waits for rank %s, which has "
                         "not come: nothing has moved for %g s",
                         inits[i].rank, clique.size, clique.missing().c_str(),
                         detail::gate_limit()),
                  "one host thread for each rank, or ncclGroupStart() before the calls "
                  "of one thread for several ranks and ncclGroupEnd() after them.");
        }
        if (clique.failed) error = ncclRemoteError;
    }
    bool last = false;
    for (size_t i = 0; i < inits.size(); ++i) {
        s.waiting.erase(inits[i].id);
        ncclComm_t comm = cliques[i] ? cliques[i]->comms[inits[i].rank] : nullptr;
        if (error != ncclSuccess && comm) {
            cliques[i]->failed = true;
            last |= leave(comm, "aborted");
            comm = nullptr;
        }
        *inits[i].comm = comm;
    }
    if (s.alive == 0 && s.queueing) last = !(s.queueing = false);
    detail::tell_waiting();
    lock.unlock();
    if (last) detail::stop_queueing();
    return error;
}

}  // namespace simt::nccl

namespace simt {

void set_nccl_limit(double seconds) {
    detail::set_gate_limit(seconds);
}

}  // namespace simt

using namespace simt::nccl;

ncclResult_t ncclGetVersion(int* version) {
    if (!version) return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    if (!id) return refuse(ncclInvalidArgument, "ncclGetUniqueId: the id is null");
    const auto lock = simt::detail::lock_queue();
    const uint64_t number = ++state().ids;
    *id = {};
    std::memcpy(id->internal, kMagic, sizeof kMagic);
    std::memcpy(id->internal + sizeof kMagic, &number, sizeof number);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank) {
    const auto wrong = [](const std::string& text) {
        fail_group(ncclInvalidArgument);
        return refuse(ncclInvalidArgument, "ncclCommInitRank: " + text);
    };
    if (!comm) return wrong("the communicator's pointer is null");
    *comm = nullptr;
    if (nranks < 1 || rank < 0 || rank >= nranks)
        return wrong(format("rank %d of %d", rank, nranks));
    if (nranks > simt::detail::device_count())
        return wrong(format("%d ranks, and there are %d devices (SIMT_DEVICES)", nranks,
                            simt::detail::device_count()));
    uint64_t number = 0;
    {
        const auto lock = simt::detail::lock_queue();
        number = number_of(id);
    }
    if (number == 0)
        return wrong(
            "the id is none that ncclGetUniqueId of this process gave; in the "
            "simulator all ranks are host threads of one process");
    return submit(Init{comm, nranks, rank, simt::detail::current_device(), number});
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ndev, const int* devlist) {
    const auto wrong = [](ncclResult_t error, const std::string& text) {
        return refuse(error, "ncclCommInitAll: " + text);
    };
    if (!comms) return wrong(ncclInvalidArgument, "the communicators' pointer is null");
    if (ndev < 1) return wrong(ncclInvalidArgument, format("%d devices", ndev));
    const int count = simt::detail::device_count();
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    std::vector<Init> inits;
    for (int rank = 0; rank < ndev; ++rank) {
        const int device = devlist ? devlist[rank] : rank;
        if (!simt::detail::is_device(device))
            return wrong(
                devlist ? ncclInvalidArgument : ncclUnhandledCudaError,
                format("device %d, and there are %d (SIMT_DEVICES)", device, count));
        for (const Init& other : inits)
            if (other.device == device)
                return wrong(ncclInvalidUsage,
                             format("device %d twice in the list", device));
        inits.push_back({comms + rank, ndev, rank, device, number_of(id)});
    }
    return make_ranks(inits);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    if (const ncclResult_t error = check_comm("ncclCommFinalize", comm)) return error;
    const ncclResult_t error = flush(comm);
    comm->finalized = true;
    return error;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    if (!comm) return ncclSuccess;  // as NCCL has it
    if (const ncclResult_t error = check_comm("ncclCommDestroy", comm)) return error;
    const ncclResult_t error = flush(comm);
    auto lock = simt::detail::lock_queue();
    const std::shared_ptr<Clique> clique = comm->clique;
    const int rank = comm->rank;
    const bool last = leave(comm, "destroyed");
    fail_those_who_wait(*clique, rank);
    lock.unlock();
    if (last) simt::detail::stop_queueing();
    return error;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    if (!comm) return ncclSuccess;
    auto lock = simt::detail::lock_queue();
    if (const ncclResult_t error = check_comm("ncclCommAbort", comm)) return error;
    const std::shared_ptr<Clique> clique = comm->clique;
    const int rank = comm->rank;
    const bool last = leave(comm, "aborted");
    if (!clique->running.empty())
        clique->fail(ncclRemoteError, clique->rank_is_gone(rank));
    lock.unlock();
    if (last) simt::detail::stop_queueing();
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
    simt::detail::let_one_run();
    return give("ncclCommGetAsyncError", comm, error, &ncclComm::error);
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
    const auto lock = simt::detail::lock_queue();
    if (const ncclResult_t error = check_comm("ncclCommCount", comm)) return error;
    if (!count) return refuse(ncclInvalidArgument, "ncclCommCount: a null pointer");
    *count = comm->clique->size;
    return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
    return give("ncclCommCuDevice", comm, device, &ncclComm::device);
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
    return give("ncclCommUserRank", comm, rank, &ncclComm::rank);
}
