// Atomic operations and fences whose scope is the block: they hold for its threads
// alone.
#include "planted.h"

#include <cuda/atomic>

using planted::numbered;
using planted::unset;
using planted::zeros;

__global__ void count_all(int* counter) {
    atomicAdd_block(counter, 1);  // counter_of_two_blocks
}
PLANTED(race, counter_of_two_blocks) {
    count_all<<<2, 32>>>(zeros<int>(1));
}

// A narrow operation does not go together with another block's wide one, either.
__global__ void count_in_two_ways(int* counter) {
    if (blockIdx.x == 0)
        atomicAdd(counter, 1);  // counter_of_two_scopes
    else
        atomicAdd_block(counter, 1);  // counter_of_two_scopes
}
PLANTED(race, counter_of_two_scopes) {
    count_in_two_ways<<<2, 1>>>(zeros<int>(1));
}

__global__ void count_by_ptx(unsigned* counter) {
    asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;"  // counter_by_ptx
                 ::"l"(counter)
                 : "memory");
}
PLANTED(race, counter_by_ptx) {
    count_by_ptx<<<2, 1>>>(zeros<unsigned>(1));
}

template <cuda::thread_scope kScope>
__global__ void last_block(const float* x,
                           float* partial,
                           float* out,
                           unsigned* tickets) {
    partial[blockIdx.x] = 2 * x[blockIdx.x];
    cuda::atomic_ref<unsigned, kScope> count(*tickets);
    const unsigned before =
        count.fetch_add(1, cuda::memory_order_acq_rel);  // last_block_of_its_own_scope
    if (before != gridDim.x - 1) return;
    for (unsigned b = 0; b < gridDim.x; ++b)
        out[b] = partial[b];
}
PLANTED(race, last_block_of_its_own_scope) {
    last_block<cuda::thread_scope_block><<<4, 1>>>(
        numbered<float>(4), unset<float>(4), unset<float>(4), zeros<unsigned>(1));
}
PLANTED(none, last_block_of_the_devices_scope) {
    last_block<cuda::thread_scope_device><<<4, 1>>>(
        numbered<float>(4), unset<float>(4), unset<float>(4), zeros<unsigned>(1));
}

// One side releases and the other one acquires; each may be narrow.
template <cuda::thread_scope kRelease, cuda::thread_scope kAcquire>
__global__ void hand_over(const float* x, float* data, float* out, int* flag) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        data[0] = x[0] * 2;  // narrow_release, narrow_acquire
        cuda::atomic_ref<int, kRelease>(*flag).store(1, cuda::memory_order_release);
    } else {
        cuda::atomic_ref<int, kAcquire> ready(*flag);
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        out[0] = data[0];  // narrow_release, narrow_acquire
    }
}
template <cuda::thread_scope kRelease, cuda::thread_scope kAcquire>
void run_hand_over(int blocks, int threads) {
    hand_over<kRelease, kAcquire><<<blocks, threads>>>(
        numbered<float>(1), unset<float>(1), unset<float>(1), zeros<int>(1));
}
PLANTED(race, narrow_release) {
    run_hand_over<cuda::thread_scope_block, cuda::thread_scope_device>(2, 1);
}
PLANTED(race, narrow_acquire) {
    run_hand_over<cuda::thread_scope_device, cuda::thread_scope_block>(2, 1);
}
PLANTED(none, narrow_on_both_sides_in_a_block) {
    run_hand_over<cuda::thread_scope_block, cuda::thread_scope_block>(1, 2);
}
PLANTED(none, narrow_on_one_side_in_a_block) {
    run_hand_over<cuda::thread_scope_block, cuda::thread_scope_device>(1, 2);
    run_hand_over<cuda::thread_scope_device, cuda::thread_scope_block>(1, 2);
}

// The flag is as wide as it has to be, the fences are not.
template <bool kOfBlock>
__global__ void fence_and_tell(const float* x, float* data, float* out, int* flag) {
    const auto fence = [] {
        if (kOfBlock)
            __threadfence_block();
        else
            __threadfence();
    };
    if (blockIdx.x == 0) {
        data[0] = x[0] * 2;  // fences_of_the_block
        fence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        fence();
        out[0] = data[0];  // fences_of_the_block
    }
}
PLANTED(race, fences_of_the_block) {
    fence_and_tell<true>
        <<<2, 1>>>(numbered<float>(1), unset<float>(1), unset<float>(1), zeros<int>(1));
}
PLANTED(none, fences_of_the_device) {
    fence_and_tell<false>
        <<<2, 1>>>(numbered<float>(1), unset<float>(1), unset<float>(1), zeros<int>(1));
}

// Each block counts for itself, in global memory; the last one adds up.
__global__ void count_apart(int* counters, int* out, unsigned* tickets) {
    __shared__ int here;
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    atomicAdd_block(&counters[blockIdx.x], 1);
    atomicMax_block(&here, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (threadIdx.x != 0) return;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*tickets);
    if (count.fetch_add(1, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
    out[0] = here;
    for (unsigned b = 0; b < gridDim.x; ++b)
        out[0] += counters[b];
}
PLANTED(none, counters_of_single_blocks) {
    count_apart<<<4, 64>>>(zeros<int>(4), unset<int>(1), zeros<unsigned>(1));
}
