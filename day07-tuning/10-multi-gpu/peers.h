/// peers.h: memory of several GPUs that all of them use, and how a host thread waits
/// for its rank. Given.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>
#include <wb/check.h>
#include <wb/check_nccl.h>
#include <wb/launch.h>
#include <wb/nccl_error.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "multi_gpu.h"

/// Inboxes on devices 0 and following, each of which may access the others'.
class PeerMemory {
 public:
    /// @param capacity  floats of a message, at least
    /// @param devices   0: one for each rank; else rank r is on device r % devices, so
    ///                  that the kernels can be tried with one GPU
    /// Throws wb::CudaError where two GPUs cannot access each other's memory.
    PeerMemory(int ranks, int64_t capacity, int devices = 0)
        : ranks_(ranks), devices_(devices > 0 ? devices : ranks) {
        const int64_t pieces = wb::ceil_div(capacity, int64_t{kPiece});
        shared_.capacity = pieces * kPiece;
        const auto messages = static_cast<size_t>(2 * ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            CUDA_CHECK(cudaSetDevice(rank % devices_));
            for (int peer = 0; peer < devices_; ++peer)
                if (peer != rank % devices_) enable(peer);
            const size_t bytes = messages * shared_.capacity * sizeof(float);
            const size_t flags = messages * pieces * sizeof(unsigned);
            CUDA_CHECK(cudaMalloc(&shared_.data[rank], bytes));
            CUDA_CHECK(cudaMalloc(&shared_.flags[rank], flags));
            CUDA_CHECK(cudaMemset(shared_.flags[rank], 0, flags));
            CUDA_CHECK(cudaDeviceSynchronize());
        }
        CUDA_CHECK(cudaSetDevice(0));
        CUDA_CHECK(cudaHostAlloc(&shared_.lost, sizeof(int), cudaHostAllocPortable));
        *shared_.lost = 0;
        each_.assign(static_cast<size_t>(ranks), shared_);
    }
    ~PeerMemory() {
        for (int rank = 0; rank < ranks_; ++rank) {
            (void)cudaSetDevice(rank % devices_);
            (void)cudaFree(shared_.data[rank]);
            (void)cudaFree(shared_.flags[rank]);
        }
        (void)cudaSetDevice(0);
        (void)cudaFreeHost(shared_.lost);
    }
    PeerMemory(const PeerMemory&) = delete;
    PeerMemory& operator=(const PeerMemory&) = delete;

    /// What the rank's calls are given.
    Inboxes* of(int rank) { return &each_[static_cast<size_t>(rank)]; }

 private:
    static void enable(int peer) {
        const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError();
        else
            CUDA_CHECK(error);
    }

    int ranks_;
    int devices_;
    Inboxes shared_;
    std::vector<Inboxes> each_;
};

/// Before the first communicator is made: NCCL connects the ranks then. Else the first
/// sum does (since NCCL 2.22), and waits on the host for a rank that does not come: the
/// call does not return, and finish() is never asked.
///
/// Source   NCCL's user guide, environment variables, NCCL_RUNTIME_CONNECT
[[maybe_unused]] static void connect_at_once() {
    (void)setenv("NCCL_RUNTIME_CONNECT", "0", 0);  // 0: a person's choice stays
}

/// Waits for the rank's stream, but not for a rank that does not come: NCCL's kernels
/// wait for ever. After so many seconds, or when the communicator has an error, the
/// communicator is aborted, which ends them, and rank.comm is null.
///
/// @param is_lost  null, or what the ranks of one process share: true when one of them
///                 gives up. The others do so then, too, and return: ncclCommAbort()
///                 waits for all ranks of its machine.
/// Throws wb::NcclError; wb::CudaError
[[maybe_unused]] static void finish(Rank& rank,
                                    cudaStream_t stream,
                                    double seconds = 8.0,
                                    std::atomic<bool>* is_lost = nullptr) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const auto abort = [&] {
        if (rank.comm) (void)ncclCommAbort(rank.comm);
        rank.comm = nullptr;
    };
    const auto give_up = [&](ncclResult_t error, const std::string& why) {
        const std::string text = "rank " + std::to_string(rank.rank) + " of " +
                                 std::to_string(rank.ranks) + ": " + why;
        if (is_lost) *is_lost = true;
        abort();
        throw wb::NcclError(error, text);
    };
    for (;;) {
        const cudaError_t state = cudaStreamQuery(stream);
        if (state != cudaErrorNotReady) CUDA_CHECK(state);
        ncclResult_t error = ncclSuccess;
        if (rank.comm) NCCL_CHECK(ncclCommGetAsyncError(rank.comm, &error));
        if (error != ncclSuccess && error != ncclInProgress) {
            const char* const said = ncclGetLastError(rank.comm);
            give_up(error, said ? said : ncclGetErrorString(error));
        }
        if (state == cudaSuccess) break;
        if (is_lost && *is_lost) return abort();
        const std::chrono::duration<double> waited = Clock::now() - begin;
        if (waited.count() > seconds)
            give_up(ncclRemoteError,
                    "nothing has come from the other ranks for " +
                        std::to_string(static_cast<int>(seconds)) +
                        " s: has one of them ended, or made another call?");
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    if (!rank.inboxes || !rank.inboxes->lost || *rank.inboxes->lost == 0) return;
    const int silent = *rank.inboxes->lost - 1;  // as one of the ranks has said to all
    give_up(ncclRemoteError,
            silent == rank.rank
                ? "another rank has waited in vain for a message of this one"
                : "no message has come from rank " + std::to_string(silent));
}
