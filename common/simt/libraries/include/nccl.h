#pragma once
// NCCL's calls between the devices of one process, on the CPU. Nothing to link (-lnccl
// is accepted). Names and numbers are those of NCCL 2.28.
//
// Ranks are devices (SIMT_DEVICES, simt::set_devices) of this process, driven by one
// host thread or by several. As in NCCL, calls only queue work in a stream: with the
// first communicator the streams become asynchronous (simt/streams.h). What GPUs answer
// with a hang is found and named: README.md of the simulator, "NCCL".
#ifndef NCCL_H_
#define NCCL_H_
#endif

#include <climits>
#include <cstddef>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime_api.h"

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_SUFFIX "simt"
#define NCCL_VERSION(X, Y, Z) \
    (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))
#define NCCL_VERSION_CODE NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)

/// A rank's end of a communicator.
typedef struct ncclComm* ncclComm_t;
#define NCCL_COMM_NULL NULL

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7,
    ncclNumResults = 8
} ncclResult_t;

typedef enum {
    ncclSum = 0,
    ncclProd = 1,
    ncclMax = 2,
    ncclMin = 3,
    ncclAvg = 4,
    ncclNumOps = 5
} ncclRedOp_t;

typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclFloat8e4m3 = 10,  // moved, not added
    ncclFloat8e5m2 = 11,
    ncclNumTypes = 12
} ncclDataType_t;

// ---- Communicators ----------------------------------------------------------------

ncclResult_t ncclGetVersion(int* version);

/// A name for a new communicator, for ranks of this process only.
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);

/// Makes the calling thread's device rank `rank` of `nranks`. Returns when all ranks
/// have called; in a group, ncclGroupEnd does.
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId id, int rank);

/// Makes one communicator for each device of a list, or for the first `ndev`.
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ndev, const int* devlist);

/// Ends what is queued; after it, only ncclCommDestroy may follow.
ncclResult_t ncclCommFinalize(ncclComm_t comm);
/// Ends what is queued and frees the communicator.
ncclResult_t ncclCommDestroy(ncclComm_t comm);
/// Frees the communicator without waiting; other ranks get ncclRemoteError.
ncclResult_t ncclCommAbort(ncclComm_t comm);

/// What has gone wrong with queued work; ncclSuccess while nothing has.
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);

const char* ncclGetErrorString(ncclResult_t result);
/// What was said about the communicator's last error, or, for null, about any.
const char* ncclGetLastError(ncclComm_t comm);

// ---- Groups -----------------------------------------------------------------------

ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();

// ---- Collectives ------------------------------------------------------------------
// Counts are of elements. Buffers lie in memory of the rank's device, or in pinned or
// managed memory.

/// recv[i] = op over ranks of send[i], on all ranks. In place: recv == send.
ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream);
/// The same, for rank `root` alone.
ncclResult_t ncclReduce(const void* send, void* recv, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream);
/// recv = send of rank `root`. `send` is looked at there only.
ncclResult_t ncclBroadcast(const void* send, void* recv, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream);
/// The same in place.
ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream);
/// recv[i] = op over ranks of send[rank * count + i]. In place: recv == send + rank *
/// count.
ncclResult_t ncclReduceScatter(const void* send, void* recv, size_t count,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream);
/// recv[r * count + i] = send[i] of rank r. In place: send == recv + rank * count.
ncclResult_t ncclAllGather(const void* send, void* recv, size_t count,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t stream);

/// A pair: `peer` has to receive as many elements. Pairs that wait for each other
/// belong into a group.
ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void* recv, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
