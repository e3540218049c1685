// Thread block clusters: the shared memory of other blocks.
#include "planted.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;
using planted::numbered;
using planted::zeros;

// Nothing says that the peer has begun, nor that it has written its half.
__global__ void __cluster_dims__(2) read_early(const int* x, int* out) {
    __shared__ int s[32];
    const auto cluster = cg::this_cluster();
    s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    const int* peer = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    const int theirs = peer[threadIdx.x];  // peer_read_before_the_cluster_has_met
    out[blockIdx.x * 32 + threadIdx.x] = theirs;
    cluster.sync();
}
PLANTED(race, peer_read_before_the_cluster_has_met) {
    read_early<<<4, 32>>>(numbered<int>(128), zeros<int>(128));
}

// The second round overwrites what the peer may still be reading.
__global__ void __cluster_dims__(2) two_rounds(const int* x, int* out) {
    __shared__ int s[32];
    const auto cluster = cg::this_cluster();
    const int* peer = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    int sum = 0;
    for (int round = 0; round < 2; ++round) {
        s[threadIdx.x] = x[round * 32 + threadIdx.x];  // cluster_round_without_sync
        cluster.sync();
        sum += peer[31 - threadIdx.x];  // cluster_round_without_sync
        __syncthreads();
    }
    out[blockIdx.x * 32 + threadIdx.x] = sum;
    cluster.sync();
}
PLANTED(race, cluster_round_without_sync) {
    two_rounds<<<2, 32>>>(numbered<int>(64), zeros<int>(64));
}

// A block ends, and its shared memory with it, while its peer reads.
__global__ void __cluster_dims__(2) end_early(const int* x, int* out) {
    __shared__ int s[32];
    const auto cluster = cg::this_cluster();
    s[threadIdx.x] = x[threadIdx.x];
    cluster.sync();
    const int* peer = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = peer[threadIdx.x];  // end_before_the_peer
}
PLANTED(use_after_free, end_before_the_peer) {
    end_early<<<2, 32>>>(numbered<int>(32), zeros<int>(64));
}

// Between the halves of the barrier nothing is ordered.
__global__ void __cluster_dims__(2) read_between(const int* x, int* out) {
    __shared__ int s[32];
    const auto cluster = cg::this_cluster();
    cluster.sync();
    s[threadIdx.x] = x[threadIdx.x];  // peer_read_between_the_halves
    const int* peer = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    cluster.barrier_arrive();
    const int theirs = peer[threadIdx.x];  // peer_read_between_the_halves
    cluster.barrier_wait();
    out[blockIdx.x * 32 + threadIdx.x] = theirs;
    cluster.sync();
}
PLANTED(race, peer_read_between_the_halves) {
    read_between<<<2, 32>>>(numbered<int>(32), zeros<int>(64));
}

__global__ void __cluster_dims__(2) update(int* out) {
    __shared__ int total;
    const auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) total = 0;
    cluster.sync();
    *cluster.map_shared_rank(&total, 0) += 1;  // non_atomic_update_of_a_peer
    cluster.sync();
    out[blockIdx.x] = total;
}
PLANTED(race, non_atomic_update_of_a_peer) {
    update<<<2, 32>>>(zeros<int>(2));
}

__global__ void __cluster_dims__(2) in_a_branch() {
    const auto cluster = cg::this_cluster();
    if (threadIdx.x < 32) {
        cluster.sync();  // cluster_sync_in_a_branch
    } else {
        cluster.sync();  // cluster_sync_in_a_branch
    }
}
PLANTED(divergent_barrier, cluster_sync_in_a_branch) {
    in_a_branch<<<2, 64>>>();
}

__global__ void __cluster_dims__(2) missing(unsigned n) {
    const auto cluster = cg::this_cluster();
    if (threadIdx.x >= n) return;
    cluster.sync();  // return_before_cluster_sync
}
PLANTED(divergent_barrier, return_before_cluster_sync) {
    missing<<<2, 64>>>(40);
}

// Each block waits at its own mbarrier for an arrival of the other; block 1 forgets
// that its barrier is not the only one.
__device__ void wait_for_peer(bool forget) {
    __shared__ alignas(8) unsigned long long bar;
    const unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mine));
    cg::this_cluster().sync();
    const unsigned rank = cg::this_cluster().block_rank();
    if (threadIdx.x == 0 && !(forget && rank == 1)) {
        unsigned theirs;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(theirs)
                     : "r"(mine), "r"(rank ^ 1));
        asm volatile(
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                theirs));
    }
    asm volatile(  // missing_remote_arrival
        "{\n\t.reg .pred P;\n\tLAB_WAIT:\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%0], %1;\n\t"
        "@P bra DONE;\n\tbra LAB_WAIT;\n\tDONE:\n\t}" ::"r"(mine),
        "r"(0));
}
__global__ void __cluster_dims__(2) forgetful() {
    wait_for_peer(true);
}
PLANTED(deadlock, missing_remote_arrival) {
    forgetful<<<2, 32>>>();
}

// ---- Correct --------------------------------------------------------------------

__global__ void __cluster_dims__(2) with_remote_arrivals(const int* x, int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    wait_for_peer(false);
    const auto cluster = cg::this_cluster();
    const int* peer = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = peer[threadIdx.x];
    cluster.sync();
}
PLANTED(none, cluster_with_remote_arrivals) {
    with_remote_arrivals<<<4, 32>>>(numbered<int>(128), zeros<int>(128));
}

template <int kBlocks>
__global__ void __cluster_dims__(kBlocks, 1, 1) histogram(const int* keys, int* out) {
    extern __shared__ int bins[];
    const auto cluster = cg::this_cluster();
    bins[threadIdx.x] = 0;
    cluster.sync();
    const int key = keys[blockIdx.x * 64 + threadIdx.x] * 9;
    atomicAdd(cluster.map_shared_rank(bins, key / 32 % kBlocks) + key % 32, 1);
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}
PLANTED(none, cluster_histogram) {
    histogram<4><<<8, 64, 256>>>(numbered<int>(512), zeros<int>(512));
}

__global__ void __cluster_dims__(2, 2, 1) in_halves(const int* x, int* out) {
    __shared__ int s[64];
    const auto cluster = cg::this_cluster();
    s[threadIdx.x] = x[threadIdx.x];
    cluster.barrier_arrive();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    const int* peer = cluster.map_shared_rank(s, next);
    cluster.barrier_wait();
    const int mine = peer[63 - threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned;\n" ::: "memory");
    out[cluster.thread_rank()] = mine;
    asm volatile("barrier.cluster.wait.aligned;\n" ::: "memory");
    s[threadIdx.x] = 0;
}
PLANTED(none, cluster_barrier_in_halves) {
    in_halves<<<dim3(2, 2), 64>>>(numbered<int>(64), zeros<int>(256));
}
