// Occupancy, from the device model: threads, block slots, registers (32 a thread are
// assumed) and shared memory limit how many blocks a multiprocessor holds.

#include "occupancy.h"

#include <algorithm>
#include <cstdint>

#include "call.h"
#include "core/cluster.h"
#include "core/device_model.h"
#include "core/kernel_attributes.h"
#include "kernel_operation.h"
#include "simt/api/kernel.h"

namespace simt::detail {
namespace {

// Registers and shared memory are handed out in units: registers by the warp, shared
// memory in these many bytes.
constexpr size_t kSharedUnit = 128;

size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

size_t shared_of_block(size_t shared_bytes) {
    return round_up(shared_bytes, kSharedUnit) +
           device_model().reserved_shared_per_block();
}

int warps_of_block(int block_size) {
    return (block_size + DeviceModel::kWarpSize - 1) / DeviceModel::kWarpSize;
}

// An H100's graphics processing clusters: the blocks of a cluster run on one of them.
constexpr int kGpcs = 8;

/// Clusters of `size` blocks that run at once. The multiprocessors are spread evenly
/// over the GPCs, two by two, which is how they are switched off.
int active_clusters(int blocks_per_sm, unsigned size) {
    const int pairs = multiprocessors() / 2;
    int clusters = 0;
    for (int gpc = 0; gpc < kGpcs; ++gpc) {
        const int sms = 2 * (pairs / kGpcs + (gpc < pairs % kGpcs));
        clusters += sms * blocks_per_sm / static_cast<int>(size);
    }
    return clusters;
}

/// The arguments of the two queries about clusters.
struct ClusterQuery {
    dim3 cluster = dim3(1);
    int threads = 0, most_threads = 0;
    size_t shared_bytes = 0;
    bool needs_size = true;

    cudaError_t read(int* result, const void* function,
                     const cudaLaunchConfig_t* config) {
        if (!result || !config || (config->numAttrs > 0 && !config->attrs))
            return cudaErrorInvalidValue;
        if (!is_kernel(function)) return not_a_kernel(function);
        const dim3 required = required_cluster(function);
        bool given = false;
        for (unsigned i = 0; i < config->numAttrs; ++i) {
            if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
            const auto& dim = config->attrs[i].val.clusterDim;
            cluster = dim3(dim.x, dim.y, dim.z);
            given = true;
        }
        // CUDA leaves open what it answers where there are no clusters.
        if (!knows_clusters()) {
            shared_bytes = SIZE_MAX;
            return given ? cudaErrorInvalidClusterSize : cudaSuccess;
        }
        if (!given) cluster = required.x != 0 ? required : dim3(1);
        const bool differs = cluster.x != required.x || cluster.y != required.y ||
                             cluster.z != required.z;
        if (needs_size && ((required.x != 0 && differs) || volume(cluster) == 0 ||
                           volume(cluster) > max_cluster_size(function)))
            return cudaErrorInvalidClusterSize;
        if (needs_size && !given && required.x == 0) return cudaErrorInvalidValue;
        threads = static_cast<int>(volume(config->blockDim));
        most_threads = max_threads(function);
        shared_bytes = config->dynamicSmemBytes;
        return cudaSuccess;
    }
    bool fits(size_t most) const {
        return threads > 0 && threads <= most_threads && shared_bytes <= most &&
               blocks_per_sm() > 0;
    }
    int blocks_per_sm() const {
        return blocks_per_multiprocessor(threads, shared_bytes);
    }
};

bool is_block_size(int size, const void* function) {
    return size > 0 && size <= max_threads(function);
}

}  // namespace

int blocks_per_multiprocessor(int block_size, size_t shared_bytes) {
    const DeviceModel& model = device_model();
    if (shared_bytes > shared_per_block_optin()) return 0;
    const int threads = warps_of_block(block_size) * DeviceModel::kWarpSize;
    int blocks = std::min(model.max_blocks_per_sm, model.max_threads_per_sm / threads);
    const int registers = threads * DeviceModel::kAssumedRegistersPerThread;
    blocks = std::min(blocks, DeviceModel::kRegistersPerSm / registers);
    const size_t shared = shared_of_block(shared_bytes);
    if (shared > 0)
        blocks = std::min(blocks, static_cast<int>(model.shared_per_sm / shared));
    return blocks;
}

bool fits_cooperatively(dim3 grid, dim3 block, size_t shared_bytes) {
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (threads == 0 || threads > DeviceModel::kMaxThreadsPerBlock) return true;
    const int per_sm =
        blocks_per_multiprocessor(static_cast<int>(threads), shared_bytes);
    const uint64_t resident = uint64_t(per_sm) * multiprocessors();
    return uint64_t{grid.x} * grid.y * grid.z <= resident;
}

OccupancySearch::OccupancySearch(const void* function, int limit)
    : function_(function), limit_(limit) {
    const int most = max_threads(function);
    if (limit_ < 0)
        error_ = cudaErrorInvalidValue;
    else if (!is_kernel(function))
        error_ = not_a_kernel(function);
    if (limit_ == 0 || limit_ > most) limit_ = most;
    size_ = 0;
}

bool OccupancySearch::next() {
    if (error_ != cudaSuccess) return false;
    constexpr int kWarp = DeviceModel::kWarpSize;
    // The first size is the limit itself, the others are whole warps.
    size_ = size_ == 0 ? limit_ : (size_ - 1) / kWarp * kWarp;
    return size_ > 0;
}

void OccupancySearch::consider(size_t shared_bytes, unsigned int) {
    if (shared_bytes > max_dynamic_smem(function_)) return;
    const int blocks = blocks_per_multiprocessor(size_, shared_bytes);
    if (blocks * size_ <= best_blocks_ * best_size_) return;
    best_blocks_ = blocks;
    best_size_ = size_;
}

cudaError_t OccupancySearch::result(int* min_grid, int* block) const {
    return api_call([&] {
        if (error_ != cudaSuccess) return error_;
        *block = best_size_;
        *min_grid = best_blocks_ * multiprocessors();
        return cudaSuccess;
    });
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int block_size,
                                                                   size_t shared_bytes,
                                                                   unsigned int flags) {
    return api_call([&] {
        if (!blocks || block_size <= 0 ||
            (flags & ~cudaOccupancyDisableCachingOverride))
            return cudaErrorInvalidValue;
        if (!is_kernel(function)) return not_a_kernel(function);
        // An H100 counts blocks also where __launch_bounds__ refuse the launch.
        const bool launchable = block_size <= DeviceModel::kMaxThreadsPerBlock &&
                                shared_bytes <= max_dynamic_smem(function);
        *blocks = launchable ? blocks_per_multiprocessor(block_size, shared_bytes) : 0;
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          const void* function,
                                                          int block_size,
                                                          size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, function, block_size, shared_bytes, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                      const void* function, int blocks,
                                                      int block_size) {
    return api_call([&] {
        const DeviceModel& model = device_model();
        if (!bytes || blocks <= 0 || !is_block_size(block_size, function))
            return cudaErrorInvalidValue;
        if (!is_kernel(function)) return not_a_kernel(function);
        if (blocks > blocks_per_multiprocessor(block_size, 0))
            return cudaErrorInvalidValue;
        const size_t share = model.shared_per_sm / static_cast<size_t>(blocks) /
                             kSharedUnit * kSharedUnit;
        const size_t reserved = model.reserved_shared_per_block();
        const size_t left = share > reserved ? share - reserved : 0;
        *bytes = std::min(left, shared_per_block_optin());
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
    return api_call([&] {
        ClusterQuery query;
        if (const cudaError_t error = query.read(clusters, function, config))
            return error;
        *clusters = query.fits(max_dynamic_smem(function))
                        ? active_clusters(query.blocks_per_sm(), volume(query.cluster))
                        : 0;
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
    return api_call([&] {
        ClusterQuery query;
        query.needs_size = false;
        if (const cudaError_t error = query.read(size, function, config)) return error;
        const dim3 required = required_cluster(function);
        const bool fits = query.fits(max_dynamic_smem(function));
        *size = !fits             ? 0
                : required.x != 0 ? static_cast<int>(volume(required))
                                  : static_cast<int>(max_cluster_size(function));
        return cudaSuccess;
    });
}
