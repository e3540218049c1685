#include "faults.h"

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/ptx/mbarrier.h>

#include <unistd.h>

#include <cassert>
#include <cstdlib>
#include <cstring>

namespace wb::testing {
namespace {

constexpr int kThreads = 64;

/// Device memory of zeros.
template <class T>
class Zeros {
 public:
    explicit Zeros(int count) {
        CUDA_CHECK(cudaMalloc(&data_, static_cast<size_t>(count) * sizeof(T)));
        CUDA_CHECK(cudaMemset(data_, 0, static_cast<size_t>(count) * sizeof(T)));
    }
    ~Zeros() { (void)cudaFree(data_); }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;
    operator T*() const { return data_; }

 private:
    T* data_ = nullptr;
};

void wait() {
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
}

__global__ void race(int* last) {
    *last = static_cast<int>(threadIdx.x);  // all threads write the same element
}

__global__ void store(int* to, int index) {
    to[index] = 1;
}

__global__ void copy_shared(int* to) {
    __shared__ int s_value[kThreads];
    to[threadIdx.x] = s_value[threadIdx.x];
}

__global__ void load_float4(const float* from, float4* to) {
    *to = *reinterpret_cast<const float4*>(from + 1);
}

__global__ void half_a_barrier() {
    if (threadIdx.x < kThreads / 2) __syncthreads();
}

__global__ void half_a_shuffle(int* to) {
    if (threadIdx.x < 16)
        *to = __shfl_sync(0xffffffffu, 1, 0);
    else
        *to = __any_sync(0xffffffffu, 1);
}

__global__ void too_few_arrivals() {
    __shared__ ptx::Mbarrier full;
    if (threadIdx.x == 0) ptx::mbarrier_init(&full, 2);
    __syncthreads();
    if (threadIdx.x == 0) ptx::mbarrier_expect(&full, 0);
    ptx::mbarrier_wait(&full, 0);
}

__global__ void endless(volatile int* flag) {
    while (*flag == 0) {
    }
}

__global__ void assert_zero(int value) {
    assert(value == 0);
}

__global__ void trap() {
    __trap();
}

/// Destroyed when the thread that launched kernels has given back what it had for them.
struct AtTheEnd {
    ~AtTheEnd() {
        // Takes what has been given back, and overwrites it.
        for (size_t bytes = 16; bytes <= 4096; bytes += 16) {
            void* const taken = std::malloc(bytes);
            if (taken) std::memset(taken, 0xff, bytes);
        }
        if (simt::detail::in_kernel()) _exit(3);
    }
} at_the_end;

}  // namespace

void make_none() {
    const Zeros<int> values(1);
    store<<<1, 1>>>(values, 0);
    wait();
}

void make_race() {
    const Zeros<int> last(1);
    race<<<1, kThreads>>>(last);
    wait();
}

void make_out_of_bounds() {
    const Zeros<int> values(kThreads);
    store<<<1, 1>>>(values, kThreads);
    wait();
}

void make_use_after_free() {
    int* freed = nullptr;
    CUDA_CHECK(cudaMalloc(&freed, 4096));
    CUDA_CHECK(cudaFree(freed));
    store<<<1, 1>>>(freed, 0);
    wait();
}

void make_uninitialised() {
    const Zeros<int> values(kThreads);
    copy_shared<<<1, kThreads>>>(values);
    wait();
}

void make_misaligned() {
    const Zeros<float> from(8);
    const Zeros<float4> to(1);
    load_float4<<<1, 1>>>(from, to);
    wait();
}

void make_host_pointer() {
    int on_the_host = 0;
    store<<<1, 1>>>(&on_the_host, 0);
    wait();
}

void make_device_pointer_on_host() {
    const Zeros<int> values(1);
    int* const value = values;
    *value = 1;
}

void make_divergent_barrier() {
    half_a_barrier<<<1, kThreads>>>();
    wait();
}

void make_missing_lanes() {
    const Zeros<int> value(1);
    half_a_shuffle<<<1, 32>>>(value);
    wait();
}

void make_deadlock() {
    too_few_arrivals<<<1, 32>>>();
    wait();
}

void make_hang() {
    const Zeros<int> flag(1);
    endless<<<1, 1>>>(flag);
    wait();
}

void make_refused_launch() {
    trap<<<0, 1>>>();
    wait();
}

void make_assertion() {
    assert_zero<<<1, 1>>>(1);
    wait();
}

void make_fault() {
    trap<<<1, 1>>>();
    wait();
}

}  // namespace wb::testing
