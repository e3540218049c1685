#include "reduction_bench_peers.h"

#include <wb/check.h>

#include <cub/cub.cuh>

#include <algorithm>

namespace reduction_peers {
namespace {

/// Adds two numbers of T.
template <class T>
struct Plus {
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

/// The sum of In in T, whatever In is.
template <class In, class T>
void reduce(void* scratch,
            size_t& bytes,
            const In* x,
            T* result,
            int64_t n,
            cudaStream_t stream) {
    CUDA_CHECK(cub::DeviceReduce::Reduce(
        scratch, bytes, x, result, n, Plus<T>(), T{}, stream));
}

}  // namespace

size_t scratch_bytes(int64_t n) {
    size_t bytes[4] = {};
    float* f = nullptr;
    CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, bytes[0], f, f, n));
    CUDA_CHECK(cub::DeviceReduce::Max(nullptr, bytes[1], f, f, n));
    const __nv_bfloat16* narrow = nullptr;
    reduce(nullptr, bytes[2], narrow, f, n, nullptr);
    const int32_t* integers = nullptr;
    reduce(nullptr, bytes[3], integers, static_cast<int64_t*>(nullptr), n, nullptr);
    return *std::max_element(bytes, bytes + 4);
}

void sum(void* scratch,
         size_t bytes,
         const float* x,
         float* result,
         int64_t n,
         cudaStream_t stream) {
    CUDA_CHECK(cub::DeviceReduce::Sum(scratch, bytes, x, result, n, stream));
}

void sum(void* scratch,
         size_t bytes,
         const __nv_bfloat16* x,
         float* result,
         int64_t n,
         cudaStream_t stream) {
    reduce(scratch, bytes, x, result, n, stream);
}

void sum(void* scratch,
         size_t bytes,
         const int32_t* x,
         int64_t* result,
         int64_t n,
         cudaStream_t stream) {
    reduce(scratch, bytes, x, result, n, stream);
}

void max(void* scratch,
         size_t bytes,
         const float* x,
         float* result,
         int64_t n,
         cudaStream_t stream) {
    CUDA_CHECK(cub::DeviceReduce::Max(scratch, bytes, x, result, n, stream));
}

}  // namespace reduction_peers
