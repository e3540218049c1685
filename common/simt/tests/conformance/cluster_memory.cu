// Thread block clusters: their barrier, each other's shared memory, and what is copied
// there asynchronously. They came with compute capability 9.0; on an older GPU these
// checks say nothing.
#include "cluster.h"

using namespace conformance;
namespace cg = cooperative_groups;

namespace {

__device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
/// The same address in another block of the cluster.
__device__ unsigned mapped(unsigned address, unsigned rank) {
    unsigned result = 0;
    PTX_90("mapa.shared::cluster.u32 %0, %1, %2;"
           : "=r"(result)
           : "r"(address), "r"(rank));
    return result;
}

// ---- mbarriers ------------------------------------------------------------------

__device__ void init_barrier(unsigned barrier, unsigned arrivals) {
    PTX_90("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
    PTX_90("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void arrive_at_peer(unsigned barrier) {
    PTX_90("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
           : "memory");
}
__device__ void expect_bytes(unsigned barrier, unsigned bytes) {
    PTX_90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
           "r"(bytes)
           : "memory");
}
__device__ void wait_for(unsigned barrier, unsigned parity) {
    unsigned done = 0;
    while (!done)
        PTX_90(
            "{\n\t.reg .pred p;\n\t"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
            "selp.u32 %0, 1, 0, p;\n\t}"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
}

}  // namespace

// ---- Each other's shared memory -------------------------------------------------

CONFORMANCE(cluster_blocks_read_from_each_other) {
    const auto got = run_clusters<int>(8, 64, 4, 512, [] __device__(int* out) {
        __shared__ int s[64];
        const auto cluster = cg::this_cluster();
        s[threadIdx.x] = blockIdx.x * 64 + threadIdx.x;
        cluster.sync();
        const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
        const int* theirs = cluster.map_shared_rank(s, next);
        out[blockIdx.x * 64 + threadIdx.x] = theirs[63 - threadIdx.x];
        cluster.sync();
    });
    expect_each(got, [](int i) {
        const int block = i / 64;
        return (block / 4 * 4 + (block + 1) % 4) * 64 + 63 - i % 64;
    });
}

CONFORMANCE(cluster_blocks_write_to_each_other) {
    const auto got = run_clusters<int>(4, 32, 2, 128, [] __device__(int* out) {
        __shared__ int s[32];
        const auto cluster = cg::this_cluster();
        cluster.sync();  // the other one has begun
        int* theirs = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
        theirs[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
        cluster.sync();
        out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
    });
    expect_each(got, [](int i) { return 1000 * (i / 32 ^ 1) + i % 32; });
}

CONFORMANCE(cluster_histogram_in_dynamic_shared_memory) {
    const auto got = run_clusters<int>(
        8,
        128,
        4,
        256,
        [] __device__(int* out) {
            extern __shared__ int bins[];
            const auto cluster = cg::this_cluster();
            if (threadIdx.x < 32) bins[threadIdx.x] = 0;
            cluster.sync();
            const int key = (blockIdx.x * 128 + threadIdx.x) % 128;
            atomicAdd(cluster.map_shared_rank(bins, key / 32) + key % 32,
                      1 + int(blockIdx.x));
            cluster.sync();
            if (threadIdx.x < 32)
                out[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x];
        },
        32 * sizeof(int));
    expect_each(got, [](int i) { return i < 128 ? 1 + 2 + 3 + 4 : 5 + 6 + 7 + 8; });
}

CONFORMANCE(cluster_ranks_of_addresses) {
    const auto got = run_clusters<int>(4, 1, 4, 4, [] __device__(int* out) {
        __shared__ int s[8];
        const auto cluster = cg::this_cluster();
        int sum = 100 * cluster.query_shared_rank(s);
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
            sum +=
                cluster.query_shared_rank(cluster.map_shared_rank(s + 5, rank)) == rank;
        out[blockIdx.x] = sum;
        cluster.sync();
    });
    expect_each(got, [](int i) { return 100 * i + 4; });
}

CONFORMANCE(cluster_barrier_in_two_halves) {
    const auto got = run_clusters<int>(4, 64, 4, 256, [] __device__(int* out) {
        __shared__ int s[64];
        const auto cluster = cg::this_cluster();
        int sum = 0;
        for (int round = 0; round < 3; ++round) {
            s[threadIdx.x] = 10 * round + int(blockIdx.x);
            cluster.barrier_arrive();
            const unsigned far = (cluster.block_rank() + 2) % 4;
            const int* theirs = cluster.map_shared_rank(s, far);
            cluster.barrier_wait();
            sum += theirs[threadIdx.x ^ 32];
            cluster.sync();
        }
        out[blockIdx.x * 64 + threadIdx.x] = sum;
    });
    expect_each(got, [](int i) { return 30 + 3 * ((i / 64 + 2) % 4); });
}

CONFORMANCE(cluster_barrier_of_ptx) {
    const auto got = run_clusters<int>(2, 64, 2, 128, [] __device__(int* out) {
        __shared__ int s[64];
        s[threadIdx.x] = 64 * blockIdx.x + threadIdx.x;
        PTX_90("barrier.cluster.arrive.release.aligned;" ::: "memory");
        PTX_90("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        int theirs = 0;
        PTX_90("ld.shared::cluster.s32 %0, [%1];"
               : "=r"(theirs)
               : "r"(mapped(shared_address(&s[63 - threadIdx.x]), blockIdx.x ^ 1)));
        out[blockIdx.x * 64 + threadIdx.x] = theirs;
        PTX_90("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
        PTX_90("barrier.cluster.wait.aligned;" ::: "memory");
    });
    expect_each(got, [](int i) { return 64 * (i / 64 ^ 1) + 63 - i % 64; });
}

CONFORMANCE(cluster_stores_of_ptx) {
    const auto got = run_clusters<int>(2, 32, 2, 64, [] __device__(int* out) {
        __shared__ int s[32];
        cg::this_cluster().sync();
        const unsigned to = mapped(shared_address(s), blockIdx.x ^ 1);
        PTX_90("st.shared::cluster.s32 [%0], %1;" ::"r"(to + 4 * threadIdx.x),
               "r"(int(100 * blockIdx.x + threadIdx.x))
               : "memory");
        cg::this_cluster().sync();
        out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
    });
    expect_each(got, [](int i) { return 100 * (i / 32 ^ 1) + i % 32; });
}

CONFORMANCE(cluster_orders_global_memory) {
    const auto got = run_clusters<int>(4, 32, 2, 256, [] __device__(int* out) {
        const auto cluster = cg::this_cluster();
        const unsigned first = blockIdx.x / 2 * 64;
        out[blockIdx.x * 32 + threadIdx.x] = cluster.thread_rank();
        cluster.sync();
        out[128 + blockIdx.x * 32 + threadIdx.x] =
            out[first + 63 - cluster.thread_rank()];
    });
    expect_each(got, [](int i) { return i < 128 ? i % 64 : 63 - i % 64; });
}

// ---- Asynchronous ---------------------------------------------------------------

CONFORMANCE(cluster_blocks_arrive_at_each_others_mbarriers) {
    const auto got = run_clusters<int>(4, 32, 4, 128, [] __device__(int* out) {
        __shared__ alignas(8) unsigned long long bar;
        __shared__ int s[32];
        const auto cluster = cg::this_cluster();
        const unsigned mine = shared_address(&bar);
        if (threadIdx.x == 0) init_barrier(mine, 32 * 4);
        cluster.sync();
        const unsigned next = (cluster.block_rank() + 1) % 4;
        cluster.map_shared_rank(s, next)[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
        for (unsigned rank = 0; rank < 4; ++rank)
            arrive_at_peer(mapped(mine, rank));
        wait_for(mine, 0);
        out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
        cluster.sync();
    });
    expect_each(got, [](int i) { return 100 * ((i / 32 + 3) % 4) + 31 - i % 32; });
}

CONFORMANCE(cluster_words_that_an_mbarrier_counts) {
    const auto got = run_clusters<int>(2, 32, 2, 64, [] __device__(int* out) {
        __shared__ alignas(8) unsigned long long bar;
        __shared__ alignas(16) int s[32];
        const unsigned mine = shared_address(&bar);
        if (threadIdx.x == 0) {
            init_barrier(mine, 1);
            expect_bytes(mine, sizeof s);
        }
        cg::this_cluster().sync();
        const unsigned peer = blockIdx.x ^ 1;
        PTX_90(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
            "[%0], %1, [%2];" ::"r"(mapped(shared_address(&s[threadIdx.x]), peer)),
            "r"(100 * blockIdx.x + threadIdx.x),
            "r"(mapped(mine, peer))
            : "memory");
        wait_for(mine, 0);
        out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
        cg::this_cluster().sync();
    });
    expect_each(got, [](int i) { return 100 * (i / 32 ^ 1) + i % 32; });
}

CONFORMANCE(cluster_bulk_copy_to_a_peer) {
    const auto got = run_clusters<int>(2, 32, 2, 64, [] __device__(int* out) {
        __shared__ alignas(8) unsigned long long bar;
        __shared__ alignas(128) int from[32], to[32];
        const unsigned mine = shared_address(&bar);
        from[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
        PTX_90("fence.proxy.async.shared::cta;" ::: "memory");
        if (threadIdx.x == 0) {
            init_barrier(mine, 1);
            expect_bytes(mine, sizeof to);
        }
        cg::this_cluster().sync();
        const unsigned peer = blockIdx.x ^ 1;
        if (threadIdx.x == 0)
            PTX_90(
                "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
                "bytes [%0], [%1], %2, [%3];" ::"r"(mapped(shared_address(to), peer)),
                "r"(shared_address(from)),
                "r"(128),
                "r"(mapped(mine, peer))
                : "memory");
        wait_for(mine, 0);
        out[blockIdx.x * 32 + threadIdx.x] = to[threadIdx.x];
        cg::this_cluster().sync();
    });
    expect_each(got, [](int i) { return 100 * (i / 32 ^ 1) + i % 32; });
}

// Block 0 has its row copied to blocks 0, 1 and 3.
CONFORMANCE(cluster_bulk_copy_to_several_blocks) {
    const auto got = run_clusters<int>(4, 32, 4, 160, [] __device__(int* out) {
        __shared__ alignas(8) unsigned long long bar;
        __shared__ alignas(128) int to[32];
        const unsigned mine = shared_address(&bar), rank = blockIdx.x;
        if (rank == 0) out[128 + threadIdx.x] = 7 * threadIdx.x;
        to[threadIdx.x] = -1;
        PTX_90("fence.proxy.async;" ::: "memory");
        if (threadIdx.x == 0) {
            init_barrier(mine, 1);
            if (rank != 2) expect_bytes(mine, sizeof to);
        }
        cg::this_cluster().sync();
        if (rank == 0 && threadIdx.x == 0)
            PTX_90(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                    shared_address(to)),
                "l"(out + 128),
                "r"(128),
                "r"(mine),
                "h"(static_cast<unsigned short>(0xb))
                : "memory");
        if (rank != 2) wait_for(mine, 0);
        cg::this_cluster().sync();
        out[rank * 32 + threadIdx.x] = to[threadIdx.x];
    });
    expect_each(got, [](int i) { return i / 32 == 2 ? -1 : 7 * (i % 32); });
}
