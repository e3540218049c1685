// The warp functions without masks of CUDA 8 and older: of the lanes that call together.
#include "check.h"

__device__ int warp_sum(int value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down(value, offset);
    return __shfl(value, 0);
}

__global__ void whole_warp(int* out) {
    const int t = static_cast<int>(threadIdx.x);
    const int up = __shfl_up(t, 1);
    const int swapped = __shfl_xor(t, 1, 16);
    const bool all = __all(t < 32), any = __any(t == 7);
    out[t] = warp_sum(t) + 1000 * up + 100000 * swapped + 10000000 * (all && any);
}

__global__ void part_of_a_warp(unsigned* out) {
    if (threadIdx.x < 5)
        out[threadIdx.x] = __ballot(1);
    else
        out[threadIdx.x] = __ballot(threadIdx.x == 9);
}

int main() {
    DeviceArray<int> sums(32);
    whole_warp<<<1, 32>>>(sums);
    EXPECT(sums.at(0), 496 + 0 + 100000 * 1 + 10000000);
    EXPECT(sums.at(9), 496 + 8000 + 100000 * 8 + 10000000);
    DeviceArray<unsigned> masks(32);
    part_of_a_warp<<<1, 32>>>(masks);
    EXPECT(masks.at(4), 0x1fu);
    EXPECT(masks.at(31), 0x200u);
    return failures != 0;
}
