// Shuffles beside a warpgroup's own products, and those that come before or after.
#include <cuda_bf16.h>

#include "count_test.h"
#include "simt/hopper.h"
#include "simt/ptx.h"

namespace {

using Bf16 = __nv_bfloat16;

constexpr int kWarpgroups = 2;

__device__ int exchange(int x) {
    return __shfl_xor_sync(0xffffffffu, x, 1);
}

/// One shuffle of a warp before its first product, two beside products, and three when
/// all have been waited for. The second warpgroup has no products.
__global__ void products(int* out) {
    __shared__ alignas(1024) Bf16 tile[64 * 64];
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x)
        tile[i] = Bf16(1.0f);
    simt::ptx::async_proxy_fence();
    __syncthreads();
    int x = static_cast<int>(threadIdx.x);
    if (threadIdx.x >= 128) {
        out[threadIdx.x] = exchange(exchange(x));
        return;
    }
    float first[32], second[32];
    const uint64_t descriptor = (simt::ptx::shared_address(tile) & 0x3ffff) >> 4 |
                                uint64_t{64} << 32 | uint64_t{1} << 62;
    x = exchange(x);
    simt::ptx::wgmma_fence();
    simt::ptx::wgmma_ss<Bf16>(first, descriptor, descriptor, false);
    simt::ptx::wgmma_commit();
    simt::ptx::wgmma_ss<Bf16>(second, descriptor, descriptor, false);
    simt::ptx::wgmma_commit();
    x = exchange(x);
    simt::ptx::wgmma_wait(1);
    x = exchange(x);
    simt::ptx::wgmma_wait(0);
    x = exchange(exchange(exchange(x)));
    out[threadIdx.x] = x + static_cast<int>(first[0] - second[0]);
}

void beside_products() {
    const Buffer<int> out(128 * kWarpgroups);
    const Section section("products");
    products<<<1, 128 * kWarpgroups>>>(out.get());
    const Counters c = section.counters("products");
    EXPECT(c.shuffles, 4 * (6 + 2));
    EXPECT(c.shuffles_beside_products, 4 * 2);
    EXPECT(c.tensor_flop, 2 * 2 * 64 * 64 * 16);
}

}  // namespace

int main() {
    beside_products();
    return verdict();
}
