// What the ranks do together: arrival, result, and the words for what cannot end.

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/pointers.h"
#include "clique.h"
#include "core/error.h"
#include "core/observer.h"
#include "core/options.h"

namespace simt::nccl {
namespace {

constexpr char kPoison = static_cast<char>(0xff);

const char* bytes(const void* pointer) {
    return static_cast<const char*>(pointer);
}

/// True if `count` bytes can still be accessed there.
bool is_there(const void* pointer, size_t count) {
    const detail::Pointee pointee = detail::look_up(pointer);
    return pointee.device_ok() && pointee.bytes_left >= count;
}

}  // namespace

Collective::Collective(std::shared_ptr<Clique> clique, const Call& call,
                       uint64_t number)
    : clique_(std::move(clique)), kind_(call.kind), number_(number) {
    if (kind_ == Kind::pair) {
        parts_.resize(2);
        parts_[call.sends ? 0 : 1].rank = call.comm->rank;
        parts_[call.sends ? 1 : 0].rank = call.peer;
        return;
    }
    parts_.resize(clique_->size);
    for (int rank = 0; rank < clique_->size; ++rank)
        parts_[rank].rank = rank;
}

int Collective::slot_of(const Call& call) const {
    if (call.kind == Kind::pair) return call.sends ? 0 : 1;
    return call.comm->rank;
}

bool Collective::lacks(int rank) const {
    return std::any_of(parts_.begin(), parts_.end(), [rank](const Part& part) {
        return part.rank == rank && !part.called;
    });
}

bool Collective::open() const {
    return cancelled_ || std::all_of(parts_.begin(), parts_.end(),
                                     [](const Part& part) { return part.arrived; });
}

std::vector<detail::TaskPtr> Collective::needs() const {
    std::vector<detail::TaskPtr> tasks;
    for (const Part& part : parts_)
        if (part.arrival) tasks.push_back(part.arrival);
    return tasks;
}

bool Collective::may_open(const std::function<bool(std::thread::id)>& waits) const {
    for (const Part& part : parts_) {
        if (part.called || clique_->gone[part.rank]) continue;
        const ncclComm* comm = clique_->comms[part.rank];
        const bool unknown = !comm || comm->issuer == std::thread::id();
        if (unknown || !waits(comm->issuer)) return true;
    }
    return false;
}

const Collective::Part* Collective::first() const {
    const auto found = std::find_if(parts_.begin(), parts_.end(),
                                    [](const Part& part) { return part.called; });
    return found == parts_.end() ? nullptr : &*found;
}

std::string Collective::words() const {
    const Part* part = first();
    std::string text = part ? part->call.name : "a collective";
    if (kind_ == Kind::pair)
        text += format(" from rank %d to rank %d, number %llu of communicator %d",
                       parts_[0].rank, parts_[1].rank,
                       static_cast<unsigned long long>(number_), clique_->id);
    else
        text += format(", call %llu of communicator %d",
                       static_cast<unsigned long long>(number_), clique_->id);
    return text + format(" (%d ranks)", clique_->size);
}

/// What the other ranks' call has that this one has not; "" if they fit.
std::string Collective::difference(const Call& call) const {
    const Call& other = first()->call;
    if (call.count != other.count)
        return format("%zu elements, and rank %d has %zu", call.count, other.comm->rank,
                      other.count);
    if (call.type != other.type)
        return format("%s, and rank %d has %s", name_of(call.type), other.comm->rank,
                      name_of(other.type));
    const bool reduces = kind_ == Kind::all_reduce || kind_ == Kind::reduce ||
                         kind_ == Kind::reduce_scatter;
    if (reduces && call.op != other.op)
        return format("%s, and rank %d has %s", name_of(call.op), other.comm->rank,
                      name_of(other.op));
    const bool has_root = kind_ == Kind::reduce || kind_ == Kind::broadcast;
    if (has_root && call.peer != other.peer)
        return format("root %d, and rank %d has root %d", call.peer, other.comm->rank,
                      other.peer);
    return "";
}

ncclResult_t Collective::join(const Call& call) {
    const int rank = call.comm->rank;
    if (const Part* part = first()) {
        const Call& other = part->call;
        std::string text, advice;
        const char* detail = "";
        FindingKind kind = FindingKind::fault;
        if (call.kind != kind_) {
            kind = FindingKind::deadlock;
            detail = "collective_order";
            text = format(
                "collectives in different orders: call %llu of communicator %d is %s "
                "on rank %d, and %s on rank %d",
                static_cast<unsigned long long>(number_), clique_->id, call.name, rank,
                other.name, part->rank);
            advice = "all ranks make the same calls in the same order.";
        } else if (const std::string what = difference(call); !what.empty()) {
            detail = "collective_arguments";
            text = words() + format(": rank %d has ", rank) + what;
            advice =
                "all ranks give the same count, type, operation and root. On GPUs this "
                "hangs or mixes data.";
        } else if (!call.grouped && !other.grouped && call.thread == other.thread &&
                   clique_->size > 1) {
            detail = "missing_group";
            text = words() + format(
                                 ": one host thread calls for rank %d and rank %d "
                                 "without ncclGroupStart",
                                 part->rank, rank);
            advice =
                "ncclGroupStart() before the calls for all ranks, ncclGroupEnd() after "
                "them. On GPUs the first call may wait for the second for ever.";
        }
        if (!text.empty()) {
            found(kind, detail, text, advice);
            clique_->fail(ncclInvalidUsage, text);
            return ncclInvalidUsage;
        }
    }
    Part& part = parts_[slot_of(call)];
    part.called = true;
    part.call = call;
    return ncclSuccess;
}

void Collective::arrive(int slot) {
    const auto lock = detail::lock_queue();
    if (cancelled_) return;
    Part& part = parts_[slot];
    const Call& call = part.call;
    if ((call.send && !is_there(call.send, call.send_bytes)) ||
        (call.recv && !is_there(call.recv, call.recv_bytes))) {
        const std::string text =
            words() + format(
                          ": a buffer of rank %d was freed before its stream got "
                          "to the call",
                          part.rank);
        found(FindingKind::use_after_free, "collective_buffer", text,
              "wait for the stream before the memory is freed.");
        clique_->fail(ncclUnhandledCudaError, text);
        return;
    }
    if (call.send)
        part.input.assign(bytes(call.send), bytes(call.send) + call.send_bytes);
    if (call.recv && detail::options().poison)
        std::memset(const_cast<void*>(call.recv), kPoison, call.recv_bytes);
    part.arrived = true;
    detail::tell_waiting();
}

void Collective::compute() {
    const size_t size = size_of(parts_[0].call.type);
    std::vector<const char*> inputs;
    for (const Part& part : parts_)
        inputs.push_back(part.input.data());
    for (size_t slot = 0; slot < parts_.size(); ++slot) {
        Part& part = parts_[slot];
        const Call& call = part.call;
        if (!call.recv) continue;
        part.output.resize(call.recv_bytes);
        std::vector<const char*> from = inputs;
        switch (kind_) {
            case Kind::reduce_scatter:
                for (const char*& input : from)
                    input += slot * call.count * size;
                [[fallthrough]];
            case Kind::all_reduce:
            case Kind::reduce:
                reduce(from, part.output.data(), call.count, call.type, call.op);
                break;
            case Kind::broadcast:
                part.output = parts_[call.peer].input;
                break;
            case Kind::all_gather:
                for (size_t rank = 0; rank < from.size(); ++rank)
                    std::copy_n(from[rank], call.count * size,
                                part.output.data() + rank * call.count * size);
                break;
            case Kind::pair:
                part.output = parts_[0].input;
                break;
        }
    }
    computed_ = true;
}

/// Between arrival and end nobody may write what a collective uses: the copy, and the
/// poison, show that somebody has.
void Collective::check_untouched(const Part& part) const {
    const Call& call = part.call;
    const char* recv = bytes(call.recv);
    const char* send = bytes(call.send);
    const auto is_received = [&](const char* at) {
        return call.recv && at >= recv && at < recv + call.recv_bytes;
    };
    const char* which = nullptr;
    for (size_t i = 0; call.send && i < call.send_bytes && !which; ++i)
        if (!is_received(send + i) && send[i] != part.input[i]) which = "send";
    if (call.recv && detail::options().poison &&
        std::any_of(recv, recv + call.recv_bytes, [](char c) { return c != kPoison; }))
        which = "receive";
    if (!which) return;
    found(
        FindingKind::race, "collective_buffer",
        words() + format(": the %s buffer of rank %d was written while the collective "
                         "ran, by work that nothing orders with it",
                         which, part.rank),
        "cudaEventRecord in the stream of one, cudaStreamWaitEvent in the stream of "
        "the other: before the collective for what it reads, after it for what uses "
        "its buffers.");
}

void Collective::complete(int slot) {
    const auto lock = detail::lock_queue();
    if (cancelled_) return;
    if (!computed_) compute();
    Part& part = parts_[slot];
    const Call& call = part.call;
    const bool there = (!call.send || is_there(call.send, call.send_bytes)) &&
                       (!call.recv || is_there(call.recv, call.recv_bytes));
    if (!there) {
        const std::string text =
            words() + format(": a buffer of rank %d was freed while the collective ran",
                             part.rank);
        found(FindingKind::use_after_free, "collective_buffer", text,
              "wait for the stream before the memory is freed.");
        clique_->fail(ncclUnhandledCudaError, text);
        return;
    }
    check_untouched(part);
    if (call.recv && call.recv_bytes > 0) {
        std::memcpy(call.recv, part.output.data(), call.recv_bytes);
        if (detail::observer) detail::observer->host_wrote(call.recv, call.recv_bytes);
    }
    part.completed = true;
    if (std::all_of(parts_.begin(), parts_.end(),
                    [](const Part& p) { return p.completed; }))
        std::erase_if(clique_->running,
                      [this](const auto& entry) { return entry.second.get() == this; });
}

void Collective::cancel() {
    cancelled_ = true;
    for (Part& part : parts_)
        part.input.clear(), part.output.clear();
}

std::string Collective::state_of(const Part& part) const {
    const int rank = part.rank;
    if (!part.called)
        return clique_->gone[rank] ? clique_->rank_is_gone(rank)
                                   : format("rank %d has not called it", rank);
    if (part.arrived) return format("rank %d waits in it", rank);
    const detail::GatePtr gate = detail::gate_before(part.arrival);
    const auto* before = dynamic_cast<const Collective*>(gate.get());
    return format("rank %d is to come to it after ", rank) +
           (before ? before->words() : "other work of its stream");
}

/// A thread that has called for one rank was the last to call for the missing ones.
bool Collective::one_thread_for_all() const {
    const Part* caller = first();
    return caller && std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
               const ncclComm* comm = clique_->comms[part.rank];
               return part.called || (comm && comm->issuer == caller->call.thread);
           });
}

void Collective::give_up(const std::vector<detail::GatePtr>& gates, double seconds) {
    std::vector<std::shared_ptr<Collective>> all;
    for (const detail::GatePtr& gate : gates)
        if (auto one = std::dynamic_pointer_cast<Collective>(gate)) all.push_back(one);
    bool missing = false, one_thread = false;
    std::string states;
    for (const auto& one : all) {
        states += "\n    " + one->words() + ": ";
        for (size_t slot = 0; slot < one->parts_.size(); ++slot) {
            states += (slot > 0 ? "; " : "") + one->state_of(one->parts_[slot]);
            missing |= !one->parts_[slot].called;
        }
        one_thread |= one->one_thread_for_all();
    }
    std::string text, advice;
    if (!missing) {
        text = "DEADLOCK: collectives wait for each other, and none can go on";
        advice =
            "all ranks queue the same collectives in the same order, also those of "
            "different communicators; sends and receives that wait for each other "
            "belong between ncclGroupStart() and ncclGroupEnd().";
    } else {
        text = seconds > 0
                   ? format(
                         "a collective waits for a rank that does not come: nothing "
                         "has moved for %g s",
                         seconds)
                   : "DEADLOCK: a collective waits for a rank whose host thread waits";
        advice = one_thread
                     ? "a host thread that works for several ranks calls for all of "
                       "them between ncclGroupStart() and ncclGroupEnd(), before it "
                       "waits."
                     : "every rank makes every call: has its host thread ended, or "
                       "taken another branch?";
    }
    text += states;
    // Behind a kernel that has failed nothing comes any more. The kernel is to blame.
    if (detail::sticky_error() == cudaSuccess)
        found(FindingKind::deadlock, missing ? "missing_rank" : "collective_order",
              text, advice);
    for (const auto& one : all)
        one->clique_->fail(missing ? ncclRemoteError : ncclInvalidUsage, text);
}

void Clique::fail(ncclResult_t error, const std::string& text) {
    for (ncclComm* comm : comms) {
        if (!comm || comm->error != ncclSuccess) continue;
        comm->error = error;
        comm->text = text;
    }
    for (const auto& [key, collective] : std::exchange(running, {}))
        collective->cancel();
    detail::tell_waiting();
}

std::string Clique::missing() const {
    std::string text;
    int left = size - joined;
    for (int rank = 0; rank < size; ++rank) {
        if (comms[rank]) continue;
        text += std::to_string(rank);
        if (--left > 0) text += left == 1 ? " and " : ", ";
    }
    return text;
}

std::string Clique::rank_is_gone(int rank) const {
    return format("rank %d has %s its communicator", rank, gone[rank]);
}

}  // namespace simt::nccl
