// Kernels used as values: casts to void*, pointers, attributes, launches by address.
#include <cuda_runtime.h>

#include "check.h"

__global__ void plain(int* o, int v) { o[threadIdx.x] = v; }
template <typename T>
__global__ void typed(T* o, T v) {
    o[threadIdx.x] = v + 1;
}
template <typename T, int N = 4>
__global__ void with_default(T* o) {
    o[threadIdx.x] = N;
}
namespace ns {
__global__ void scoped(int* o, int v) { o[threadIdx.x] = v + 2; }
}  // namespace ns
__global__ void by_reference(int (&o)[4], const int& v) { o[threadIdx.x] = v; }
__global__ void cooperative(int* o, int v) { o[blockIdx.x] = v + 3; }

// Other things that are called like kernels.
struct Names {
    int plain, typed;
    int scoped(int v) const { return v + plain; }
};
enum class Kind { plain, typed };
int twice(int cooperative) { return 2 * cooperative; }

template <void (*Kernel)(int*, int)>
void launch_fixed(int* d, int v) {
    void* args[] = {&d, &v};
    cudaLaunchKernel((const void*)Kernel, dim3(1), dim3(4), args, 0, nullptr);
}

template <typename T>
void launch_typed(T* d, T v) {
    void* args[] = {&d, &v};
    cudaLaunchKernel((void*)typed<T>, dim3(1), dim3(4), args, 0, 0);
}

int main() {
    DeviceArray<int> d(64);
    int* pointer = d;
    int value = 5;
    void* args[] = {&pointer, &value};

    cudaLaunchKernel((void*)plain, dim3(1), dim3(4), args, 0, nullptr);
    EXPECT(d.at(3), 5);
    cudaLaunchKernel((const void*)&plain, dim3(1), dim3(4), args, 0, nullptr);
    value = 6;
    cudaLaunchKernel(reinterpret_cast<void*>(plain), 1, 4, args, 0, nullptr);
    EXPECT(d.at(3), 6);
    cudaLaunchKernel((void*)typed<int>, 1, 4, args, 0, nullptr);
    EXPECT(d.at(3), 7);
    cudaLaunchKernel((void*)&typed<int>, 1, 4, args, 0, nullptr);
    cudaLaunchKernel(reinterpret_cast<const void*>(&ns::scoped), 1, 4, args, 0, 0);
    EXPECT(d.at(3), 8);
    cudaLaunchKernel((void*)::ns::scoped, 1, 4, args);
    cudaLaunchKernel(plain, 1, 4, args, 0, nullptr);
    EXPECT(d.at(3), 6);
    void* address = (void*)with_default<int>;
    cudaLaunchKernel(address, 1, 4, args, 0, nullptr);
    EXPECT(d.at(3), 4);
    auto variable = typed<int>;
    void* from_variable = (void*)variable;
    cudaLaunchKernel(from_variable, 1, 4, args, 0, nullptr);
    EXPECT(d.at(3), 7);
    int* behind = pointer + 9;
    *behind = 12;
    void* addresses[] = {&pointer, &behind};  // a reference travels as an address
    cudaLaunchKernel((void*)by_reference, 1, 4, addresses, 0, nullptr);
    EXPECT(d.at(3), 12);
    launch_typed<int>(d, 10);
    EXPECT(d.at(3), 11);
    cudaLaunchCooperativeKernel((void*)cooperative, 2, 4, args, 0, nullptr);
    EXPECT(d.at(1), 9);

    void (*list[])(int*, int) = {plain, ns::scoped, typed<int>};
    for (auto kernel : list) kernel<<<1, 4>>>(d, 1);
    EXPECT(d.at(0), 2);
    void (*chosen)(int*, int) = value > 100 ? plain : ns::scoped;
    chosen<<<1, 4>>>(d, 1);
    EXPECT(d.at(0), 3);

    cudaFuncAttributes attributes;
    EXPECT(cudaFuncGetAttributes(&attributes, plain), cudaSuccess);
    EXPECT(cudaFuncGetAttributes(&attributes, (const void*)typed<int>), cudaSuccess);
    EXPECT(attributes.maxThreadsPerBlock, 1024);
    const auto most_shared = cudaFuncAttributeMaxDynamicSharedMemorySize;
    EXPECT(cudaFuncSetAttribute(plain, most_shared, 65536), cudaSuccess);
    int blocks = 0;
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0),
           cudaSuccess);
    EXPECT(blocks > 0, true);
    int min_grid = 0, block = 0;
    EXPECT(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, typed<int>, 0, 0),
           cudaSuccess);

    Names names{1, 2};
    EXPECT(names.scoped(names.plain), 2);
    EXPECT(static_cast<int>(Kind::typed), 1);
    EXPECT(twice(4), 8);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    return failures != 0;
}
