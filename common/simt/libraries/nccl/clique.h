#pragma once
// The ranks of a communicator, and what they do together. All of it is guarded by the
// lock of the queue of streams (api/gate.h).

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "api/gate.h"
#include "core/portable/simt/finding_kind.h"
#include "nccl.h"

namespace simt::nccl {

enum class Kind { all_reduce, reduce, broadcast, all_gather, reduce_scatter, pair };

struct Clique;

/// One rank's call.
struct Call {
    Kind kind = Kind::all_reduce;
    const char* name = "";  // "ncclAllReduce"
    ncclComm_t comm = nullptr;
    const void* send = nullptr;  // null: it gives nothing
    void* recv = nullptr;        // null: it gets nothing
    size_t send_bytes = 0, recv_bytes = 0;
    bool sends = false;  // of a pair: whether it is the sender
    size_t count = 0;
    ncclDataType_t type = ncclFloat;
    ncclRedOp_t op = ncclSum;
    int peer = -1;  // or root
    cudaStream_t stream = nullptr;
    std::thread::id thread;
    bool grouped = false;
};

/// A collective, or a send and its receive: done when all that take part have come.
class Collective : public detail::Gate,
                   public std::enable_shared_from_this<Collective> {
 public:
    Collective(std::shared_ptr<Clique> clique, const Call& first, uint64_t number);

    bool open() const override;
    std::vector<detail::TaskPtr> needs() const override;
    bool may_open(const std::function<bool(std::thread::id)>& waits) const override;
    void give_up(const std::vector<detail::GatePtr>& gates, double seconds) override;

    /// Takes a rank's call in, or says why it does not fit to the other ranks'.
    ncclResult_t join(const Call& call);
    /// The rank's stream has got here: what it gives is copied, and what it gets is NaN
    /// until the end, as an access at the wrong time would find.
    void arrive(int slot);
    /// All have come: the rank gets its result.
    void complete(int slot);
    void set_arrival(int slot, detail::TaskPtr task) { parts_[slot].arrival = task; }
    /// Ends it without a result.
    void cancel();

    /// Where the call belongs: the rank, or 0 for a sender and 1 for a receiver.
    int slot_of(const Call& call) const;
    /// Whether it still needs the rank's call.
    bool lacks(int rank) const;
    const Clique& clique() const { return *clique_; }
    /// "ncclAllReduce, call 3 of communicator 1 (2 ranks)"
    std::string words() const;

 private:
    struct Part {
        int rank = 0;
        bool called = false, arrived = false, completed = false;
        Call call;
        detail::TaskPtr arrival;
        std::vector<char> input, output;
    };

    const Part* first() const;
    std::string difference(const Call& call) const;
    std::string state_of(const Part& part) const;
    bool one_thread_for_all() const;
    void compute();
    void check_untouched(const Part& part) const;

    std::shared_ptr<Clique> clique_;
    Kind kind_;
    uint64_t number_;          // from 1
    std::vector<Part> parts_;  // of all ranks, or of the sender and the receiver
    bool computed_ = false, cancelled_ = false;
};

/// What the ranks of a communicator share.
struct Clique {
    int id = 0;  // numbers the communicators of the process, from 1
    int size = 0;
    int joined = 0;
    bool failed = false;                         // while it was made
    std::vector<ncclComm_t> comms;               // null: not there yet, or gone
    std::vector<const char*> gone;               // "destroyed", "aborted"
    using Key = std::tuple<int, int, uint64_t>;  // from, to (-1: all), number
    std::map<Key, std::shared_ptr<Collective>> running;

    /// Ends everything on it: all ranks have the error from now on.
    void fail(ncclResult_t error, const std::string& text);
    /// "1" or "1 and 3" of those that have not come yet.
    std::string missing() const;
    std::string rank_is_gone(int rank) const;
};

// ---- calls.cpp, group.cpp ---------------------------------------------------------

/// Queues the calls of a group, or one.
ncclResult_t issue(const std::vector<Call>& calls);
/// Queues a call, or keeps it for the end of the thread's group.
ncclResult_t submit(Call call);

/// A rank to be made.
struct Init {
    ncclComm_t* comm;
    int size, rank, device;
    uint64_t id;
};
/// Makes ranks, and waits for the others.
ncclResult_t make_ranks(const std::vector<Init>& inits);
/// Makes one, or keeps it for the end of the thread's group.
ncclResult_t submit(const Init& init);
/// A call of the thread's group was refused: ncclGroupEnd says so, and queues nothing.
void fail_group(ncclResult_t error);
/// True between ncclGroupStart and ncclGroupEnd.
bool in_group();

// ---- communicator.cpp -------------------------------------------------------------

bool is_comm(ncclComm_t comm);
/// ncclSuccess for a communicator that can be used; else says why not.
ncclResult_t check_comm(const char* call, ncclComm_t comm);

// ---- arithmetic.cpp ---------------------------------------------------------------

/// Bytes of an element; 0 for what is no type.
size_t size_of(ncclDataType_t type);
const char* name_of(ncclDataType_t type);
const char* name_of(ncclRedOp_t op);
/// True if the elements can be added.
bool is_number(ncclDataType_t type);

/// result[i] = op over ranks of inputs[rank][i], in the order of a ring: chunk c of the
/// ranks' number of chunks begins with rank c + 1. Each step is rounded to the type.
void reduce(const std::vector<const char*>& inputs, char* result, size_t count,
            ncclDataType_t type, ncclRedOp_t op);

// ---- words.cpp --------------------------------------------------------------------

/// Refuses a call: one line on stderr, and the text for ncclGetLastError.
ncclResult_t refuse(ncclResult_t error, const std::string& text);
/// Prints what was found while work ran, and tells the program's hook.
void found(FindingKind kind, const char* detail, const std::string& text,
           const std::string& advice);
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace simt::nccl

struct ncclComm {
    std::shared_ptr<simt::nccl::Clique> clique;
    int rank = 0, device = 0;
    uint64_t collectives = 0;                 // calls so far
    std::vector<uint64_t> sends, recvs;       // with each peer
    std::vector<simt::detail::TaskPtr> last;  // of the last group
    std::thread::id issuer;                   // the last thread that called for it
    bool finalized = false;
    ncclResult_t error = ncclSuccess;
    std::string text;
};
