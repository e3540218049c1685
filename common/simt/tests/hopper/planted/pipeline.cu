// A pipeline of TMA, wgmma and mbarriers under the checker: with a bug, and without.
#include "../../check/planted/planted.h"

#include <cuda_bf16.h>

#include "simt/hopper.h"
#include "simt/ptx.h"

using planted::numbered;
using planted::zeros;
using Bf16 = __nv_bfloat16;

namespace {

enum class Bug {
    none,
    two_groups,
    no_full_wait,
    no_empty_wait,
    no_barrier,
    wait_too_short,
    no_barrier_fence,
    proxy_fence_instead,
    fence_too_early,
    fence_of_another
};

constexpr int kTiles = 5;
constexpr int kTile = 64 * 64;  // elements
constexpr int kTileBytes = 2 * kTile;

/// Thread 128 loads tiles, one stage; a warpgroup multiplies each by itself and writes
/// the sums of the products' rows through shared memory.
__global__ void pipeline(const __grid_constant__ CUtensorMap map, Bug bug, float* out) {
    __shared__ alignas(1024) Bf16 tile[kTile];
    __shared__ float sums[64];
    __shared__ uint64_t full, empty;
    if (threadIdx.x == 0) {
        simt::ptx::mbarrier_init(&empty, 1);
        if (bug == Bug::fence_too_early) simt::ptx::mbarrier_init_fence();
        simt::ptx::mbarrier_init(&full, 1);  // fence_too_early fence_of_another
        if (bug == Bug::proxy_fence_instead) simt::ptx::async_proxy_fence();
        if (bug < Bug::no_barrier_fence) simt::ptx::mbarrier_init_fence();
    }
    if (bug == Bug::fence_of_another && threadIdx.x == 1)
        simt::ptx::mbarrier_init_fence();
    __syncthreads();
    if (threadIdx.x >= 128) {
        for (int i = 0; i < kTiles && threadIdx.x == 128; ++i) {
            if (bug != Bug::no_empty_wait)
                simt::ptx::mbarrier_wait(&empty, i % 2 ^ 1);
            else if (i == 1)
                simt::ptx::mbarrier_wait(&full, 0);
            if (bug == Bug::no_empty_wait && i > 1) return;
            simt::ptx::mbarrier_expect(&full, kTileBytes);
            simt::ptx::tma_load(  // no_empty_wait, wait_too_short, no_barrier_fence
                tile,
                &map,
                &full,
                0,
                64 * i,
                0,
                0);
        }
        return;
    }
    const int tiles = bug == Bug::no_empty_wait ? 1 : kTiles;
    float total = 0;
    for (int i = 0; i < tiles; ++i) {
        if (bug != Bug::no_full_wait || threadIdx.x % 32 != 0)
            simt::ptx::mbarrier_wait(&full, i % 2);
        float d[32];
        const uint64_t descriptor = (simt::ptx::shared_address(tile) & 0x3ffff) >> 4 |
                                    uint64_t{64} << 32 | uint64_t{1} << 62;
        simt::ptx::wgmma_fence();
        for (int k = 0; k < 4; ++k) {
            simt::ptx::wgmma_ss<Bf16>(  // no_full_wait
                d,
                descriptor + 2 * k,
                descriptor + 2 * k,
                k != 0);
            if (bug == Bug::two_groups && k == 1) simt::ptx::wgmma_commit();
        }
        simt::ptx::wgmma_commit();
        if (bug == Bug::two_groups || bug == Bug::wait_too_short)
            simt::ptx::wgmma_wait(1);
        if (bug == Bug::wait_too_short && threadIdx.x == 0)
            simt::ptx::mbarrier_arrive(&empty);
        simt::ptx::wgmma_wait(0);  // wait_too_short
        if (bug != Bug::wait_too_short && threadIdx.x == 0)
            simt::ptx::mbarrier_arrive(&empty);
        if (threadIdx.x % 32 < 4) {
            float sum = 0;
            for (float x : d)
                sum += x;
            sums[threadIdx.x / 32 * 4 + threadIdx.x % 32] = sum;  // no_barrier
        }
        if (bug != Bug::no_barrier) simt::ptx::named_barrier_sync(1, 128);
        total += sums[threadIdx.x % 16];  // no_barrier
        simt::ptx::named_barrier_sync(2, 128);
    }
    out[threadIdx.x] = total;
}

void run(Bug bug) {
    CUtensorMap map = simt::ptx::make_tensor_map(numbered<Bf16>(kTiles * kTile),
                                                 2,
                                                 {64, 64 * kTiles, 1, 1},
                                                 {128, 16, 16},
                                                 {64, 64, 1, 1});
    pipeline<<<1, 160>>>(map, bug, zeros<float>(128));
}

/// An mbarrier whose making only a shuffle orders before its use, and that orders
/// nothing; or a barrier, too.
__global__ void made(bool barrier, unsigned* out) {
    __shared__ uint64_t all;
    if (threadIdx.x == 0) simt::ptx::mbarrier_init(&all, 32);  // barrier_not_made
    if (barrier) __syncwarp();
    out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
    simt::ptx::mbarrier_arrive(&all);   // barrier_not_made
    simt::ptx::mbarrier_wait(&all, 0);  // barrier_not_made
}

/// A tile that the threads write themselves, and a store by TMA.
__global__ void by_hand(const __grid_constant__ CUtensorMap map, bool fence) {
    __shared__ alignas(1024) Bf16 tile[kTile];
    for (int i = threadIdx.x; i < kTile; i += blockDim.x)
        tile[i] = Bf16(float(i % 5));  // no_proxy_fence
    if (fence) simt::ptx::async_proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        simt::ptx::tma_store(&map, tile, 0, 0, 0, 0);  // no_proxy_fence
        simt::ptx::tma_store_commit();
        simt::ptx::tma_store_wait_read(0);
    }
}

void run_by_hand(bool fence) {
    by_hand<<<1, 64>>>(
        simt::ptx::make_tensor_map(
            zeros<Bf16>(kTile), 2, {64, 64, 1, 1}, {128, 16, 16}, {64, 64, 1, 1}),
        fence);
}

/// A warp stores matrices, another one reads them: with a barrier, and without.
__global__ void matrices(bool barrier, unsigned* out) {
    __shared__ alignas(16) unsigned tile[32 * 4];
    if (threadIdx.x < 32) {
        const unsigned r[4] = {1, 2, 3, 4};
        simt::ptx::stmatrix<false>(tile + 4 * threadIdx.x, r);  // stored_matrices
    }
    if (barrier) __syncthreads();
    if (threadIdx.x >= 32) out[threadIdx.x] = tile[2 * threadIdx.x];  // stored_matrices
}

/// Matrices, and a store by TMA.
__global__ void stored(const __grid_constant__ CUtensorMap map, bool fence) {
    __shared__ alignas(1024) Bf16 tile[8 * 64];
    const unsigned r[2] = {};
    for (int column = 0; column < 64; column += 16) {
        Bf16* const row =
            tile + threadIdx.x % 8 * 64 + column + threadIdx.x / 8 % 2 * 8;
        simt::ptx::stmatrix<false>(row, r);  // matrices_without_fence
    }
    if (fence) simt::ptx::async_proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        simt::ptx::tma_store(&map, tile, 0, 0, 0, 0);  // matrices_without_fence
        simt::ptx::tma_store_commit();
        simt::ptx::tma_store_wait_read(0);
    }
}

void run_stored(bool fence) {
    stored<<<1, 32>>>(
        simt::ptx::make_tensor_map(
            zeros<Bf16>(8 * 64), 2, {64, 8, 1, 1}, {128, 16, 16}, {64, 8, 1, 1}),
        fence);
}

/// Numbers of the warps cross a product, or its operand is written over: behind its
/// wait, which orders no warps, a barrier of the warpgroup, or one in place of it.
enum class Behind { wait, wait_and_barrier, barrier };

__global__ void cross(Behind behind, float* out) {
    __shared__ alignas(1024) Bf16 tile[kTile];
    __shared__ float of_warp[4];
    for (int i = threadIdx.x; i < kTile; i += blockDim.x)
        tile[i] = Bf16(float(i % 5));
    simt::ptx::async_proxy_fence();
    __syncthreads();
    float d[32];
    const uint64_t descriptor = (simt::ptx::shared_address(tile) & 0x3ffff) >> 4 |
                                uint64_t{64} << 32 | uint64_t{1} << 62;
    simt::ptx::wgmma_fence();
    simt::ptx::wgmma_ss<Bf16>(d, descriptor, descriptor, false);  // barrier_for_a_wait
    simt::ptx::wgmma_commit();
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) of_warp[warp] = 1.0f;  // wait_for_a_barrier
    if (behind != Behind::barrier) simt::ptx::wgmma_wait(0);
    if (behind != Behind::wait) __syncthreads();
    out[threadIdx.x] = of_warp[(warp + 1) % 4];  // wait_for_a_barrier
    if (threadIdx.x == 100 && behind != Behind::wait)
        tile[0] = Bf16(7.0f);                                 // barrier_for_a_wait
    if (behind == Behind::barrier) simt::ptx::wgmma_wait(0);  // barrier_for_a_wait
}

/// Four warps read numbers, issue a product, and wait for it; then one of them tells a
/// fifth one that it may write over the numbers. If they are the product's operand, all
/// have read theirs: the product is over. If not, nothing says so.
__global__ void read_and_tell(bool operand, float* out) {
    __shared__ alignas(1024) Bf16 tile[kTile];
    __shared__ unsigned numbers[128];
    __shared__ uint64_t empty;
    if (threadIdx.x == 0) simt::ptx::mbarrier_init(&empty, 1);
    for (int i = threadIdx.x; i < kTile; i += blockDim.x)
        tile[i] = Bf16(float(i % 5));
    if (threadIdx.x < 128) numbers[threadIdx.x] = 0;
    simt::ptx::async_proxy_fence();
    __syncthreads();
    if (threadIdx.x >= 128) {
        simt::ptx::mbarrier_wait(&empty, 0);
        for (unsigned i = threadIdx.x % 32; i < 128; i += 32)
            numbers[i] = 1;  // wait_tells_of_reads
        return;
    }
    const uint64_t descriptor = (simt::ptx::shared_address(tile) & 0x3ffff) >> 4 |
                                uint64_t{64} << 32 | uint64_t{1} << 62;
    const unsigned number = numbers[127 - threadIdx.x];  // wait_tells_of_reads
    const unsigned a[4] = {number, number, number, number};
    float d[32];
    simt::ptx::wgmma_fence();
    if (operand)
        simt::ptx::wgmma_rs<Bf16>(d, a, descriptor, false);
    else
        simt::ptx::wgmma_ss<Bf16>(d, descriptor, descriptor, false);
    simt::ptx::wgmma_commit();
    simt::ptx::wgmma_wait(0);
    if (threadIdx.x == 0) simt::ptx::mbarrier_arrive(&empty);
    out[threadIdx.x] = d[0] + float(number);
}

}  // namespace

PLANTED(none, correct_pipeline) {
    run(Bug::none);
}
PLANTED(race, no_full_wait) {
    run(Bug::no_full_wait);
}
PLANTED(race, no_empty_wait) {
    run(Bug::no_empty_wait);
}
PLANTED(race, no_barrier) {
    run(Bug::no_barrier);
}
PLANTED(none, correct_in_two_groups) {
    run(Bug::two_groups);
}
PLANTED(race, wait_too_short) {
    run(Bug::wait_too_short);
}
PLANTED(race, no_barrier_fence) {
    run(Bug::no_barrier_fence);
}
PLANTED(race, fence_too_early) {
    run(Bug::fence_too_early);
}
PLANTED(race, fence_of_another) {
    run(Bug::fence_of_another);
}
PLANTED(none, proxy_fence_instead) {
    run(Bug::proxy_fence_instead);
}
PLANTED(race, barrier_not_made) {
    made<<<1, 32>>>(false, zeros<unsigned>(32));
}
PLANTED(none, barrier_made) {
    made<<<1, 32>>>(true, zeros<unsigned>(32));
}
PLANTED(race, no_proxy_fence) {
    run_by_hand(false);
}
PLANTED(none, proxy_fence) {
    run_by_hand(true);
}
PLANTED(race, stored_matrices) {
    matrices<<<1, 64>>>(false, zeros<unsigned>(64));
}
PLANTED(none, matrices_behind_a_barrier) {
    matrices<<<1, 64>>>(true, zeros<unsigned>(64));
}
PLANTED(race, matrices_without_fence) {
    run_stored(false);
}
PLANTED(none, matrices_with_fence) {
    run_stored(true);
}
PLANTED(race, wait_for_a_barrier) {
    cross<<<1, 128>>>(Behind::wait, zeros<float>(128));
}
PLANTED(race, barrier_for_a_wait) {
    cross<<<1, 128>>>(Behind::barrier, zeros<float>(128));
}
PLANTED(none, wait_and_barrier) {
    cross<<<1, 128>>>(Behind::wait_and_barrier, zeros<float>(128));
}
PLANTED(race, wait_tells_of_reads) {
    read_and_tell<<<1, 160>>>(false, zeros<float>(128));
}
PLANTED(none, operands_have_been_read) {
    read_and_tell<<<1, 160>>>(true, zeros<float>(128));
}
