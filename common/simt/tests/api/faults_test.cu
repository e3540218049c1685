// Faults of kernels destroy the context. The simulator recovers from that by
// cudaDeviceReset; a GPU may refuse the process afterwards, so that there each test
// needs a process of its own.
#define TEST_GROUP "faults"
#include "check.h"

#include <cassert>
#include <cstring>

__global__ void write_far(int* x) {
    x[size_t(1) << 34] = 1;
}
__global__ void assert_small(const int* x, int limit) {
    assert(x[threadIdx.x] < limit);
}
__global__ void nothing() {}

TEST(an_illegal_access_stays) {
    int* p = nullptr;
    OK(cudaMalloc(&p, 128));
    write_far<<<1, 32>>>(p);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaSuccess);  // told once, but not over:
    EXPECT(cudaPeekAtLastError() == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    void* q = nullptr;
    EXPECT(cudaMalloc(&q, 128) == cudaErrorIllegalAddress);
    EXPECT(cudaMemset(p, 0, 4) == cudaErrorIllegalAddress);
    nothing<<<1, 1>>>();
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    cudaStream_t stream;
    EXPECT(cudaStreamCreate(&stream) == cudaErrorIllegalAddress);
#ifdef SIMT_CPU
    (void)cudaDeviceReset();
    (void)cudaGetLastError();
    OK(cudaMalloc(&q, 128));
    nothing<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    OK(cudaFree(q));
#endif
}

TEST(a_failed_assert) {
    int* p = nullptr;
    OK(cudaMalloc(&p, 32 * sizeof(int)));
    OK(cudaMemset(p, 0, 32 * sizeof(int)));
    assert_small<<<1, 32>>>(p, 1);
    OK(cudaDeviceSynchronize());
    assert_small<<<1, 32>>>(p, 0);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    EXPECT(cudaGetLastError() == cudaErrorAssert);
#ifdef SIMT_CPU
    (void)cudaDeviceReset();
    (void)cudaGetLastError();
    OK(cudaDeviceSynchronize());
#endif
}
