// Races between blocks.
#include "planted.h"

#include <cuda/atomic>

using planted::numbered;
using planted::unset;
using planted::zeros;

__global__ void same_output(const float* x, float* out) {
    const float mine = x[blockIdx.x * 32 + threadIdx.x];
    out[threadIdx.x] = mine;  // two_blocks_write_one_element
}
PLANTED(race, two_blocks_write_one_element) {
    same_output<<<2, 32>>>(numbered<float>(64), zeros<float>(32));
}

__global__ void histogram(const int* keys, int* count) {
    count[keys[blockIdx.x * 32 + threadIdx.x]] += 1;  // non_atomic_histogram
}
PLANTED(race, non_atomic_histogram) {
    histogram<<<4, 32>>>(numbered<int>(128), zeros<int>(8));
}

// In place, and a block reads its neighbour's elements.
__global__ void blur(float* x, int n) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    const float right = i + 1 < n ? x[i + 1] : 0;  // stencil_in_place
    __syncthreads();
    x[i] = 0.5f * (x[i] + right);  // stencil_in_place
}
PLANTED(race, stencil_in_place) {
    blur<<<4, 32>>>(numbered<float>(128), 128);
}

__device__ unsigned finished;

// The last block adds up what the others have stored. Without __threadfence() nothing
// says that their sums come before their tickets.
__global__ void last_block(const float* x, float* partial, float* out) {
    __shared__ bool last;
    float sum = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 32; ++i)
            sum += x[blockIdx.x * 32 + i];
        partial[blockIdx.x] = sum;  // last_block_without_fence
        last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0;
        for (unsigned b = 0; b < gridDim.x; ++b)
            total += partial[b];  // last_block_without_fence
        out[0] = total;
    }
}
PLANTED(race, last_block_without_fence) {
    last_block<<<4, 32>>>(numbered<float>(128), zeros<float>(4), zeros<float>(1));
}

// One operation in place of atomic operation and fences; its order decides.
__device__ bool is_last(unsigned* tickets, cuda::memory_order order) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*tickets);
    return count.fetch_add(1, order) == gridDim.x - 1;
}

template <cuda::memory_order kOrder>
__global__ void last_block_by_order(const float* x,
                                    float* partial,
                                    float* out,
                                    unsigned* tickets) {
    if (threadIdx.x != 0) return;
    partial[blockIdx.x] = 2 * x[blockIdx.x];  // last_block_relaxed, last_block_releases
    if (!is_last(tickets, kOrder)) return;
    for (unsigned b = 0; b < gridDim.x; ++b)
        out[b] = partial[b];  // last_block_relaxed, last_block_releases
}
template <cuda::memory_order kOrder>
void run_last_block_by_order() {
    last_block_by_order<kOrder><<<4, 32>>>(
        numbered<float>(4), unset<float>(4), unset<float>(4), zeros<unsigned>(1));
}
PLANTED(race, last_block_relaxed) {
    run_last_block_by_order<cuda::memory_order_relaxed>();
}
// Whoever counts last must acquire, too.
PLANTED(race, last_block_releases) {
    run_last_block_by_order<cuda::memory_order_release>();
}
PLANTED(none, last_block_acquires_and_releases) {
    run_last_block_by_order<cuda::memory_order_acq_rel>();
}

// All threads store. Fences are before a barrier, or behind one; of the one who counts,
// or of all.
enum class Fences { all_before, one_before, one_behind, one_behind_no_second };

template <Fences kFences>
__global__ void last_block_with_fences(const float* x,
                                       float* partial,
                                       float* out,
                                       unsigned* tickets) {
    __shared__ bool last;
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    partial[i] = 2 * x[i];  // fence_of_another_thread, last_block_without_second_fence
    if (kFences == Fences::all_before) __threadfence();
    if (kFences == Fences::one_before && threadIdx.x == 0) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (kFences >= Fences::one_behind) __threadfence();
        last = is_last(tickets, cuda::memory_order_relaxed);
        if (kFences != Fences::one_behind_no_second) __threadfence();
    }
    __syncthreads();
    if (!last) return;
    for (unsigned j = threadIdx.x; j < gridDim.x * 64; j += 64)
        out[j] = partial[j];  // last_block_without_second_fence
}
template <Fences kFences>
void run_last_block_with_fences() {
    last_block_with_fences<kFences><<<4, 64>>>(
        numbered<float>(256), unset<float>(256), unset<float>(256), zeros<unsigned>(1));
}
PLANTED(none, last_block_all_fence) {
    run_last_block_with_fences<Fences::all_before>();
}
PLANTED(none, last_block_one_fences) {
    run_last_block_with_fences<Fences::one_behind>();
}
PLANTED(race, fence_of_another_thread) {
    run_last_block_with_fences<Fences::one_before>();
}
PLANTED(race, last_block_without_second_fence) {
    run_last_block_with_fences<Fences::one_behind_no_second>();
}

// A lane of each warp stores and fences; another warp counts.
__global__ void warps_fence(const float* x,
                            float* partial,
                            float* out,
                            unsigned* tickets) {
    __shared__ bool last;
    const unsigned i = blockIdx.x * 2 + threadIdx.x / 32;
    if (threadIdx.x < 64 && threadIdx.x % 32 == 0) {
        partial[i] = 2 * x[i];
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 64) {
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x * 2) out[threadIdx.x] = partial[threadIdx.x];
}
PLANTED(none, warps_fence_and_another_counts) {
    warps_fence<<<4, 96>>>(
        numbered<float>(8), unset<float>(8), unset<float>(8), zeros<unsigned>(1));
}

// What a flag announces; it is read until it is there.
template <bool kFence>
__global__ void wait_for_flag(const float* x, float* data, float* out, int* flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = x[0] * 2;  // flag_read_relaxed
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) {
        }
        if (kFence) cuda::atomic_thread_fence(cuda::memory_order_acquire);
        out[0] = data[0];  // flag_read_relaxed
    }
}
PLANTED(race, flag_read_relaxed) {
    wait_for_flag<false>
        <<<2, 1>>>(numbered<float>(1), unset<float>(1), unset<float>(1), zeros<int>(1));
}
PLANTED(none, flag_read_and_a_fence) {
    wait_for_flag<true>
        <<<2, 1>>>(numbered<float>(1), unset<float>(1), unset<float>(1), zeros<int>(1));
}

__global__ void add_and_store(float* total) {
    if (blockIdx.x == 1)
        total[0] = 0;  // atomic_mixed_with_plain_store
    else
        atomicAdd(total, 1.0f);  // atomic_mixed_with_plain_store
}
PLANTED(race, atomic_mixed_with_plain_store) {
    add_and_store<<<4, 32>>>(zeros<float>(1));
}

__device__ int device_counter;

__global__ void count_in_variable() {
    device_counter += 1;  // race_on_a_device_variable
}
PLANTED(race, race_on_a_device_variable) {
    count_in_variable<<<2, 1>>>();
}

// A lock whose holder gives it back without a fence.
__global__ void locked(int* lock, int* value) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *value += 1;  // lock_without_fence
    atomicExch(lock, 0);
}
PLANTED(race, lock_without_fence) {
    locked<<<4, 32>>>(zeros<int>(1), zeros<int>(1));
}

// One value by all is no race, see clean.cu. Two values are one, and so is a value that
// somebody may read before the others have written it, too.
__global__ void mark_by_sign(const int* x, int* mark) {
    mark[0] = x[threadIdx.x] < 3 ? 1 : 2;  // two_values_by_one_line
}
PLANTED(race, two_values_by_one_line) {
    mark_by_sign<<<1, 128>>>(numbered<int>(128), zeros<int>(1));
}

__global__ void mark_then_clear(int* mark) {
    mark[threadIdx.x / 32] = 1;  // value_replaced_by_a_lane
    __threadfence();
    if (threadIdx.x == 31) mark[0] = 0;  // value_replaced_by_a_lane
}
PLANTED(race, value_replaced_by_a_lane) {
    mark_then_clear<<<1, 32>>>(zeros<int>(1));
}

__global__ void mark_and_read(int* out) {
    __shared__ int mark;
    mark = 1;  // same_value_and_a_reader
    __syncwarp();
    out[threadIdx.x] = mark;  // same_value_and_a_reader
}
PLANTED(race, same_value_and_a_reader) {
    mark_and_read<<<1, 64>>>(unset<int>(64));
}
