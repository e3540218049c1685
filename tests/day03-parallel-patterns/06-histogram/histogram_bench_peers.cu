#include "histogram_bench_peers.h"

#include <wb/check.h>

#include <cub/cub.cuh>

#include <algorithm>

namespace histogram_peers {
namespace {

template <class T>
void count(void* scratch,
           size_t& bytes,
           const T* values,
           uint32_t* counts,
           int64_t n,
           int64_t bins,
           cudaStream_t stream) {
    CUDA_CHECK(cub::DeviceHistogram::HistogramEven(scratch,
                                                   bytes,
                                                   values,
                                                   counts,
                                                   static_cast<int>(bins) + 1,
                                                   0,
                                                   static_cast<int>(bins),
                                                   n,
                                                   stream));
}

}  // namespace

size_t scratch_bytes(int64_t n, int64_t bins) {
    size_t of_i32 = 0;
    size_t of_u8 = 0;
    const int32_t* values = nullptr;
    const uint8_t* bytes = nullptr;
    count(nullptr, of_i32, values, nullptr, n, bins, nullptr);
    count(nullptr, of_u8, bytes, nullptr, n, std::min<int64_t>(bins, 256), nullptr);
    return std::max(of_i32, of_u8);
}

void even(void* scratch,
          size_t bytes,
          const int32_t* values,
          uint32_t* counts,
          int64_t n,
          int64_t bins,
          cudaStream_t stream) {
    count(scratch, bytes, values, counts, n, bins, stream);
}

void even(void* scratch,
          size_t bytes,
          const uint8_t* values,
          uint32_t* counts,
          int64_t n,
          int64_t bins,
          cudaStream_t stream) {
    count(scratch, bytes, values, counts, n, bins, stream);
}

}  // namespace histogram_peers
