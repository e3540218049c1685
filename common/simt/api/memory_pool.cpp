// Stream-ordered allocation and memory pools. Memory is available at once; where work
// is queued (schedule.h) it loses its contents when the stream gets to the allocation,
// and is freed when the stream gets there. Pools keep the accounts that programs print.

#include "memory_pool.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "call.h"
#include "core/devices.h"
#include "core/memory.h"
#include "graph_memory.h"
#include "handles.h"
#include "stream.h"

/// A pool's accounts, in bytes.
struct CUmemPoolHandle_st {
    uint64_t used = 0;
    uint64_t used_high = 0;
    uint64_t reserved = 0;
    uint64_t reserved_high = 0;
    uint64_t release_threshold = 0;
    uint64_t max_size = 0;  // 0: no limit of its own
    int reuse[3] = {1, 1, 1};
    int device = 0;
    uint32_t visible_to = 0;  // other devices, by cudaMemPoolSetAccess
};

namespace simt::detail {
namespace {

using Pool = CUmemPoolHandle_st;

struct PoolAllocation {
    Pool* pool;
    size_t bytes;
};

std::mutex g_pool_mutex;
Pool g_default_pools[kMostDevices];
Pool* g_current_pools[kMostDevices];  // null: the default one

Pool& default_pool(int device) {
    g_default_pools[device].device = device;
    return g_default_pools[device];
}

Pool*& current_pool(int device) {
    Pool*& pool = g_current_pools[device];
    if (!pool) pool = &default_pool(device);
    return pool;
}

HandleTable<Pool>& pools() {
    static auto* const table = new HandleTable<Pool>;
    return *table;
}

std::map<const void*, PoolAllocation>& allocations() {
    static auto* const table = new std::map<const void*, PoolAllocation>;
    return *table;
}

bool is_pool(Pool* pool) {
    return (pool >= g_default_pools && pool < g_default_pools + kMostDevices) ||
           pools().contains(pool);
}

void note_use(Pool& pool, size_t bytes) {
    pool.used += bytes;
    pool.used_high = std::max(pool.used_high, pool.used);
    pool.reserved = std::max(pool.reserved, pool.used);
    pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

void keep_at_most(Pool& pool, uint64_t bytes) {
    pool.reserved = std::max(pool.used, std::min(pool.reserved, bytes));
}

cudaError_t allocate_in_capture(void** pointer, size_t bytes, cudaStream_t stream) {
    std::shared_ptr<GraphMemory> memory = GraphMemory::create(bytes);
    if (!memory) return cudaErrorMemoryAllocation;
    *pointer = memory->pointer();
    record_operation(stream, std::make_shared<AllocOperation>(std::move(memory)));
    return cudaSuccess;
}

/// Memory for the pool's account.
cudaError_t take(Pool& pool, void** pointer, size_t bytes) {
    const std::lock_guard lock(g_pool_mutex);
    if (pool.max_size != 0 && pool.used + bytes > pool.max_size)
        return cudaErrorMemoryAllocation;
    const OnDevice scope(pool.device);
    void* memory = allocate(bytes, MemoryKind::device);
    if (!memory) return cudaErrorMemoryAllocation;
    set_visible(memory, pool.visible_to);
    note_use(pool, bytes);
    allocations()[memory] = {&pool, bytes};
    *pointer = memory;
    return cudaSuccess;
}

/// What other streams have written before the allocation's turn came is lost.
void poison_later(void* memory, size_t bytes, CUstream_st& stream) {
    constexpr size_t kMost = size_t{1} << 24;
    defer(
        stream,
        [memory, size = std::min(bytes, kMost)] {
            Allocation allocation;
            if (find_allocation(memory, &allocation)) std::memset(memory, 0xFF, size);
            return cudaSuccess;
        },
        Weight::nothing);
}

/// Frees when the stream gets there. A pointer that is no allocation is told at once.
cudaError_t free_later(void* pointer, CUstream_st& stream) {
    if (const cudaError_t error = FreeOperation(pointer).check()) return error;
    defer(
        stream,
        [pointer] {
            forget_pool_allocation(pointer);
            return free_device_memory(pointer) ? cudaSuccess : cudaErrorInvalidValue;
        },
        Weight::nothing);
    return cudaSuccess;
}

cudaError_t allocate_from(Pool* pool, void** pointer, size_t bytes,
                          cudaStream_t stream) {
    if (!pointer) return cudaErrorInvalidValue;
    if (!is_pool(pool)) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_stream(stream)) return error;
    tell_issue(Issue::memory, stream);
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (capturing(stream)) return allocate_in_capture(pointer, bytes, stream);
    if (const cudaError_t error = take(*pool, pointer, bytes)) return error;
    if (deferring()) poison_later(*pointer, bytes, *find_stream(stream));
    return cudaSuccess;
}

uint64_t* account(Pool& pool, cudaMemPoolAttr attribute) {
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold:
            return &pool.release_threshold;
        case cudaMemPoolAttrReservedMemCurrent:
            return &pool.reserved;
        case cudaMemPoolAttrReservedMemHigh:
            return &pool.reserved_high;
        case cudaMemPoolAttrUsedMemCurrent:
            return &pool.used;
        case cudaMemPoolAttrUsedMemHigh:
            return &pool.used_high;
        default:
            return nullptr;
    }
}

int* reuse_flag(Pool& pool, cudaMemPoolAttr attribute) {
    const int index = attribute - cudaMemPoolReuseFollowEventDependencies;
    return index >= 0 && index < 3 ? &pool.reuse[index] : nullptr;
}

}  // namespace

void forget_pool_allocation(const void* pointer) {
    const std::lock_guard lock(g_pool_mutex);
    const auto found = allocations().find(pointer);
    if (found == allocations().end()) return;
    Pool& pool = *found->second.pool;
    pool.used -= found->second.bytes;
    keep_at_most(pool, pool.release_threshold);
    allocations().erase(found);
}

void destroy_pools() {
    const std::lock_guard lock(g_pool_mutex);
    allocations().clear();
    pools().clear();
    for (int device = 0; device < kMostDevices; ++device) {
        g_default_pools[device] = Pool();
        g_current_pools[device] = nullptr;
    }
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return api_call([&] {
        const CUstream_st* place = find_stream(stream);
        const int device = place ? place->device : current_device();
        return allocate_from(current_pool(device), pointer, bytes, stream);
    });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return api_call([&] { return allocate_from(pool, pointer, bytes, stream); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    return api_call([&] {
        if (const cudaError_t error = check_stream(stream)) return error;
        if (!pointer) return cudaSuccess;
        tell_issue(simt::Issue::memory, stream);
        if (capturing(stream)) return submit(stream, FreeOperation(pointer));
        if (deferring()) return free_later(pointer, *find_stream(stream));
        forget_pool_allocation(pointer);
        if (free_device_memory(pointer)) return cudaSuccess;
        hint("cudaFreeAsync: %p is not the start of live device memory", pointer);
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    return api_call([&] {
        if (!pool || !properties) return cudaErrorInvalidValue;
        if (properties->allocType != cudaMemAllocationTypePinned)
            return cudaErrorInvalidValue;
        if (properties->location.type != cudaMemLocationTypeDevice)
            return cudaErrorInvalidValue;
        if (!is_device(properties->location.id)) return cudaErrorInvalidDevice;
        if (properties->handleTypes != cudaMemHandleTypeNone) {
            hint("cudaMemPoolCreate: pools cannot be shared between processes here");
            return cudaErrorNotSupported;
        }
        auto created = std::make_unique<CUmemPoolHandle_st>();
        created->max_size = properties->maxSize;
        created->device = properties->location.id;
        *pool = pools().insert(std::move(created));
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return api_call([&] {
        if (!pools().contains(pool)) return cudaErrorInvalidValue;
        const std::lock_guard lock(g_pool_mutex);
        // Memory that is still in use outlives the pool, as in CUDA.
        std::erase_if(allocations(),
                      [&](const auto& entry) { return entry.second.pool == pool; });
        for (Pool*& current : g_current_pools)
            if (current == pool) current = nullptr;
        pools().remove(pool);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return api_call([&] {
        if (!pool) return cudaErrorInvalidValue;
        if (!is_device(device)) return cudaErrorInvalidDevice;
        *pool = &default_pool(device);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return api_call([&] {
        if (!pool) return cudaErrorInvalidValue;
        if (!is_device(device)) return cudaErrorInvalidDevice;
        *pool = current_pool(device);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return api_call([&] {
        if (!is_device(device)) return cudaErrorInvalidDevice;
        if (!is_pool(pool)) return cudaErrorInvalidValue;
        current_pool(device) = pool;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                    void* value) {
    return api_call([&] {
        if (!value || !is_pool(pool)) return cudaErrorInvalidValue;
        const std::lock_guard lock(g_pool_mutex);
        if (const uint64_t* bytes = account(*pool, attribute)) {
            *static_cast<uint64_t*>(value) = *bytes;
            return cudaSuccess;
        }
        const int* flag = reuse_flag(*pool, attribute);
        if (!flag) return cudaErrorInvalidValue;
        *static_cast<int*>(value) = *flag;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                    void* value) {
    return api_call([&] {
        if (!value || !is_pool(pool)) return cudaErrorInvalidValue;
        const std::lock_guard lock(g_pool_mutex);
        if (int* flag = reuse_flag(*pool, attribute)) {
            *flag = *static_cast<const int*>(value);
            return cudaSuccess;
        }
        const uint64_t bytes = *static_cast<const uint64_t*>(value);
        switch (attribute) {
            case cudaMemPoolAttrReleaseThreshold:
                pool->release_threshold = bytes;
                return cudaSuccess;
            case cudaMemPoolAttrReservedMemHigh:
            case cudaMemPoolAttrUsedMemHigh:
                // High-water marks can only be reset.
                if (bytes != 0) return cudaErrorInvalidValue;
                *account(*pool, attribute) = attribute == cudaMemPoolAttrUsedMemHigh
                                                 ? pool->used
                                                 : pool->reserved;
                return cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
    return api_call([&] {
        if (!is_pool(pool)) return cudaErrorInvalidValue;
        const std::lock_guard lock(g_pool_mutex);
        keep_at_most(*pool, bytes_to_keep);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                 size_t count) {
    return api_call([&] {
        if (!is_pool(pool) || (count > 0 && !access)) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i)
            if (access[i].location.type != cudaMemLocationTypeDevice ||
                !is_device(access[i].location.id))
                return cudaErrorInvalidDevice;
        const std::lock_guard lock(g_pool_mutex);
        for (size_t i = 0; i < count; ++i) {
            const uint32_t bit = 1u << access[i].location.id;
            if (access[i].flags == cudaMemAccessFlagsProtNone)
                pool->visible_to &= ~bit;
            else
                pool->visible_to |= bit;
        }
        for (const auto& [memory, allocation] : allocations())
            if (allocation.pool == pool) set_visible(memory, pool->visible_to);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
    return api_call([&] {
        if (!flags || !location || !is_pool(pool)) return cudaErrorInvalidValue;
        const bool device = location->type == cudaMemLocationTypeDevice;
        const bool visible =
            device && is_device(location->id) &&
            (location->id == pool->device || (pool->visible_to >> location->id & 1));
        *flags = visible ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
        return cudaSuccess;
    });
}
