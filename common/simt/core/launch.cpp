// From a launch to the scheduler: checks, child launches.

#include "launch.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "cluster.h"
#include "device_model.h"
#include "devices.h"
#include "error.h"
#include "fault.h"
#include "kernel_attributes.h"
#include "memory.h"
#include "observer.h"
#include "options.h"
#include "pool.h"
#include "signals.h"
#include "watchdog.h"

namespace simt::detail {

namespace {
/// cudaStreamTailLaunch
constexpr uintptr_t kTailLaunch = 0x3;

std::mutex g_launch_mutex;  // one launch at a time
std::atomic<uint64_t> g_launches{0};

std::string shape(const Config& c) {
    return "<<<" + triple(c.grid) + ", " + triple(c.block) + ">>>";
}

bool has_shape(const Config& c, const char* name) {
    const auto wrong = [&](const std::string& why) {
        // CUDA 13's code, read off an H100; CUDA 12 said cudaErrorInvalidConfiguration.
        refuse(cudaErrorInvalidValue, c, name, shape(c) + ": " + why);
        return false;
    };
    const uint64_t threads = uint64_t{c.block.x} * c.block.y * c.block.z;
    if (threads == 0) return wrong("a block needs at least one thread");
    if (c.grid.x == 0 || c.grid.y == 0 || c.grid.z == 0)
        return wrong("a grid needs at least one block");
    if (c.block.x > 1024 || c.block.y > 1024 || threads > 1024)
        return wrong("a block has at most 1024 threads, not " +
                     std::to_string(threads));
    if (c.block.z > 64) return wrong("blockDim.z is at most 64");
    if (c.grid.x > 0x7fffffffu) return wrong("gridDim.x is at most 2147483647");
    if (c.grid.y > 65535) return wrong("gridDim.y is at most 65535");
    if (c.grid.z > 65535) return wrong("gridDim.z is at most 65535");
    return true;
}

bool has_shared(const Config& c, const Body& body) {
    if (c.smem <= kDefaultDynamic) return true;
    const size_t most = shared_per_block_optin();
    const size_t limit = std::min(most, max_dynamic_smem(body.address));
    if (c.smem <= limit) return true;
    refuse(cudaErrorInvalidValue,
           c,
           body.name,
           std::to_string(c.smem) + " bytes of dynamic shared memory, but " +
               (c.smem > most
                    ? "the device has no more than " + std::to_string(most) + " a block"
                    : std::to_string(limit) +
                          " are allowed without cudaFuncSetAttribute(kernel, "
                          "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"));
    return false;
}

bool fits_resident(const Config& c, const Body& body) {
    if (!c.cooperative) return true;
    const uint64_t threads =
        uint64_t{c.grid.x} * c.grid.y * c.grid.z * c.block.x * c.block.y * c.block.z;
    const DeviceModel& device = device_model();
    const uint64_t most =
        uint64_t(device.multiprocessors) * uint64_t(device.max_threads_per_sm);
    if (threads <= most) return true;
    refuse(cudaErrorCooperativeLaunchTooLarge,
           c,
           body.name,
           "the threads of a cooperative launch must all be resident at once: " +
               std::to_string(most) + " at most, not " + std::to_string(threads));
    return false;
}

// ---- Host pointers --------------------------------------------------------------

struct Query {
    uintptr_t address;
    bool found;
};

/// True if the address lies in the program or one of its shared libraries: a variable
/// in static storage, which is how `__device__` variables are compiled here.
bool in_image(const void* address) {
    Query query{reinterpret_cast<uintptr_t>(address), false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            auto& q = *static_cast<Query*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& p = info->dlpi_phdr[i];
                const uintptr_t begin = info->dlpi_addr + p.p_vaddr;
                if (p.p_type == PT_LOAD && q.address >= begin &&
                    q.address < begin + p.p_memsz)
                    q.found = true;
            }
            return q.found ? 1 : 0;
        },
        &query);
    return query.found;
}

bool is_mapped(const void* address) {
    const auto page = reinterpret_cast<uintptr_t>(address) & ~uintptr_t{4095};
    unsigned char resident;
    return mincore(reinterpret_cast<void*>(page), 1, &resident) == 0;
}

/// Faults if an argument points into the host's stack or heap.
bool pointers_ok(const Launch& launch) {
    const Body& body = *launch.body;
    for (size_t i = 0; i < body.pointer_count; ++i) {
        const void* p = body.pointers[i];
        if (!p || in_device_range(p)) continue;
        Allocation a;
        if (find_allocation(p, &a) || in_image(p) || !is_mapped(p)) continue;
        PendingFault fault;
        fault.code = cudaErrorIllegalAddress;
        fault.kind = FindingKind::host_pointer;
        fault.text = format(
            "argument %zu, %p, is a host pointer: the kernel has not been "
            "run.\n    A kernel can use memory of cudaMalloc and "
            "cudaMallocManaged, and pinned host memory.",
            i + 1,
            p);
        report(launch, fault);
        return false;
    }
    return true;
}

/// Faults if somebody wrote just past the end of a buffer that the kernel was given.
void check_buffers(const Launch& launch) {
    if (observer && observer->knows_damage(launch)) return;
    const Body& body = *launch.body;
    for (size_t i = 0; i < body.pointer_count; ++i) {
        const void* p = body.pointers[i];
        std::string what;
        if (!p || !in_device_range(p) || check_slack(p, &what)) continue;
        PendingFault fault;
        fault.code = cudaErrorIllegalAddress;
        fault.kind = FindingKind::out_of_bounds;
        fault.text = what + format(
                                " (argument %zu).\n    Found when the kernel had "
                                "ended. SIMT_TIGHT=1 stops it at the access.",
                                i + 1);
        report(launch, fault);
        return;
    }
}

// ---- Running --------------------------------------------------------------------

void execute(const Config& config, const Body& body);

bool is_tail(const ChildLaunch& child) {
    return child.config.stream == reinterpret_cast<cudaStream_t>(kTailLaunch);
}

/// Runs the launches that the kernel's threads made, in the order of their blocks;
/// tail launches come last.
void run_children(Launch& launch) {
    auto& children = launch.children;
    std::stable_sort(children.begin(),
                     children.end(),
                     [](const ChildLaunch& a, const ChildLaunch& b) {
                         if (is_tail(a) != is_tail(b)) return is_tail(b);
                         return a.parent_block < b.parent_block;
                     });
    for (const ChildLaunch& child : children) {
        if (sticky_error() != cudaSuccess) return;
        execute(child.config, child.body);
    }
}

void order_blocks(Launch& launch) {
    const bool backwards = options().backwards;
    if ((launch.seed == 0 && !backwards) || launch.num_blocks == 1 ||
        launch.num_blocks > 1u << 20)
        return;
    const auto n = static_cast<uint32_t>(launch.num_blocks / launch.cluster_size);
    launch.order.resize(n);
    std::iota(launch.order.begin(), launch.order.end(), 0u);
    Random rng;
    rng.seed(launch.seed, launch.number, ~uint64_t{0});
    if (launch.seed != 0)
        for (uint32_t i = n; i > 1; --i)
            std::swap(launch.order[i - 1], launch.order[rng.below(i)]);
    if (backwards) std::reverse(launch.order.begin(), launch.order.end());
}

void execute(const Config& config, const Body& body) {
    const Options& o = options();
    Launch launch{&config,
                  &body,
                  uint64_t{config.grid.x} * config.grid.y * config.grid.z,
                  config.block.x * config.block.y * config.block.z,
                  g_launches.fetch_add(1, std::memory_order_relaxed),
                  o.strict,
                  o.lenient,
                  o.poison,
                  o.tight,
                  o.seed,
                  config.cooperative ? 0 : o.resident};
    if (!o.allow_host_pointers && !pointers_ok(launch)) return;
    launch.cluster = cluster_of(config, body.address);
    launch.cluster_size = volume(launch.cluster);
    if (launch.cluster_size > 1) launch.resident = 0;
    order_blocks(launch);
    if (launch.resident != 0) launch.shared = true;  // one worker counts the blocks
    launch.started = now();
    if (observer) observer->launch_begins(launch);
    {
        const HiddenPeers hidden(current_device());
        run_blocks(launch);
    }
    if (observer) observer->launch_ends(launch);
    if (!launch.aborted) check_buffers(launch);
    if (!launch.children.empty() && !launch.aborted) run_children(launch);
}

}  // namespace

bool is_possible(const Config& config, const Body& body) {
    return has_shape(config, body.name) && keeps_bounds(config, body) &&
           has_clusters(config, body) && has_shared(config, body) &&
           fits_resident(config, body);
}

std::shared_ptr<const void> keep(const Body& body) {
    return {body.copy(body.context), body.destroy};
}

void launch_child(const Config& config, const Body& body) {
    Worker& w = *worker;
    w.in_runtime = true;
    if (is_possible(config, body)) {
        const std::lock_guard lock(w.launch->mutex);
        ChildLaunch child{config, body, keep(body), w.block->linear};
        child.body.context = child.context.get();
        child.body.pointer_count = 0;  // they live on the parent's stack
        w.launch->children.push_back(std::move(child));
    }
    w.in_runtime = false;
}

void run_launch(const Config& config, const Body& body) {
    own_worker();
    ensure_signal_handlers(now());
    ensure_watchdog();
    const std::lock_guard lock(g_launch_mutex);
    execute(config, body);
}

}  // namespace simt::detail
