// What the checks of thread block clusters share: launches of clusters, and what stands
// for their code where it is compiled for older GPUs.
#pragma once

#include "conformance.h"

#include <cooperative_groups.h>

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

namespace conformance {

/// Whether the GPU has clusters: if not, a check has nothing to say.
inline bool has_clusters() {
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

}  // namespace conformance
