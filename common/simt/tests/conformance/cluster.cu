// Thread block clusters: their ranks, their barrier, and each other's shared memory.
// They came with compute capability 9.0; on an older GPU these checks say nothing.
#include "conformance.h"

#include <cooperative_groups.h>

using namespace conformance;
namespace cg = cooperative_groups;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CLUSTERS_OF(...) __cluster_dims__(__VA_ARGS__)
#define PTX_90(...) asm volatile(__VA_ARGS__)
#else
// Code for older GPUs has to compile, and never runs.
#define CLUSTERS_OF(...)
#define PTX_90(...)
namespace cooperative_groups {
struct cluster_group {
    __device__ void sync() const {}
    __device__ int barrier_arrive() const { return 0; }
    __device__ void barrier_wait() const {}
    __device__ unsigned block_rank() const { return 0; }
    __device__ unsigned num_blocks() const { return 1; }
    __device__ unsigned thread_rank() const { return 0; }
    __device__ unsigned num_threads() const { return 1; }
    __device__ dim3 block_index() const { return {}; }
    __device__ dim3 dim_blocks() const { return {}; }
    __device__ dim3 dim_threads() const { return {}; }
    __device__ dim3 thread_index() const { return {}; }
    __device__ unsigned query_shared_rank(const void*) const { return 0; }
    template <class T>
    __device__ T* map_shared_rank(T* address, int) const {
        return address;
    }
};
inline __device__ cluster_group this_cluster() {
    return {};
}
}  // namespace cooperative_groups
#endif

namespace {

bool has_clusters() {
    int has = 0;
    ok(cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, 0));
    return has != 0;
}

/// A launch whose clusters are given with it.
template <class... P, class... A>
cudaError_t launch(
    void (*kernel)(P...), dim3 grid, dim3 block, dim3 cluster, int shared, A... args) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = static_cast<std::size_t>(shared);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster.x;
    attribute[0].val.clusterDim.y = cluster.y;
    attribute[0].val.clusterDim.z = cluster.z;
    config.attrs = attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, args...);
}

/// As conformance::run, in clusters. Nothing on a GPU without.
template <class T, class F>
std::vector<T> run_clusters(
    dim3 grid, dim3 block, dim3 cluster, int count, F body, int shared = 0) {
    if (!has_clusters()) return {};
    T* out = nullptr;
    ok(cudaMalloc(&out, sizeof(T) * static_cast<std::size_t>(count)));
    ok(cudaMemset(out, 0, sizeof(T) * static_cast<std::size_t>(count)));
    ok(launch(run_kernel<T, F>, grid, block, cluster, shared, out, body));
    ok(cudaDeviceSynchronize());
    std::vector<T> result(static_cast<std::size_t>(count));
    ok(cudaMemcpy(result.data(), out, sizeof(T) * result.size(), cudaMemcpyDefault));
    ok(cudaFree(out));
    return result;
}

/// The same for a kernel that says itself which clusters it wants.
template <class Kernel>
std::vector<int> run_kernel_of(Kernel kernel, dim3 grid, dim3 block, int count) {
    if (!has_clusters()) return {};
    int* out = nullptr;
    ok(cudaMalloc(&out, sizeof(int) * static_cast<std::size_t>(count)));
    kernel<<<grid, block>>>(out);
    ok(cudaGetLastError());
    ok(cudaDeviceSynchronize());
    std::vector<int> result(static_cast<std::size_t>(count));
    ok(cudaMemcpy(result.data(), out, sizeof(int) * result.size(), cudaMemcpyDefault));
    ok(cudaFree(out));
    return result;
}

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

// ---- Ranks ----------------------------------------------------------------------

CONFORMANCE(clusters_are_an_ability_of_the_device) {
    cudaDeviceProp prop;
    ok(cudaGetDeviceProperties(&prop, 0));
    expect_equal(prop.clusterLaunch, prop.major >= 9 ? 1 : 0);
}

CONFORMANCE(without_clusters_each_block_is_one) {
    if (!has_clusters()) return;
    const auto got = run<int>(4, 32, 4, [] __device__(int* out) {
        const auto cluster = cg::this_cluster();
        if (threadIdx.x == 0)
            out[blockIdx.x] = 100 * cluster.num_blocks() + cluster.block_rank();
    });
    expect_each(got, [](int) { return 100; });
}

CONFORMANCE(cluster_ranks_count_x_first) {
    const auto got =
        run_clusters<int>(dim3(4, 4, 2), 1, dim3(2, 2, 2), 32, [] __device__(int* out) {
            const int block = (blockIdx.z * 4 + blockIdx.y) * 4 + blockIdx.x;
            const auto cluster = cg::this_cluster();
            out[block] = 10 * cluster.block_rank() + cluster.num_blocks();
        });
    expect_each(
        got, [](int i) { return 10 * (i % 2 + 2 * (i / 4 % 2) + 4 * (i / 16)) + 8; });
}

CONFORMANCE(cluster_places_of_blocks) {
    const auto got =
        run_clusters<int>(dim3(6, 4), 1, dim3(3, 2), 24, [] __device__(int* out) {
            const auto cluster = cg::this_cluster();
            const dim3 at = cluster.block_index(), size = cluster.dim_blocks();
            out[blockIdx.y * 6 + blockIdx.x] =
                1000 * size.x + 100 * size.y + 10 * at.x + at.y;
        });
    expect_each(got, [](int i) { return 3200 + 10 * (i % 6 % 3) + i / 6 % 2; });
}

CONFORMANCE(cluster_ranks_of_threads) {
    const auto got =
        run_clusters<int>(dim3(4), dim3(8, 2), dim3(4), 64, [] __device__(int* out) {
            const auto cluster = cg::this_cluster();
            out[cluster.thread_rank()] = cluster.num_threads() * 100 + blockIdx.x * 16 +
                                         threadIdx.y * 8 + threadIdx.x;
        });
    expect_each(got, [](int i) { return 6400 + i; });
}

CONFORMANCE(cluster_intrinsics) {
    const auto got =
        run_clusters<int>(dim3(4, 2), 1, dim3(2, 1), 8, [] __device__(int* out) {
            int value = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
            const dim3 grid = __clusterGridDimInClusters(), at = __clusterIdx();
            value = grid.x * 100000 + grid.y * 10000 + at.x * 1000 + at.y * 100 +
                    __clusterRelativeBlockIdx().x * 10 + __clusterSizeInBlocks() +
                    __clusterDimIsSpecified() + __clusterDim().x +
                    __clusterRelativeBlockRank();
#endif
            out[blockIdx.y * 4 + blockIdx.x] = value;
        });
    expect_each(got, [](int i) {
        const int x = i % 4, y = i / 4;
        return 220000 + x / 2 * 1000 + y * 100 + x % 2 * 10 + 5 + x % 2;
    });
}

CONFORMANCE(cluster_special_registers) {
    const auto got =
        run_clusters<int>(dim3(4, 2), 1, dim3(2, 2), 8, [] __device__(int* out) {
            unsigned rank = 0, size = 0, x = 0, clusters = 0;
            PTX_90("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
            PTX_90("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
            PTX_90("mov.u32 %0, %%clusterid.x;" : "=r"(x));
            PTX_90("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
            out[blockIdx.y * 4 + blockIdx.x] =
                rank * 1000 + size * 100 + x * 10 + clusters;
        });
    expect_each(got, [](int i) {
        return (i % 2 + 2 * (i / 4)) * 1000 + 400 + i % 4 / 2 * 10 + 2;
    });
}

__global__ void CLUSTERS_OF(2, 1, 1) pairs(int* out) {
    const auto cluster = cg::this_cluster();
    out[blockIdx.x] = cluster.num_blocks() * 10 + cluster.block_rank();
}
CONFORMANCE(cluster_size_of_the_kernel) {
    const auto got = run_kernel_of(pairs, 6, 1, 6);
    expect_each(got, [](int i) { return 20 + i % 2; });
}

template <class T, int kBlocks>
__global__ void __launch_bounds__(64) CLUSTERS_OF(kBlocks) groups_of(T* out) {
    const auto cluster = cg::this_cluster();
    out[blockIdx.x] = cluster.num_blocks() * 10 + cluster.block_rank();
}
CONFORMANCE(cluster_size_of_a_template) {
    const auto threes = run_kernel_of(groups_of<int, 3>, 6, 1, 6);
    expect_each(threes, [](int i) { return 30 + i % 3; });
    const auto fours = run_kernel_of(groups_of<int, 4>, 8, 1, 8);
    expect_each(fours, [](int i) { return 40 + i % 4; });
}

CONFORMANCE(cluster_size_of_the_kernel_is_an_attribute) {
    if (!has_clusters()) return;
    cudaFuncAttributes attributes;
    ok(cudaFuncGetAttributes(&attributes, groups_of<int, 3>));
    expect_equal(attributes.requiredClusterWidth, 3);
    expect_equal(attributes.requiredClusterHeight, 1);
    expect_equal(attributes.requiredClusterDepth, 1);
}

// ---- Launches -------------------------------------------------------------------

__global__ void ranks_only(int* out) {
    if (out) out[blockIdx.x] = cg::this_cluster().block_rank();
}

CONFORMANCE(cluster_sizes_that_a_launch_may_have) {
    if (!has_clusters()) return;
    const auto try_size = [](int grid, int blocks) {
        return launch(ranks_only, dim3(grid), 32, dim3(blocks), 0, (int*)nullptr);
    };
    ok(try_size(8, 8));
    ok(try_size(7, 7));
    expect_error(try_size(7, 2), cudaErrorInvalidClusterSize);
    expect_error(try_size(16, 16), cudaErrorInvalidClusterSize);
    pairs<<<3, 1>>>(nullptr);
    expect_error(cudaGetLastError(), cudaErrorInvalidClusterSize);
    ok(cudaDeviceSynchronize());
}

__global__ void large(int* out) {
    if (threadIdx.x == 0) out[blockIdx.x] = cg::this_cluster().block_rank();
}
CONFORMANCE(cluster_of_sixteen_blocks_if_allowed) {
    if (!has_clusters()) return;
    ok(cudaFuncSetAttribute(large, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int* out = nullptr;
    ok(cudaMallocManaged(&out, 32 * sizeof(int)));
    ok(launch(large, dim3(32), 32, dim3(16), 0, out));
    ok(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i)
        expect_equal(out[i], i % 16);
    ok(cudaFree(out));
}

CONFORMANCE(cluster_occupancy) {
    if (!has_clusters()) return;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(128);
    int size = 0, clusters = 0;
    ok(cudaOccupancyMaxPotentialClusterSize(&size, ranks_only, &config));
    expect_equal(size, 8);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    ok(cudaOccupancyMaxActiveClusters(&clusters, ranks_only, &config));
    require(clusters >= 2, "at least two clusters of four small blocks run at once");
}

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
