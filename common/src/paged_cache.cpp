#include <wb/check.h>
#include <wb/paged_cache.h>

#include <string>

namespace wb {
namespace {

std::string describe(const PagedStatus& status) {
    const std::string sequence = "sequence " + std::to_string(status.sequence);
    const std::string index = std::to_string(status.index);
    const std::string value = std::to_string(status.value);
    switch (static_cast<PagedFault>(status.fault)) {
        case PagedFault::page:
            return sequence + ": entry " + index + " of its block table is " + value +
                   ", which is no page of this cache";
        case PagedFault::length:
            return sequence + ": its length is " + value +
                   ", which its row of the block table has no room for";
        case PagedFault::sequence:
            return "token " + index + " is for sequence " + value +
                   ", which is not in this cache";
        case PagedFault::position:
            return sequence + ": token " + index + " is for position " + value +
                   ", which its row of the block table has no room for";
        case PagedFault::none:
            break;
    }
    return "unknown fault " + std::to_string(status.fault);
}

}  // namespace

PagedWorkspace::PagedWorkspace(int64_t counters) : num_counters_(counters) {
    // One allocation: the status first, as it has the larger alignment.
    const std::size_t bytes =
        sizeof(PagedStatus) + static_cast<std::size_t>(counters) * sizeof(uint32_t);
    void* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, bytes));
    status_ = static_cast<PagedStatus*>(memory);
    counters_ = reinterpret_cast<uint32_t*>(status_ + 1);
    CUDA_CHECK(cudaMemset(memory, 0, bytes));
    CUDA_CHECK(cudaDeviceSynchronize());  // other streams do not wait for the memset
}

PagedWorkspace::~PagedWorkspace() {
    (void)cudaFree(status_);  // a destructor cannot throw
}

void PagedWorkspace::check(cudaStream_t stream) const {
    PagedStatus status;
    CUDA_CHECK(cudaMemcpyAsync(
        &status, status_, sizeof(status), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    if (status.fault == 0) return;
    CUDA_CHECK(cudaMemsetAsync(status_, 0, sizeof(status), stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    throw PagedCacheError("paged cache: " + describe(status));
}

}  // namespace wb
