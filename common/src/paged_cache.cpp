#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <wb/attention.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/paged_cache.h>

#include <string>

#include "device_status.h"

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

template <class T>
void check_pages(const Arguments& arguments, const PagedCacheOf<T>& cache) {
    const int64_t size = cache.page_size;
    const bool is_power = size > 0 && (size & (size - 1)) == 0;
    arguments.size("cache.batch", cache.batch)
        .size("cache.pages_per_sequence", cache.pages_per_sequence)
        .positive("cache.num_pages", cache.num_pages)
        .positive("cache.kv_heads", cache.kv_heads)
        .positive("cache.head_dim", cache.head_dim)
        .require(is_power && size >= 16 && size <= 256,
                 "cache.page_size",
                 size,
                 "must be 16, 32, 64, 128 or 256")
        .require(cache.num_pages <= INT32_MAX,
                 "cache.num_pages",
                 cache.num_pages,
                 "must be < 2^31 (entries of the table are int32_t)");
    const int64_t entries = arguments.product("batch * pages_per_sequence",
                                              {cache.batch, cache.pages_per_sequence});
    const int64_t tokens = arguments.product("pages_per_sequence * page_size",
                                             {cache.pages_per_sequence, size});
    arguments.require(tokens <= kMaxSequence,
                      "pages_per_sequence * page_size",
                      tokens,
                      "must be <= 2^30");
    const int64_t elements =
        arguments.product("num_pages * kv_heads * page_size * head_dim",
                          {cache.num_pages, cache.kv_heads, size, cache.head_dim});
    arguments.device("cache.k", cache.k, elements)
        .device("cache.v", cache.v, elements)
        .device("cache.block_table", cache.block_table, entries)
        .device("cache.lengths", cache.lengths, cache.batch);
    for (const T* const pool : {cache.k, cache.v}) {
        const auto address = reinterpret_cast<uintptr_t>(pool);
        arguments.require(address % 16 == 0,
                          pool == cache.k ? "cache.k" : "cache.v",
                          static_cast<int64_t>(address),
                          "must be a multiple of 16: rows are read 16 bytes at a time");
    }
}
template void check_pages(const Arguments&, const PagedCacheOf<__half>&);
template void check_pages(const Arguments&, const PagedCacheOf<__nv_bfloat16>&);
template void check_pages(const Arguments&, const PagedCacheOf<__nv_fp8_e4m3>&);

void check_paged_cache(const Arguments& arguments, const PagedCache& cache) {
    arguments.require(cache.head_dim == 64 || cache.head_dim == 128,
                      "cache.head_dim",
                      cache.head_dim,
                      "must be 64 or 128");
    check_pages(arguments, cache);
}

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
    const PagedStatus status = take_status(status_, stream);
    if (status.fault != 0) throw PagedCacheError("paged cache: " + describe(status));
}

}  // namespace wb
