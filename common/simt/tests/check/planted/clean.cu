// Correct programs: the checker must say nothing about any of them.
#include "planted.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>

using planted::numbered;
using planted::unset;
using planted::zeros;

namespace cg = cooperative_groups;

constexpr int kThreads = 128;

__global__ void tree(const float* x, float* out, int n) {
    __shared__ float partial[kThreads];
    const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
    partial[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = kThreads / 2; s >= 32; s /= 2) {
        if (t < s) partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t < 32) {
        for (int s = 16; s > 0; s /= 2) {
            const float other = partial[(t + s) % 32];
            __syncwarp();
            partial[t] += other;
            __syncwarp();
        }
    }
    if (t == 0) atomicAdd(out, partial[0]);
}
PLANTED(none, tree_reduction) {
    tree<<<4, kThreads>>>(numbered<float>(500), zeros<float>(1), 500);
}

// Values at the ends of their types, and what converts by name.
__global__ void last_values(const float* x, int* out) {
    const int t = threadIdx.x;
    const unsigned last = 0x80000000u >> (t % 32);
    out[t] = static_cast<int>(last >> 1) ^ static_cast<int>(x[t] * -2147483648.0f / 7) ^
             __float2int_rz(x[t] * 1e20f) ^ static_cast<int>(1u << t);
}
PLANTED(none, last_values_of_types) {
    last_values<<<1, 32>>>(numbered<float>(32), zeros<int>(32));
}

__global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[16][17];
    for (int step = 0; step < 2; ++step) {
        const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
        tile[threadIdx.y][threadIdx.x] = in[y * n + x];
        __syncthreads();
        out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] =
            tile[threadIdx.x][threadIdx.y];
        __syncthreads();
    }
}
PLANTED(none, tiled_transpose) {
    transpose<<<dim3(2, 2), dim3(16, 16)>>>(
        numbered<float>(1024), unset<float>(1024), 32);
}

__device__ unsigned finished;

// The idiom of CUDA's sample threadFenceReduction.
__global__ void last_block(const float* x, volatile float* partial, float* out) {
    __shared__ bool last;
    float sum = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 32; ++i)
            sum += x[blockIdx.x * 32 + i];
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __shared__ float all[32];
    all[threadIdx.x] = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int i = 0; i < 32; ++i)
            total += all[i];
        out[0] = total;
    }
}
PLANTED(none, last_block_idiom) {
    for (int i = 0; i < 2; ++i)
        last_block<<<8, 32>>>(numbered<float>(256), unset<float>(8), unset<float>(1));
}

// All threads store, all fence, one counts.
__global__ void all_fence(const float* x,
                          float* partial,
                          float* out,
                          unsigned* tickets) {
    __shared__ bool last;
    partial[blockIdx.x * 32 + threadIdx.x] = 2 * x[blockIdx.x * 32 + threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(tickets, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (unsigned i = threadIdx.x; i < gridDim.x * 32; i += 32)
        out[i] = partial[i];
}
PLANTED(none, last_block_of_many_threads) {
    all_fence<<<8, 32>>>(
        numbered<float>(256), unset<float>(256), unset<float>(256), zeros<unsigned>(1));
}

// A scan with look-back: flags say which sums are there.
__global__ void look_back(const int* x, int* out, volatile int* sums, int* flags) {
    __shared__ int block_sum, before;
    const int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 32; ++i)
            sum += x[b * 32 + i];
        block_sum = sum;
        if (b > 0) {
            while (atomicAdd(&flags[b - 1], 0) == 0) {
            }
            __threadfence();
        }
        before = b > 0 ? sums[b - 1] : 0;
        sums[b] = before + block_sum;
        __threadfence();
        atomicExch(&flags[b], 1);
    }
    __syncthreads();
    out[b * 32 + t] = before + x[b * 32 + t];
}
PLANTED(none, scan_with_look_back) {
    look_back<<<8, 32>>>(
        numbered<int>(256), unset<int>(256), unset<int>(8), zeros<int>(8));
}

__global__ void pipeline(const float4* x, float4* out, int tiles) {
    extern __shared__ float4 stages[];
    const int t = threadIdx.x, n = blockDim.x;
    for (int s = 0; s < 2; ++s) {
        if (s < tiles)
            __pipeline_memcpy_async(&stages[s * n + t], &x[s * n + t], sizeof(float4));
        __pipeline_commit();
    }
    for (int i = 0; i < tiles; ++i) {
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * n + t] = stages[i % 2 * n + (n - 1 - t)];
        __syncthreads();
        if (i + 2 < tiles)
            __pipeline_memcpy_async(
                &stages[i % 2 * n + t], &x[(i + 2) * n + t], sizeof(float4));
        __pipeline_commit();
    }
}
PLANTED(none, asynchronous_pipeline) {
    pipeline<<<1, 64, 2 * 64 * sizeof(float4)>>>(
        reinterpret_cast<const float4*>(numbered<float>(4 * 64 * 5)),
        reinterpret_cast<float4*>(unset<float>(4 * 64 * 5)),
        5);
}

__global__ void smooth(float* x, float* y, int n, int steps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; ++s) {
        y[i] = 0.5f * (x[i] + x[(i + 33) % n]);
        cg::this_grid().sync();
        x[i] = y[(i + 65) % n];
        cg::this_grid().sync();
    }
}
PLANTED(none, grid_barrier) {
    float *x = numbered<float>(128), *y = unset<float>(128);
    int n = 128, steps = 3;
    void* arguments[] = {&x, &y, &n, &steps};
    cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(smooth), dim3(4), dim3(32), arguments, 0, nullptr);
}

__device__ void atomic_max(float* address, float value) {
    int* bits = reinterpret_cast<int*>(address);
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(
            bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
}

__global__ void histogram(const int* keys, int* bins, float* largest) {
    __shared__ int mine[8];
    if (threadIdx.x < 8) mine[threadIdx.x] = 0;
    __syncthreads();
    const int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&mine[key], 1);
    atomic_max(largest, static_cast<float>(key));
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
PLANTED(none, privatised_histogram) {
    histogram<<<4, 64>>>(numbered<int>(256), zeros<int>(8), zeros<float>(1));
}

__global__ void tiles(const float* x, float* out) {
    __shared__ float s[64];
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int t = threadIdx.x;
    s[t] = x[t];
    tile.sync();
    const float left = s[t / 8 * 8 + (t + 1) % 8];
    tile.sync();
    s[t] = left;
    if (t % 16 < 8) tile.sync();
    __syncwarp();
    out[t] = s[t / 32 * 32 + (t + 17) % 32];
}
PLANTED(none, tiles_of_a_warp) {
    tiles<<<1, 64>>>(numbered<float>(64), unset<float>(64));
}

struct Particle {  // with gaps
    char kind;
    double mass;
    float3 position;
};

__global__ void make(Particle* p) {
    Particle mine;
    mine.kind = 'a';
    mine.mass = threadIdx.x;
    mine.position = make_float3(1, 2, 3);
    p[threadIdx.x] = mine;
}
__global__ void move(const Particle* p, Particle* q, float4 by) {
    __shared__ Particle s[32];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    Particle mine = s[31 - threadIdx.x];
    mine.position.x += by.x;
    q[threadIdx.x] = mine;
}
struct Mixed {
    int a;  // four bytes that nobody writes follow
    double b;
};

__global__ void make_mixed(Mixed* p) {
    p[threadIdx.x].a = 1;
    p[threadIdx.x].b = 2;
}
__global__ void copy_mixed(const Mixed* p, Mixed* q) {
    q[threadIdx.x] = p[31 - threadIdx.x];
}
PLANTED(none, structures_with_a_hole) {
    auto *p = unset<Mixed>(32), *q = unset<Mixed>(32);
    make_mixed<<<1, 32>>>(p);
    copy_mixed<<<1, 32>>>(p, q);
}

PLANTED(none, structures) {
    auto *p = unset<Particle>(32), *q = unset<Particle>(32);
    make<<<1, 32>>>(p);
    cudaMemcpy(q, p, 32 * sizeof(Particle), cudaMemcpyDeviceToDevice);
    move<<<1, 32>>>(q, p, make_float4(1, 2, 3, 4));
}

__global__ void phases(const float* x, float* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ float s[64];
    const int t = threadIdx.x;
    if (t == 0) init(&barrier, 64);
    __syncthreads();
    s[t] = x[t];
    barrier.arrive_and_wait();
    const float other = s[63 - t];
    barrier.arrive_and_wait();
    s[t] = other;
    barrier.arrive_and_wait();
    out[t] = s[(t + 33) % 64];
}
PLANTED(none, barrier_object) {
    phases<<<1, 64>>>(numbered<float>(64), zeros<float>(64));
}

// Publishes with release, takes with acquire.
__global__ void hand_over(const float* x, float* data, float* out, int* flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = x[0] * 2;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        out[0] = data[0];
    }
}
PLANTED(none, release_and_acquire) {
    hand_over<<<2, 1>>>(
        numbered<float>(1), unset<float>(1), unset<float>(1), zeros<int>(1));
}

__device__ int turns;

__global__ void locked(int* lock, int* value) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *value += 1;
    turns = *value;
    __threadfence();
    atomicExch(lock, 0);
}
PLANTED(none, lock_with_fences) {
    locked<<<8, 32>>>(zeros<int>(1), zeros<int>(1));
}

__global__ void double_managed(int* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
PLANTED(none, managed_memory) {
    int* x = nullptr;
    cudaMallocManaged(&x, 100 * sizeof(int));
    for (int i = 0; i < 100; ++i)
        x[i] = i;
    double_managed<<<4, 32>>>(x, 100);
    cudaDeviceSynchronize();
    if (x[99] != 198) std::printf("wrong\n");
    cudaFree(x);
}

// Memory that the kernel allocates itself.
__global__ void scratch(int* out) {
    int* mine = new int[4];
    for (int i = 0; i < 4; ++i)
        mine[i] = i + static_cast<int>(threadIdx.x);
    out[threadIdx.x] = mine[3] - mine[0];
    delete[] mine;
}
PLANTED(none, memory_of_the_kernel) {
    scratch<<<1, 32>>>(unset<int>(32));
}

// The same shared memory, block after block; global memory, launch after launch.
__global__ void reuse(float* x) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (blockIdx.x == 0) x[threadIdx.x] = s[31 - threadIdx.x];
}
PLANTED(none, launch_after_launch) {
    float* x = numbered<float>(32);
    for (int i = 0; i < 3; ++i)
        reuse<<<1, 32>>>(x);
    double_managed<<<1, 32>>>(reinterpret_cast<int*>(x), 32);
}

// Lanes that have returned need not come to a shuffle that names them.
__global__ void shuffle_after_exit(const float* x, float* out, int n) {
    const int t = threadIdx.x;
    if (t >= n) return;
    const unsigned mask = (1u << n) - 1;
    const float left = __shfl_sync(mask, x[t], (t + 1) % n);
    out[t] = left + (__activemask() == mask ? 1.0f : 0.0f);
}
PLANTED(none, shuffle_of_some_lanes) {
    shuffle_after_exit<<<1, 32>>>(numbered<float>(32), unset<float>(32), 20);
}

// Many threads store one value, as a breadth-first search does: whichever is last, the
// result is the same.
__global__ void mark_neighbours(const int* x, int* found, double* wide, bool* any) {
    __shared__ float half;
    half = 0.5f;
    __syncthreads();
    const int i = blockIdx.x * 64 + threadIdx.x;
    found[x[i] / 8] = 7;
    wide[0] = 2 * half;
    if (i % 3 == 0) *any = true;
}
PLANTED(none, same_value_by_all) {
    mark_neighbours<<<3, 64>>>(
        numbered<int>(192), unset<int>(24), unset<double>(1), unset<bool>(1));
}

// Host code of a .cpp file or a library is not compiled for the checker.
__attribute__((noinline, no_sanitize("thread"))) void fill_elsewhere(int* x,
                                                                     int n,
                                                                     int first) {
    for (int i = 0; i < n; ++i)
        x[i] = first + i % 2;
}
__global__ void add_up(const int* x, int* out) {
    atomicAdd(out, x[threadIdx.x]);
}
PLANTED(none, managed_memory_filled_by_the_host) {
    int *x = nullptr, *out = nullptr;
    cudaMallocManaged(&x, 32 * sizeof(int));
    cudaMallocManaged(&out, sizeof(int));
    fill_elsewhere(x, 32, -1);
    *out = -1;
    add_up<<<1, 32>>>(x, out);
}
PLANTED(none, pinned_memory_filled_by_the_host) {
    int *pinned = nullptr, *x = unset<int>(33);
    cudaMallocHost(&pinned, 33 * sizeof(int));
    fill_elsewhere(pinned, 33, -1);
    cudaMemcpy(x, pinned + 1, 32 * sizeof(int), cudaMemcpyHostToDevice);
    add_up<<<1, 32>>>(x, zeros<int>(1));
    cudaDeviceSynchronize();
    // Used again, after a copy of bytes that nobody had written.
    cudaMemcpy(pinned, unset<int>(33), 33 * sizeof(int), cudaMemcpyDeviceToHost);
    fill_elsewhere(pinned, 16, 1);
    cudaMemcpy(x, pinned, 16 * sizeof(int), cudaMemcpyHostToDevice);
    add_up<<<1, 16>>>(x, zeros<int>(1));
}

// The last block, which has seen all tickets, puts their counter back to 0.
__global__ void start_over(const float* x,
                           float* partial,
                           float* out,
                           unsigned* tickets) {
    __shared__ bool last;
    partial[blockIdx.x * 32 + threadIdx.x] = 2 * x[blockIdx.x * 32 + threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    for (unsigned i = threadIdx.x; i < gridDim.x * 32; i += 32)
        out[i] = partial[i];
    if (threadIdx.x == 0) *tickets = 0;
}
PLANTED(none, last_block_starts_over) {
    unsigned* tickets = zeros<unsigned>(1);
    for (int i = 0; i < 2; ++i)
        start_over<<<8, 32>>>(
            numbered<float>(256), unset<float>(256), unset<float>(256), tickets);
}

// A shift whose value holds an index. g++ 12 makes wrong code of it if it checks both
// (-fsanitize=bounds,shift-exponent), and blames another index or stores elsewhere.
struct FourWords {
    unsigned word[4];
};
__device__ __noinline__ FourWords words_from(const unsigned* x, int i) {
    return {{x[i], x[i + 1], x[i + 2], x[i + 3]}};
}
template <int kCount>
__device__ unsigned not_below(const unsigned* x, const unsigned& threshold) {
    unsigned kept = 0;
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
        const FourWords words = words_from(x, i);
#pragma unroll
        for (int j = 0; j < 4; ++j)
            kept |= (words.word[j] < threshold ? 0u : 1u) << (i + j);
    }
    return kept;
}
__global__ void mark_kept(const unsigned* x, int* out, unsigned threshold) {
    out[not_below<8>(x, threshold) ^ 0x60u] = 1;  // x is 0, 1, ... 6, 0
}
PLANTED(none, shift_of_an_indexed_value) {
    mark_kept<<<1, 1>>>(numbered<unsigned>(8), unset<int>(1), 5);
}

// The flag that PTX's carries go through is no memory.
__global__ void add_long(const unsigned* a, const unsigned* b, unsigned* sum) {
    const unsigned i = 2 * threadIdx.x;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum[i]) : "r"(a[i]), "r"(b[i]));
    asm volatile("addc.u32 %0, %1, %2;"
                 : "=r"(sum[i + 1])
                 : "r"(a[i + 1]), "r"(b[i + 1]));
}
PLANTED(none, carries_of_ptx) {
    add_long<<<1, 32>>>(
        numbered<unsigned>(64), numbered<unsigned>(64), unset<unsigned>(64));
}
