#define TEST_GROUP "pools"
#include "check.h"

#include <cstdint>

__global__ void fill(int* x, int v) {
    x[threadIdx.x] = v;
}

TEST(stream_ordered_allocation) {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int* p = nullptr;
    OK(cudaMallocAsync(&p, 32 * sizeof(int), stream));
    EXPECT(p != nullptr);
    fill<<<1, 32, 0, stream>>>(p, 6);
    int got = 0;
    OK(cudaMemcpyAsync(&got, p, sizeof got, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(p, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(got == 6);
    OK(cudaMallocAsync(&p, 64, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFree(p));  // legal, and waits
    int* plain = nullptr;
    OK(cudaMalloc(&plain, 64));
    OK(cudaFreeAsync(plain, stream));  // also legal
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
}

TEST(the_default_pool_keeps_accounts) {
    cudaMemPool_t pool;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    cudaMemPool_t current;
    OK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(current == pool);
    uint64_t threshold = UINT64_MAX;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    uint64_t got = 0;
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    EXPECT(got == UINT64_MAX);
    uint64_t before = 0;
    uint64_t during = 0;
    uint64_t after = 0;
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
    void* p = nullptr;
    OK(cudaMallocAsync(&p, 1 << 20, 0));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &during));
    OK(cudaFreeAsync(p, 0));
    OK(cudaStreamSynchronize(0));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &after));
    EXPECT(during >= before + (1 << 20));
    EXPECT(after == before);
    uint64_t reserved = 0;
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    EXPECT(reserved >= 1 << 20);
    OK(cudaMemPoolTrimTo(pool, 0));
    uint64_t high = 1;
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    high = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    threshold = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
}

TEST(own_pools) {
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = 0;
    cudaMemPool_t pool;
    OK(cudaMemPoolCreate(&pool, &props));
    int* p = nullptr;
    OK(cudaMallocFromPoolAsync(&p, 32 * sizeof(int), pool, 0));
    fill<<<1, 32>>>(p, 3);
    OK(cudaGetLastError());
    OK(cudaFreeAsync(p, 0));
    OK(cudaDeviceSetMemPool(0, pool));
    cudaMemPool_t current;
    OK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(current == pool);
    cudaMemPool_t normal;
    OK(cudaDeviceGetDefaultMemPool(&normal, 0));
    EXPECT(normal != pool);
    OK(cudaDeviceSetMemPool(0, normal));
    int reuse = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    reuse = 1;
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    EXPECT(reuse == 0);
    OK(cudaDeviceSynchronize());
    OK(cudaMemPoolDestroy(pool));
    props.location.id = 77;
    EXPECT(cudaMemPoolCreate(&pool, &props) != cudaSuccess);
    (void)cudaGetLastError();
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(nullptr, &props));
}

TEST(zero_and_null) {
    void* p = reinterpret_cast<void*>(1);
    OK(cudaMallocAsync(&p, 0, 0));
    EXPECT(p == nullptr);
    OK(cudaFreeAsync(nullptr, 0));
}
