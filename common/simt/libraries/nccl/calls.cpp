// The collectives' entry points: what NCCL checks, and what it leaves to a crash.

#include "api/pointers.h"
#include "api/stream.h"
#include "clique.h"
#include "core/devices.h"
#include "core/error.h"
#include "core/memory.h"

namespace simt::nccl {
namespace {

/// The checks of one call. The first that fails decides.
class Checked {
 public:
    explicit Checked(Call call) : call_(call) {
        error_ = check_comm(call_.name, call_.comm);
        if (!ok()) return;
        if (call_.comm->finalized)
            fail(ncclInvalidUsage, "ncclCommFinalize has ended the communicator");
        else if (detail::sticky_error() != cudaSuccess)
            fail(ncclUnhandledCudaError, "a kernel has failed before");
        else if (detail::running_task())
            fail(ncclInvalidUsage, "called in a host function of a stream");
        else if (size_of(call_.type) == 0)
            fail(ncclInvalidArgument, format("%d is no type", call_.type));
        else
            check_stream();
    }

    void operation() {
        if (!ok()) return;
        if (call_.op < ncclSum || call_.op >= ncclNumOps)
            fail(ncclInvalidArgument, format("%d is no operation", call_.op));
        else if (!is_number(call_.type))
            fail(ncclInvalidArgument,
                 format("%s can be moved, but not added, in the simulator",
                        name_of(call_.type)));
    }
    void peer(const char* what) {
        if (ok() && (call_.peer < 0 || call_.peer >= call_.comm->clique->size))
            fail(ncclInvalidArgument, format("%s %d is none of the %d ranks", what,
                                             call_.peer, call_.comm->clique->size));
    }
    /// The rank gives so many elements.
    void sends(const void* buffer, size_t elements) {
        call_.send = buffer;
        call_.send_bytes = memory(buffer, elements, "send");
    }
    void receives(void* buffer, size_t elements) {
        call_.recv = buffer;
        call_.recv_bytes = memory(buffer, elements, "receive");
    }
    /// Refuses buffers that overlap, unless `in_place` is `at`.
    void overlap(const void* in_place, const void* at) {
        if (!ok() || !call_.send || !call_.recv || in_place == at) return;
        const auto* send = static_cast<const char*>(call_.send);
        const auto* recv = static_cast<const char*>(call_.recv);
        if (send < recv + call_.recv_bytes && recv < send + call_.send_bytes)
            fail(ncclInvalidArgument,
                 "the buffers overlap, but not as the call works in place");
    }

    bool ok() const { return error_ == ncclSuccess; }
    int rank() const { return ok() ? call_.comm->rank : 0; }
    int size() const { return ok() ? call_.comm->clique->size : 1; }
    size_t element() const { return size_of(call_.type); }

    ncclResult_t submit() {
        if (!ok()) {
            fail_group(error_);
            return error_;
        }
        // As NCCL does: nobody waits for anybody.
        if (call_.count == 0 && call_.kind != Kind::pair) return ncclSuccess;
        return nccl::submit(call_);
    }

 private:
    void fail(ncclResult_t error, const std::string& text) {
        if (ok()) error_ = refuse(error, std::string(call_.name) + ": " + text);
    }

    void check_stream() {
        const detail::OnDevice on(call_.comm->device);
        const CUstream_st* stream = detail::find_stream(call_.stream);
        if (!stream)
            fail(ncclInvalidArgument, "the stream was not created, or was destroyed");
        else if (stream->device != call_.comm->device)
            fail(ncclInvalidUsage,
                 format("the stream belongs to device %d, and rank %d is on device %d",
                        stream->device, call_.comm->rank, call_.comm->device));
        else if (detail::capturing(call_.stream))
            fail(ncclInvalidUsage,
                 "the stand-in for NCCL cannot be captured into a graph");
    }

    /// @returns how many bytes these are
    size_t memory(const void* buffer, size_t elements, const char* which) {
        const size_t bytes = elements * element();
        if (!ok() || bytes == 0) return 0;
        const int rank = call_.comm->rank;
        if (!buffer) {
            fail(ncclInvalidArgument,
                 format("the %s buffer of rank %d is a null pointer", which, rank));
            return 0;
        }
        const detail::Pointee pointee = detail::look_up(buffer);
        detail::Allocation owner;
        const bool foreign = detail::find_allocation(buffer, &owner) &&
                             owner.kind == detail::MemoryKind::device &&
                             owner.device != call_.comm->device;
        if (pointee.space == detail::Space::freed)
            fail(ncclInvalidArgument,
                 format("the %s buffer of rank %d is no live allocation: %s", which,
                        rank, detail::describe_address(buffer).c_str()));
        else if (!pointee.device_ok())
            fail(ncclInvalidArgument,
                 format("the %s buffer of rank %d is ordinary host memory", which,
                        rank));
        else if (foreign)
            fail(ncclInvalidArgument,
                 format("the %s buffer of rank %d is memory of device %d, and the rank "
                        "is on device %d",
                        which, rank, owner.device, call_.comm->device));
        else if (bytes > pointee.bytes_left)
            fail(ncclInvalidArgument,
                 format("the %s buffer of rank %d is too short: %zu bytes are needed, "
                        "and %zu are there (counts are of elements)",
                        which, rank, bytes, pointee.bytes_left));
        return bytes;
    }

    Call call_;
    ncclResult_t error_ = ncclSuccess;
};

Call call_of(Kind kind, const char* name, ncclComm_t comm, size_t count,
             ncclDataType_t type, cudaStream_t stream) {
    Call call;
    call.kind = kind;
    call.name = name;
    call.comm = comm;
    call.count = count;
    call.type = type;
    call.stream = stream;
    return call;
}

ncclResult_t broadcast(const char* name, const void* send, void* recv, size_t count,
                       ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
    Call call = call_of(Kind::broadcast, name, comm, count, type, stream);
    call.peer = root;
    Checked checked(call);
    checked.peer("root");
    if (checked.rank() == root) checked.sends(send, count);
    checked.receives(recv, count);
    checked.overlap(send, recv);
    return checked.submit();
}

}  // namespace
}  // namespace simt::nccl

using namespace simt::nccl;

ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
    Call call = call_of(Kind::all_reduce, "ncclAllReduce", comm, count, type, stream);
    call.op = op;
    Checked checked(call);
    checked.operation();
    checked.sends(send, count);
    checked.receives(recv, count);
    checked.overlap(send, recv);
    return checked.submit();
}

ncclResult_t ncclReduce(const void* send, void* recv, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm,
                        cudaStream_t stream) {
    Call call = call_of(Kind::reduce, "ncclReduce", comm, count, type, stream);
    call.op = op;
    call.peer = root;
    Checked checked(call);
    checked.operation();
    checked.peer("root");
    checked.sends(send, count);
    if (checked.rank() == root) checked.receives(recv, count);
    checked.overlap(send, recv);
    return checked.submit();
}

ncclResult_t ncclBroadcast(const void* send, void* recv, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
    return broadcast("ncclBroadcast", send, recv, count, type, root, comm, stream);
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream) {
    return broadcast("ncclBcast", buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* send, void* recv, size_t count,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
    Call call =
        call_of(Kind::reduce_scatter, "ncclReduceScatter", comm, count, type, stream);
    call.op = op;
    Checked checked(call);
    checked.operation();
    checked.sends(send, count * checked.size());
    checked.receives(recv, count);
    const size_t at = count * checked.rank() * checked.element();
    checked.overlap(static_cast<const char*>(send) + at, recv);
    return checked.submit();
}

ncclResult_t ncclAllGather(const void* send, void* recv, size_t count,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
    Call call = call_of(Kind::all_gather, "ncclAllGather", comm, count, type, stream);
    Checked checked(call);
    checked.sends(send, count);
    checked.receives(recv, count * checked.size());
    const size_t at = count * checked.rank() * checked.element();
    checked.overlap(send, static_cast<char*>(recv) + at);
    return checked.submit();
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    Call call = call_of(Kind::pair, "ncclSend", comm, count, type, stream);
    call.sends = true;
    call.peer = peer;
    Checked checked(call);
    checked.peer("peer");
    checked.sends(send, count);
    return checked.submit();
}

ncclResult_t ncclRecv(void* recv, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    Call call = call_of(Kind::pair, "ncclRecv", comm, count, type, stream);
    call.peer = peer;
    Checked checked(call);
    checked.peer("peer");
    checked.receives(recv, count);
    return checked.submit();
}
