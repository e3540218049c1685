#define TEST_GROUP "memory"
#include "check.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

TEST(malloc_and_free) {
    float* p = nullptr;
    OK(cudaMalloc(&p, 100));
    EXPECT(p != nullptr);
    EXPECT(reinterpret_cast<uintptr_t>(p) % 16 == 0);
    OK(cudaFree(p));
    OK(cudaFree(nullptr));
    OK(cudaMalloc(reinterpret_cast<void**>(&p), 100));
    OK(cudaFree(p));
}

TEST(malloc_of_zero_bytes_gives_null) {
    void* p = reinterpret_cast<void*>(1);
    OK(cudaMalloc(&p, 0));
    EXPECT(p == nullptr);
    OK(cudaFree(p));
    p = reinterpret_cast<void*>(1);
    OK(cudaMallocHost(&p, 0));
    EXPECT(p == nullptr);
}

TEST(malloc_refuses_nonsense) {
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMalloc(static_cast<void**>(nullptr), 4));
    void* p = nullptr;
    EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&p, size_t(1) << 60));
    EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&p, SIZE_MAX));
    EXPECT(p == nullptr);
}

TEST(free_refuses_what_it_did_not_allocate) {
    char* p = nullptr;
    OK(cudaMalloc(&p, 1024));
    OK(cudaFree(p));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(p));  // twice
    OK(cudaMalloc(&p, 1024));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(p + 16));  // not the start
    OK(cudaFree(p));
    std::vector<char> host(64);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(host.data()));
}

TEST(pinned_memory) {
    int* p = nullptr;
    OK(cudaMallocHost(&p, 4096));
    p[0] = 42;
    p[1023] = 43;
    OK(cudaFreeHost(p));
    OK(cudaFreeHost(nullptr));
    OK(cudaHostAlloc(&p, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
    int* device = nullptr;
    OK(cudaHostGetDevicePointer(&device, p, 0));
    EXPECT(device == p);  // unified addresses
    unsigned flags = 0;
    OK(cudaHostGetFlags(&flags, p));
    EXPECT((flags & cudaHostAllocMapped) != 0);
    OK(cudaFreeHost(p));
    OK(cudaHostAlloc(&p, 4096, cudaHostAllocWriteCombined));
    OK(cudaFreeHost(p));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaHostAlloc(&p, 4096, 0x80));
}

TEST(pinned_and_device_memory_have_their_own_frees) {
    void* device = nullptr;
    void* pinned = nullptr;
    OK(cudaMalloc(&device, 256));
    OK(cudaMallocHost(&pinned, 256));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFreeHost(device));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(pinned));
    OK(cudaFree(device));
    OK(cudaFreeHost(pinned));
}

TEST(registered_memory) {
    const size_t bytes = 1 << 16;
    void* host = std::aligned_alloc(4096, bytes);
    std::memset(host, 0, bytes);
    OK(cudaHostRegister(host, bytes, cudaHostRegisterDefault));
    EXPECT_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                 cudaHostRegister(host, bytes, cudaHostRegisterDefault));
    void* device = nullptr;
    OK(cudaHostGetDevicePointer(&device, host, 0));
    EXPECT(device == host);
    OK(cudaHostUnregister(host));
    EXPECT_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaHostRegister(nullptr, bytes, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaHostRegister(host, 0, 0));
    std::free(host);
}

__global__ void increment(int* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

TEST(managed_memory) {
    int* p = nullptr;
    OK(cudaMallocManaged(&p, 100 * sizeof(int)));
    for (int i = 0; i < 100; ++i)
        p[i] = i;
    increment<<<1, 128>>>(p, 100);
    OK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < 100; ++i)
        right &= p[i] == i + 1;
    EXPECT(right);
    OK(cudaFree(p));
    OK(cudaMallocManaged(&p, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocManaged(&p, 64, 0x40));
    OK(cudaMallocManaged(&p, 64, cudaMemAttachHost));
    OK(cudaFree(p));
}

#if CUDART_VERSION >= 13000  // older ones take a device number for the location
TEST(managed_memory_advice_and_prefetch) {
    int* p = nullptr;
    const size_t bytes = 1 << 20;
    OK(cudaMallocManaged(&p, bytes));
    const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    OK(cudaMemPrefetchAsync(p, bytes, device, 0, 0));
    OK(cudaMemPrefetchAsync(p, bytes, host, 0, 0));
    OK(cudaMemAdvise(p, bytes, cudaMemAdviseSetReadMostly, device));
    OK(cudaMemAdvise(p, bytes, cudaMemAdviseUnsetReadMostly, device));
    OK(cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, host));
    OK(cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy, device));
#ifdef SIMT_CPU  // the forms of CUDA 12
    OK(cudaMemPrefetchAsync(p, bytes, 0));
    OK(cudaMemPrefetchAsync(p, bytes, cudaCpuDeviceId, nullptr));
    OK(cudaMemAdvise(p, bytes, cudaMemAdviseSetReadMostly, 0));
#endif
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPrefetchAsync(nullptr, 4, device, 0, 0));
    int* plain = nullptr;
    OK(cudaMalloc(&plain, 256));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPrefetchAsync(plain, 4, device, 0, 0));
    OK(cudaFree(plain));
}
#endif

TEST(pointer_attributes) {
    void* device = nullptr;
    void* pinned = nullptr;
    void* managed = nullptr;
    int on_stack = 0;
    OK(cudaMalloc(&device, 256));
    OK(cudaMallocHost(&pinned, 256));
    OK(cudaMallocManaged(&managed, 256));
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, device));
    EXPECT(a.type == cudaMemoryTypeDevice);
    EXPECT(a.device == 0);
    EXPECT(a.devicePointer == device);
    EXPECT(a.hostPointer == nullptr);
    OK(cudaPointerGetAttributes(&a, static_cast<char*>(device) + 100));
    EXPECT(a.type == cudaMemoryTypeDevice);
    EXPECT(a.devicePointer == static_cast<char*>(device) + 100);
    OK(cudaPointerGetAttributes(&a, pinned));
    EXPECT(a.type == cudaMemoryTypeHost);
    EXPECT(a.hostPointer == pinned);
    EXPECT(a.devicePointer == pinned);
    OK(cudaPointerGetAttributes(&a, managed));
    EXPECT(a.type == cudaMemoryTypeManaged);
    EXPECT(a.hostPointer == managed);
    EXPECT(a.devicePointer == managed);
    OK(cudaPointerGetAttributes(&a, &on_stack));
    EXPECT(a.type == cudaMemoryTypeUnregistered);
    EXPECT(a.devicePointer == nullptr);
    EXPECT(a.hostPointer == &on_stack);
    EXPECT(a.device == -2);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, device));
    OK(cudaFree(device));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
}

TEST(pitched_memory) {
    char* p = nullptr;
    size_t pitch = 0;
    OK(cudaMallocPitch(&p, &pitch, 100, 7));
    EXPECT(pitch >= 100);
    EXPECT(pitch % 256 == 0);
    OK(cudaFree(p));
    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, make_cudaExtent(100, 5, 3)));
    EXPECT(box.pitch >= 100 && box.pitch % 256 == 0);
    EXPECT(box.xsize == 100);
    EXPECT(box.ysize == 5);
    OK(cudaMemset3D(box, 1, make_cudaExtent(100, 5, 3)));
    OK(cudaFree(box.ptr));
}

TEST(memory_info) {
    size_t free_bytes = 0;
    size_t total = 0;
    OK(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(total > 0);
    EXPECT(free_bytes <= total);
    void* p = nullptr;
    OK(cudaMalloc(&p, 64 << 20));
    size_t less = 0;
    OK(cudaMemGetInfo(&less, &total));
#ifdef SIMT_CPU  // a GPU's memory is shared with all other programs
#ifdef SIMT_CPU  // on a GPU others come and go
    EXPECT(less < free_bytes);
#endif
#endif
    EXPECT(less <= total);
    OK(cudaFree(p));
}
