#include <wb/scratch.h>

#include <cstdint>
#include <map>
#include <mutex>

// For tools such as compute-sanitizer. The simulator sees all stores.
#if __has_include(<nvtx3/nvToolsExtMemCudaRt.h>)
#include <nvtx3/nvToolsExtMemCudaRt.h>
#define WB_HAS_NVTX_MEMORY
#endif

namespace wb {
namespace {

/// All that have begun and not ended: where, and how many bytes.
struct Scratches {
    std::mutex mutex;
    std::map<std::uintptr_t, std::size_t> bytes;

    static Scratches& instance() {
        static Scratches all;
        return all;
    }
};

}  // namespace

namespace detail {

void note_scratch(const void* memory, std::size_t bytes) {
    auto& all = Scratches::instance();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.bytes[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
}

void forget_scratch(const void* memory) {
    auto& all = Scratches::instance();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.bytes.erase(reinterpret_cast<std::uintptr_t>(memory));
}

void note_written([[maybe_unused]] const void* memory,
                  [[maybe_unused]] std::size_t bytes,
                  [[maybe_unused]] cudaStream_t stream) {
#ifdef WB_HAS_NVTX_MEMORY
    if (bytes == 0) return;
    const nvtxMemVirtualRangeDesc_t range{bytes, memory};
    nvtxMemMarkInitializedBatch_t batch{};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof(batch);
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.regionDescCount = 1;
    batch.regionDescElementSize = sizeof(range);
    batch.regionDescElements = &range;
    nvtxMemCudaMarkInitialized(nullptr, stream, 0, &batch);
#endif
}

cudaMemPool_t scratch_pool() {
    static std::mutex mutex;
    static std::map<int, cudaMemPool_t> pools;
    const std::lock_guard<std::mutex> lock(mutex);
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    cudaMemPool_t& pool = pools[device];
    if (pool == nullptr) {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = device;
        CUDA_CHECK(cudaMemPoolCreate(&pool, &properties));
        std::uint64_t keep_all = UINT64_MAX;
        CUDA_CHECK(
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all));
    }
    return pool;
}

}  // namespace detail

bool is_scratch(const void* address) {
    auto& all = Scratches::instance();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto where = reinterpret_cast<std::uintptr_t>(address);
    auto found = all.bytes.upper_bound(where);
    if (found == all.bytes.begin()) return false;
    --found;
    return where - found->first < found->second;
}

std::uint64_t scratch_peak() {
    std::uint64_t bytes = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(
        detail::scratch_pool(), cudaMemPoolAttrUsedMemHigh, &bytes));
    return bytes;
}

void reset_scratch_peak() {
    std::uint64_t zero = 0;
    CUDA_CHECK(cudaMemPoolSetAttribute(
        detail::scratch_pool(), cudaMemPoolAttrUsedMemHigh, &zero));
}

}  // namespace wb
