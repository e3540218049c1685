// What a kernel's launches may ask for: dynamic shared memory, threads.

#include "kernel_attributes.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "cluster.h"
#include "device_model.h"
#include "devices.h"
#include "fault.h"
#include "simt/requirements.h"

namespace simt::detail {
namespace {

struct Attributes {
    long long max_threads = 0;  // 0: as many as the device allows
    long long max_cluster = 0;
};

struct AttributeTable {
    std::mutex mutex;
    std::unordered_map<const void*, Attributes> kernels;
    std::map<std::pair<const void*, int>, size_t> dynamic;  // on each device
    size_t largest = kDefaultDynamic;  // for kernels whose address is not known
};

AttributeTable& attribute_table() {
    static AttributeTable* const instance = new AttributeTable;
    return *instance;
}

// Launches of a program without any __launch_bounds__ look no further.
std::atomic<bool> g_any_bounds{false};

Attributes attributes_of(const void* kernel) {
    AttributeTable& t = attribute_table();
    const std::lock_guard lock(t.mutex);
    const auto it = t.kernels.find(kernel);
    return it == t.kernels.end() ? Attributes{} : it->second;
}

std::string too_many(uint64_t threads, long long most) {
    return format("%llu threads a block, but the kernel's __launch_bounds__ allow %lld",
                  static_cast<unsigned long long>(threads),
                  most);
}

}  // namespace

size_t max_dynamic_smem(const void* kernel) {
    AttributeTable& t = attribute_table();
    const std::lock_guard lock(t.mutex);
    if (!kernel) return t.largest;
    const auto it = t.dynamic.find({kernel, current_device()});
    return it == t.dynamic.end() ? kDefaultDynamic : it->second;
}

bool set_max_dynamic_smem(const void* kernel, size_t bytes) {
    if (bytes > shared_per_block_optin()) return false;
    AttributeTable& t = attribute_table();
    const std::lock_guard lock(t.mutex);
    t.dynamic[{kernel, current_device()}] = std::max(bytes, kDefaultDynamic);
    t.largest = std::max(t.largest, bytes);
    return true;
}

bool require_bounds(const void* kernel,
                    long long max_threads,
                    long long,
                    long long max_cluster) {
    AttributeTable& t = attribute_table();
    const std::lock_guard lock(t.mutex);
    t.kernels[kernel].max_threads = max_threads;
    t.kernels[kernel].max_cluster = max_cluster;
    g_any_bounds.store(true, std::memory_order_relaxed);
    return true;
}

void expect_bounds(long long max_threads, long long, long long) {
    Worker* w = worker;
    if (!w || !w->thread || max_threads <= 0) return;
    const Config& config = *w->launch->config;
    const uint64_t threads = volume(config.block);
    if (threads <= static_cast<uint64_t>(max_threads)) [[likely]]
        return;
    w->in_runtime = true;
    w->abandon(make_fault(*w,
                          cudaErrorInvalidValue,
                          config.file,
                          config.line,
                          too_many(threads, max_threads)));
}

int max_threads(const void* kernel) {
    const long long bound = attributes_of(kernel).max_threads;
    constexpr int kMost = DeviceModel::kMaxThreadsPerBlock;
    return bound > 0 && bound < kMost ? static_cast<int>(bound) : kMost;
}

bool keeps_bounds(const Config& config, const Body& body) {
    if (!body.address || !g_any_bounds.load(std::memory_order_relaxed)) return true;
    const Attributes a = attributes_of(body.address);
    const uint64_t threads = volume(config.block);
    if (a.max_threads > 0 && threads > static_cast<uint64_t>(a.max_threads)) {
        refuse(
            cudaErrorInvalidValue, config, body.name, too_many(threads, a.max_threads));
        return false;
    }
    const uint64_t blocks = volume(cluster_of(config, body.address));
    if (a.max_cluster > 0 && blocks > static_cast<uint64_t>(a.max_cluster)) {
        refuse(cudaErrorInvalidClusterSize,
               config,
               body.name,
               format("clusters of %llu blocks, but the kernel's __launch_bounds__ "
                      "allow %lld",
                      static_cast<unsigned long long>(blocks),
                      a.max_cluster));
        return false;
    }
    return true;
}

}  // namespace simt::detail
