// Loads through the read-only cache, which no write of the kernel reaches.
#include "planted.h"

#include <cuda/atomic>

using planted::numbered;
using planted::unset;
using planted::zeros;

// A barrier orders the two, and the cache may still hold what was there before.
__global__ void write_then_read(float* x, float* out) {
    x[threadIdx.x] = 2;  // read_only_behind_a_barrier
    __syncthreads();
    out[threadIdx.x] = __ldg(&x[63 - threadIdx.x]);  // read_only_behind_a_barrier
}
PLANTED(race, read_only_behind_a_barrier) {
    write_then_read<<<1, 64>>>(numbered<float>(64), unset<float>(64));
}

__global__ void read_then_write(float* x) {
    const float mine = __ldg(&x[threadIdx.x]);  // read_only_until_it_is_written
    __syncthreads();
    x[63 - threadIdx.x] = mine;  // read_only_until_it_is_written
}
PLANTED(race, read_only_until_it_is_written) {
    read_then_write<<<1, 64>>>(numbered<float>(64));
}

// The thread's own element.
__global__ void in_place(float4* x) {
    const float4 old = __ldg(&x[threadIdx.x]);             // read_only_in_place
    x[threadIdx.x] = make_float4(old.y, old.x, old.w, 0);  // read_only_in_place
}
PLANTED(race, read_only_in_place) {
    in_place<<<1, 32>>>(reinterpret_cast<float4*>(numbered<float>(128)));
}

__global__ void by_ptx(unsigned* x, unsigned* out) {
    unsigned value;
    atomicAdd(&x[threadIdx.x], 1);             // read_only_by_ptx
    asm volatile("ld.global.nc.u32 %0, [%1];"  // read_only_by_ptx
                 : "=r"(value)
                 : "l"(x + threadIdx.x));
    out[threadIdx.x] = value;
}
PLANTED(race, read_only_by_ptx) {
    by_ptx<<<1, 32>>>(zeros<unsigned>(32), unset<unsigned>(32));
}

__device__ int table[32];

__global__ void fill_and_read(int* out) {
    table[threadIdx.x] = static_cast<int>(threadIdx.x);  // read_only_variable
    out[threadIdx.x] = __ldg(&table[threadIdx.x]);       // read_only_variable
}
PLANTED(race, read_only_variable) {
    fill_and_read<<<1, 32>>>(unset<int>(32));
}

// The last block reads the others' parts: by __ldcg it may.
template <bool kReadOnly>
__global__ void add_parts(const float* x, float* parts, float* out, unsigned* tickets) {
    parts[blockIdx.x] = 2 * __ldg(&x[blockIdx.x]);  // read_only_parts_of_other_blocks
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*tickets);
    if (count.fetch_add(1, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
        sum += kReadOnly ? __ldg(&parts[b])  // read_only_parts_of_other_blocks
                         : __ldcg(&parts[b]);
    out[0] = sum;
}
PLANTED(race, read_only_parts_of_other_blocks) {
    add_parts<true><<<4, 1>>>(
        numbered<float>(4), unset<float>(4), unset<float>(1), zeros<unsigned>(1));
}
PLANTED(none, parts_of_other_blocks) {
    add_parts<false><<<4, 1>>>(
        numbered<float>(4), unset<float>(4), unset<float>(1), zeros<unsigned>(1));
}

// What an earlier launch has written may be read so; and what lies beside it, to the
// byte, may be written.
__global__ void write_odd(unsigned char* x) {
    x[2 * threadIdx.x + 1] = 1;
}
__global__ void write_even(unsigned char* x) {
    x[2 * threadIdx.x] = __ldg(&x[2 * threadIdx.x + 1]);
}
PLANTED(none, read_only_since_the_launch_before) {
    auto* x = unset<unsigned char>(64);
    write_odd<<<1, 32>>>(x);
    write_even<<<1, 32>>>(x);
    write_odd<<<1, 32>>>(x);
}
