// Which clusters a launch has: by the kernel's attribute, or by the launch's own.

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "cluster.h"
#include "device_model.h"
#include "fault.h"
#include "simt/cluster.h"

namespace simt::detail {
namespace {

constexpr unsigned kPortable = 8;     // blocks of a cluster on every GPU that has them
constexpr unsigned kMostBlocks = 16;  // on an H100
constexpr int kFirstClusterArch = 90;

struct KernelCluster {
    dim3 required = dim3(0);
    bool compiled = false;  // by __cluster_dims__; else by cudaFuncSetAttribute
    bool non_portable = false;
};

struct ClusterTable {
    std::mutex mutex;
    std::unordered_map<const void*, KernelCluster> kernels;
};

ClusterTable& cluster_table() {
    static ClusterTable* const instance = new ClusterTable;
    return *instance;
}

// Most programs know no clusters: their launches look no further.
std::atomic<bool> g_any{false};

KernelCluster cluster_kernel(const void* kernel) {
    if (!g_any.load(std::memory_order_relaxed)) return {};
    ClusterTable& t = cluster_table();
    const std::lock_guard lock(t.mutex);
    const auto it = t.kernels.find(kernel);
    return it == t.kernels.end() ? KernelCluster{} : it->second;
}

template <class F>
void change_kernel(const void* kernel, F f) {
    ClusterTable& t = cluster_table();
    const std::lock_guard lock(t.mutex);
    f(t.kernels[kernel]);
    g_any.store(true, std::memory_order_relaxed);
}

bool same_dim(dim3 a, dim3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

std::string dim_text(dim3 d) {
    return format("%u x %u x %u", d.x, d.y, d.z);
}

/// What is wrong with the launch's clusters, or "".
std::string wrong_with(const Config& c, dim3 cluster, const void* kernel) {
    const dim3 required = required_cluster(kernel);
    if (required.x != 0 && !same_dim(required, cluster))
        return "clusters of " + dim_text(cluster) +
               " blocks, but the kernel's __cluster_dims__ say " + dim_text(required);
    const uint64_t size = uint64_t{cluster.x} * cluster.y * cluster.z;
    if (size == 0) return "clusters of " + dim_text(cluster) + " blocks";
    if (size > kMostBlocks)
        return "clusters of " + std::to_string(size) + " blocks: the device has " +
               std::to_string(kMostBlocks) + " at most";
    if (size > max_cluster_size(kernel))
        return "clusters of " + std::to_string(size) + " blocks: more than " +
               std::to_string(kPortable) +
               " need cudaFuncSetAttribute(kernel, "
               "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)";
    if (c.grid.x % cluster.x || c.grid.y % cluster.y || c.grid.z % cluster.z)
        return "a grid of " + dim_text(c.grid) +
               " blocks is no multiple of clusters of " + dim_text(cluster);
    return "";
}

}  // namespace

bool require_cluster(const void* kernel, dim3 blocks) {
    change_kernel(kernel, [&](KernelCluster& k) {
        k.required = blocks;
        k.compiled = true;
    });
    return true;
}

bool require_cluster_later(const void* kernel, int direction, unsigned blocks) {
    if (cluster_kernel(kernel).compiled) return false;
    change_kernel(kernel, [&](KernelCluster& k) {
        (direction == 0   ? k.required.x
         : direction == 1 ? k.required.y
                          : k.required.z) = blocks;
    });
    return true;
}

dim3 required_cluster(const void* kernel) {
    const dim3 required = cluster_kernel(kernel).required;
    return volume(required) != 0 ? required : dim3(0);
}

void allow_non_portable_cluster(const void* kernel, bool allowed) {
    change_kernel(kernel, [&](KernelCluster& k) { k.non_portable = allowed; });
}

bool allows_non_portable_cluster(const void* kernel) {
    return cluster_kernel(kernel).non_portable;
}

unsigned max_cluster_size(const void* kernel) {
    return cluster_kernel(kernel).non_portable ? kMostBlocks : kPortable;
}

dim3 cluster_of(const Config& config, const void* kernel) {
    if (config.cluster.x != 0) return config.cluster;
    if (!g_any.load(std::memory_order_relaxed)) return dim3(1);
    const dim3 required = required_cluster(kernel);
    return required.x != 0 ? required : dim3(1);
}

bool knows_clusters() {
    return compute_capability() >= kFirstClusterArch;
}

bool has_clusters(const Config& config, const Body& body) {
    const dim3 cluster = cluster_of(config, body.address);
    if (config.cluster.x == 0 && same_dim(cluster, dim3(1))) return true;
    if (!knows_clusters()) {
        if (same_dim(cluster, dim3(1))) return true;
        refuse(cudaErrorNotSupported,
               config,
               body.name,
               format("thread block clusters need compute capability 9.0, and the "
                      "device is of %d.%d: compile with -arch=sm_90",
                      compute_capability() / 10,
                      compute_capability() % 10));
        return false;
    }
    const std::string why = wrong_with(config, cluster, body.address);
    if (why.empty()) return true;
    refuse(cudaErrorInvalidClusterSize, config, body.name, why);
    return false;
}

}  // namespace simt::detail
