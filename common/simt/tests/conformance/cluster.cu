// Thread block clusters: the ranks of their blocks and threads, and which launches
// there may be. They came with compute capability 9.0; on an older GPU these checks say
// nothing.
#include "cluster.h"

using namespace conformance;
namespace cg = cooperative_groups;

namespace {

/// run_clusters() of a kernel that says itself which clusters it wants.
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
