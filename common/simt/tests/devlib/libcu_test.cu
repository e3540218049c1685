// The subset of CUDA's C++ library: barriers, pipelines, atomics.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <utility>

#include "check.h"

namespace cg = cooperative_groups;

namespace {

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void barrier_phases(int* out) {
    __shared__ alignas(Barrier) unsigned char storage[sizeof(Barrier)];
    __shared__ int values[128];
    auto& barrier = *reinterpret_cast<Barrier*>(storage);
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < 5; ++round) {
        values[threadIdx.x] = round * 1000 + threadIdx.x;
        Barrier::arrival_token token = barrier.arrive();
        barrier.wait(std::move(token));
        sum += values[127 - threadIdx.x];
        barrier.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

/// Warp 0 produces, warp 1 consumes; each arrives at both barriers, waits at one.
__global__ void producer_consumer(int* out) {
    __shared__ alignas(Barrier) unsigned char storage[2][sizeof(Barrier)];
    __shared__ int buffer[32];
    auto& filled = *reinterpret_cast<Barrier*>(storage[0]);
    auto& free = *reinterpret_cast<Barrier*>(storage[1]);
    if (threadIdx.x == 0) {
        init(&filled, 64);
        init(&free, 64);
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int round = 0; round < 10; ++round) {
            free.arrive_and_wait();
            buffer[lane] = round * lane;
            (void)filled.arrive();
        }
    } else {
        (void)free.arrive();
        int sum = 0;
        for (int round = 0; round < 10; ++round) {
            filled.arrive_and_wait();
            sum += buffer[31 - lane];
            if (round < 9) (void)free.arrive();
        }
        out[lane] = sum;
    }
}

__global__ void dropping(int* out) {
    __shared__ alignas(Barrier) unsigned char storage[sizeof(Barrier)];
    __shared__ int arrived;
    auto& barrier = *reinterpret_cast<Barrier*>(storage);
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        arrived = 0;
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        atomicAdd(&arrived, 1);
        barrier.arrive_and_drop();
        return;
    }
    barrier.arrive_and_wait();
    const int seen = arrived;
    barrier.arrive_and_wait();
    out[threadIdx.x] = seen;
}

__global__ void copy_with_barrier(const int* in, int* out) {
    __shared__ alignas(Barrier) unsigned char storage[sizeof(Barrier)];
    __shared__ alignas(16) int tile[128];
    auto& barrier = *reinterpret_cast<Barrier*>(storage);
    const auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

/// Two stages; the tile of step i is copied while that of step i - 1 is used.
template <class Pipeline>
__device__ void stream_tiles(
    Pipeline& pipe, int (*tiles)[128], const int* in, int* out, int steps) {
    const auto block = cg::this_thread_block();
    for (int step = 0; step <= steps; ++step) {
        if (step < steps) {
            pipe.producer_acquire();
            cuda::memcpy_async(
                block, tiles[step % 2], in + 128 * step, sizeof tiles[0], pipe);
            pipe.producer_commit();
        }
        if (step > 0) {
            pipe.consumer_wait();
            block.sync();
            out[128 * (step - 1) + threadIdx.x] =
                tiles[(step - 1) % 2][127 - threadIdx.x];
            block.sync();
            pipe.consumer_release();
        }
    }
}
__global__ void block_pipeline(const int* in, int* out, int steps) {
    using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
    __shared__ alignas(State) unsigned char storage[sizeof(State)];
    __shared__ alignas(16) int tiles[2][128];
    auto pipe =
        cuda::make_pipeline(cg::this_thread_block(), reinterpret_cast<State*>(storage));
    stream_tiles(pipe, tiles, in, out, steps);
}
__global__ void primitives(const int* in, int* out) {
    __shared__ alignas(16) int tile[4 * 32];
    __pipeline_memcpy_async(tile + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 4; ++i)
        out[4 * threadIdx.x + i] = tile[4 * threadIdx.x + i];
    __pipeline_memcpy_async(tile + 4 * threadIdx.x, in + 4 * threadIdx.x, 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 2; i < 4; ++i)
        out[4 * threadIdx.x + i] += tile[4 * threadIdx.x + i];
}

/// Roles: the first 32 threads copy, the other 64 use.
__global__ void partitioned_pipeline(const int* in, int* out, int steps) {
    using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
    __shared__ alignas(State) unsigned char storage[sizeof(State)];
    __shared__ alignas(16) int tiles[2][64];
    const auto block = cg::this_thread_block();
    const bool producer = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(
        block,
        reinterpret_cast<State*>(storage),
        producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int step = 0; step < steps; ++step) {
        if (producer) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < 64; i += 32) {
                cuda::memcpy_async(
                    &tiles[step % 2][i], in + 64 * step + i, sizeof(int), pipe);
            }
            pipe.producer_commit();
        } else {
            const int i = threadIdx.x - 32;
            pipe.consumer_wait();
            out[64 * step + i] = tiles[step % 2][63 - i];
            pipe.consumer_release();
        }
    }
}

__global__ void atomics(int* counters, float* sum) {
    cuda::atomic_ref<int, cuda::thread_scope_device> count(counters[0]);
    cuda::atomic_ref<int, cuda::thread_scope_device> most(counters[1]);
    count.fetch_add(1, cuda::memory_order_relaxed);
    most.fetch_max(int(blockIdx.x * blockDim.x + threadIdx.x));
    cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
}
/// Thread 0 of each block waits for its predecessor: a spin on an atomic.
__global__ void chain(cuda::atomic<int, cuda::thread_scope_device>* ticket,
                      int* order) {
    while (ticket->load(cuda::memory_order_acquire) != int(blockIdx.x)) {
    }
    order[blockIdx.x] = blockIdx.x;
    ticket->store(blockIdx.x + 1, cuda::memory_order_release);
}

__global__ void standard_types(int* out) {
    cuda::std::array<int, 3> a{1, 2, 3};
    cuda::std::tuple<int, float> t(4, 5.0f);
    static_assert(cuda::std::is_same_v<decltype(a)::value_type, int>);
    out[0] = a[2] + cuda::std::get<0>(t);
}

}  // namespace

int main() {
    const check::Array<int> out(1024);
    std::vector<int> numbers(1024);
    for (int i = 0; i < 1024; ++i)
        numbers[i] = 7 * i;
    const check::Array<int> in(numbers);
    const auto results = [&](size_t count) {
        auto values = out.host();
        values.resize(count);
        return values;
    };

    barrier_phases<<<1, 128>>>(out.data());
    check::expect(
        check::all_equal(results(128), [](int i) { return 10000 + 5 * (127 - i); }),
        "five phases of a barrier");
    producer_consumer<<<1, 64>>>(out.data());
    check::expect(check::all_equal(results(32), [](int i) { return 45 * (31 - i); }),
                  "producers and consumers with two barriers");
    dropping<<<1, 96>>>(out.data());
    check::expect(check::all_equal(results(32), [](int) { return 64; }),
                  "arrive_and_drop");
    copy_with_barrier<<<1, 128>>>(in.data(), out.data());
    check::expect(check::all_equal(results(128), [](int i) { return 7 * (127 - i); }),
                  "memcpy_async with a barrier");
    block_pipeline<<<1, 128>>>(in.data(), out.data(), 6);
    check::expect(
        check::all_equal(results(768),
                         [](int i) { return 7 * (i / 128 * 128 + 127 - i % 128); }),
        "a pipeline of the block");
    partitioned_pipeline<<<1, 96>>>(in.data(), out.data(), 8);
    check::expect(
        check::all_equal(results(512),
                         [](int i) { return 7 * (i / 64 * 64 + 63 - i % 64); }),
        "a pipeline with roles");
    primitives<<<1, 32>>>(in.data(), out.data());
    check::expect(check::all_equal(results(128), [](int i) { return 7 * i; }),
                  "__pipeline_memcpy_async, with zeros");

    const check::Array<int> counters(2);
    const check::Array<float> sum(1);
    atomics<<<4, 64>>>(counters.data(), sum.data());
    const auto counts = counters.host();
    check::expect(counts[0] == 256 && counts[1] == 255 && sum.host()[0] == 128,
                  "atomic_ref");
    const check::Array<int> ticket(1);
    chain<<<16, 1>>>(
        reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device>*>(ticket.data()),
        out.data());
    check::expect(check::all_equal(results(16), [](int i) { return i; }),
                  "a spin on cuda::atomic");
    standard_types<<<1, 1>>>(out.data());
    check::expect(results(1)[0] == 7, "cuda::std");
    return check::report();
}
