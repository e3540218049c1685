#include <wb/scratch.h>

#include <map>
#include <mutex>

namespace wb {
namespace detail {

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
