// A cooperative launch of which the first block ends late, because all end together: it
// is not named as one that will take fifty seconds (checker/large_launch.cpp).
#include <cooperative_groups.h>

#include <cstdio>

namespace {

constexpr int kBlocks = 16;
constexpr long long kNanoseconds = 3'200'000'000;

__device__ long long now() {
    long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__global__ void together(int* ended) {
    const long long begin = now();
    while (blockIdx.x == 0 && now() - begin < kNanoseconds) {
    }
    cooperative_groups::this_grid().sync();
    atomicAdd(ended, 1);
}

}  // namespace

int main() {
    int* ended = nullptr;
    int count = 0;
    cudaMalloc(&ended, sizeof(int));
    cudaMemset(ended, 0, sizeof(int));
    void* arguments[] = {&ended};
    cudaLaunchCooperativeKernel(
        reinterpret_cast<const void*>(together), kBlocks, 1, arguments);
    cudaMemcpy(&count, ended, sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d blocks of %d\n", count, kBlocks);
    return count == kBlocks ? 0 : 1;
}
