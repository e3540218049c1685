// Threads, blocks, barriers, grids.
#include <atomic>
#include <thread>

#include "harness.h"

namespace {

using test::Buffer;

unsigned block_number() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
unsigned thread_number() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

void mark(int* count) {
    const unsigned size = blockDim.x * blockDim.y * blockDim.z;
    atomicAdd(&count[block_number() * size + thread_number()], 1);
}

TEST("every thread of a 3-D grid of 3-D blocks runs once, with its own indices") {
    const dim3 grid(3, 4, 5), block(7, 3, 2);
    Buffer<int> count(3 * 4 * 5 * 7 * 3 * 2);
    LAUNCH(mark, grid, block)(count.get());
    for (size_t i = 0; i < count.size(); ++i)
        CHECK(count[i] == 1);
}

void rotate_rows(int* data, int steps) {
    const unsigned i = threadIdx.x;
    for (int s = 0; s < steps; ++s) {
        const int neighbour = data[(i + 1) % blockDim.x];
        __syncthreads();
        data[i] = neighbour;
        __syncthreads();
    }
}

TEST("a barrier separates reads from writes") {
    for (unsigned n : {1u, 31u, 32u, 33u, 257u, 1024u}) {
        Buffer<int> data(n);
        for (unsigned i = 0; i < n; ++i)
            data[i] = static_cast<int>(i);
        LAUNCH(rotate_rows, 1, n)(data.get(), 5);
        for (unsigned i = 0; i < n; ++i)
            CHECK(data[i] == static_cast<int>((i + 5) % n));
    }
}

void votes(int* out) {
    const int i = static_cast<int>(threadIdx.x);
    out[i * 4] = __syncthreads_count(i < 10);
    out[i * 4 + 1] = __syncthreads_or(i == 60);
    out[i * 4 + 2] = __syncthreads_and(i >= 0);
    out[i * 4 + 3] = __syncthreads_and(i != 60);
}

TEST("barriers count, or and and predicates") {
    Buffer<int> out(64 * 4);
    LAUNCH(votes, 1, 64)(out.get());
    for (size_t i = 0; i < 64; ++i) {
        CHECK(out[i * 4] == 10);
        CHECK(out[i * 4 + 1] == 1);
        CHECK(out[i * 4 + 2] == 1);
        CHECK(out[i * 4 + 3] == 0);
    }
}

void early_return(int* out, unsigned n) {
    if (threadIdx.x >= n) return;
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    out[100 + threadIdx.x] = out[(threadIdx.x + 1) % n];
}

TEST("threads that returned count as arrived at a barrier") {
    Buffer<int> out(200);
    LAUNCH(early_return, 1, 128)(out.get(), 100u);
    CHECK(test::take_fault() == 0);
    CHECK(out[100] == 1 && out[199] == 0);
}

struct Tile {
    float value[64];
};

void shared_reverse(float* out, float* fresh) {
    Tile& tile = simt::shared<Tile>("tile");
    fresh[blockIdx.x * 64 + threadIdx.x] = tile.value[threadIdx.x];
    __syncthreads();
    tile.value[threadIdx.x] = static_cast<float>(threadIdx.x);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile.value[63 - threadIdx.x];
}

// Only one of 7 threads waits: those before it in its row have returned, those behind
// it are begun while it waits.
void wait_now_and_then(int* seen) {
    const unsigned i = thread_number();
    if (i % 7 != 5) return;
    seen[i] = static_cast<int>(100 * threadIdx.y + threadIdx.x);
    __syncthreads();
    seen[i] += 10000 * __syncthreads_count(i > 40);
    seen[i] += 1000000 * __builtin_popcount(__ballot_sync(~0u, 1));
}

TEST("threads of a row return before and behind one that waits") {
    for (dim3 block : {dim3(96), dim3(16, 6), dim3(24, 4), dim3(1, 96)}) {
        Buffer<int> seen(96);
        LAUNCH(wait_now_and_then, 1, block)(seen.get());
        CHECK(test::take_fault() == 0);
        for (unsigned i = 0; i < 96; ++i) {
            const unsigned index = 100 * (i / block.x) + i % block.x;
            unsigned lanes = 0;  // of the warp that wait
            for (unsigned k = i / 32 * 32; k < i / 32 * 32 + 32; ++k)
                lanes += k % 7 == 5;
            const unsigned expected = index + 10000 * 7 + 1000000 * lanes;
            CHECK(seen[i] == (i % 7 == 5 ? static_cast<int>(expected) : 0));
        }
    }
}

TEST("each block has its own shared memory, poisoned at its start") {
    Buffer<float> out(50 * 64), fresh(50 * 64, 1.0f);
    LAUNCH(shared_reverse, 50, 64)(out.get(), fresh.get());
    for (size_t i = 0; i < out.size(); ++i) {
        CHECK(out[i] == static_cast<float>(63 - i % 64));
        CHECK(fresh[i] != fresh[i]);
    }
}

void dynamic_sum(int* out, int n) {
    int* s = simt::dynamic_shared<int>();
    for (int i = static_cast<int>(threadIdx.x); i < n; i += 32)
        s[i] = i;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < n; ++i)
        sum += s[i];
    out[threadIdx.x] = sum;
}

TEST("dynamic shared memory has the size of the launch") {
    for (int n : {1, 100, 12288}) {
        Buffer<int> out(32);
        LAUNCH(dynamic_sum, 1, 32, static_cast<size_t>(n) * 4)(out.get(), n);
        CHECK(out[31] == n * (n - 1) / 2);
    }
}

void spread(float* data, int n, float factor) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
         i < static_cast<unsigned>(n);
         i += gridDim.x * blockDim.x)
        data[i] *= factor;
}

TEST("several host threads launch at once") {
    constexpr int kThreads = 6, kRounds = 50, kSize = 5000;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&] {
            Buffer<float> data(kSize, 1.0f);
            for (int r = 0; r < kRounds; ++r)
                LAUNCH(spread, 20, 128)(data.get(), kSize, r % 2 ? 0.5f : 2.0f);
            for (size_t i = 0; i < kSize; ++i)
                wrong += data[i] != 1.0f;
        });
    for (auto& t : threads)
        t.join();
    CHECK(wrong == 0);
}

void tree(int* counts, int depth) {
    atomicAdd(&counts[depth], 1);
    if (depth + 1 < 5 && threadIdx.x == 0) {
        LAUNCH(tree, 1, 2)(counts, depth + 1);
        LAUNCH(tree, 1, 2)(counts, depth + 1);
    }
}

TEST("kernels launch kernels, which have run when the launch is over") {
    Buffer<int> counts(5);
    LAUNCH(tree, 3, 2)(counts.get(), 0);
    for (int d = 0; d < 5; ++d)
        CHECK(counts[static_cast<size_t>(d)] == 6 << d);
}

void grid_sum(int* data, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned n = gridDim.x * blockDim.x;
    for (int round = 0; round < 3; ++round) {
        const int next = data[(i + blockDim.x) % n];
        simt::detail::grid_barrier(__FILE__, __LINE__);
        data[i] = next;
        simt::detail::grid_barrier(__FILE__, __LINE__);
    }
    out[i] = data[i];
}

TEST("a cooperative launch synchronises its grid") {
    for (unsigned blocks : {1u, 2u, 7u, 64u}) {
        const unsigned n = blocks * 96;
        Buffer<int> data(n), out(n);
        for (unsigned i = 0; i < n; ++i)
            data[i] = static_cast<int>(i);
        simt::Config config(blocks, 96);
        config.cooperative = true;
        simt::kernel("grid_sum", grid_sum).with(config)(data.get(), out.get());
        CHECK(test::take_fault() == 0);
        for (unsigned i = 0; i < n; ++i)
            CHECK(out[i] == static_cast<int>((i + 3 * 96) % n));
    }
}

void lower_neighbour(int* data) {
    const unsigned i = threadIdx.x;
    data[i] = i == 0 ? 0 : data[i - 1] + 1;  // a race
}

TEST("a seed shuffles the order of threads, reproducibly") {
    constexpr unsigned kSize = 256;
    const auto run = [](unsigned seed) {
        simt::set_seed(seed);
        Buffer<int> data(kSize);
        LAUNCH(lower_neighbour, 1, kSize)(data.get());
        simt::set_seed(0);
        return std::vector<int>(data.get(), data.get() + kSize);
    };
    std::vector<int> in_order(kSize);
    for (unsigned i = 0; i < kSize; ++i)
        in_order[i] = static_cast<int>(i);
    CHECK(run(0) == in_order);
    CHECK(run(1) != in_order);
    CHECK(run(1) != run(2));
}

void count_there_and_back(unsigned* here, unsigned* most) {
    const unsigned before = atomicAdd(here, 1u);
    atomicMax(most, before);
    atomicSub(here, 1u);
}

TEST("seeds that are multiples of 5 interrupt threads between atomic operations") {
    for (const unsigned seed : {0u, 1u, 2u, 5u, 10u}) {
        simt::set_seed(seed);
        Buffer<unsigned> counts(2);
        counts[0] = counts[1] = 0;
        LAUNCH(count_there_and_back, 1, 128)(counts.get(), counts.get() + 1);
        simt::set_seed(0);
        CHECK(counts[0] == 0);
        CHECK((counts[1] > 0) == (seed != 0 && seed % 5 == 0));
        CHECK(counts[1] < 128);
    }
}

TEST("correct kernels give the same with every seed") {
    for (unsigned seed = 1; seed < 6; ++seed) {
        simt::set_seed(seed);
        Buffer<int> data(300), out(64 * 4);
        for (unsigned i = 0; i < 300; ++i)
            data[i] = static_cast<int>(i);
        LAUNCH(rotate_rows, 1, 300)(data.get(), 7);
        LAUNCH(votes, 1, 64)(out.get());
        simt::set_seed(0);
        CHECK(data[0] == 7);
        CHECK(out[63 * 4] == 10);
    }
}

void copy_async(const float* in, float* early, float* out) {
    Tile& tile = simt::shared<Tile>("tile");
    const unsigned i = threadIdx.x * 4;
    simt::detail::cp_async(&tile.value[i], in + i, 16);
    simt::detail::cp_async_commit();
    early[i] = tile.value[i];
    simt::detail::cp_async(&tile.value[i], in + 64 + i, 16, 8);
    simt::detail::cp_async_commit();
    simt::detail::cp_async_wait(1);
    out[i] = tile.value[i];
    simt::detail::cp_async_wait(0);
    out[i + 1] = tile.value[i + 1];
    out[i + 2] = tile.value[i + 2];
}

TEST("asynchronous copies land when they are waited for") {
    Buffer<float> in(128), early(64), out(64);
    for (unsigned i = 0; i < 128; ++i)
        in[i] = static_cast<float>(i + 1);
    LAUNCH(copy_async, 1, 16)(in.get(), early.get(), out.get());
    for (unsigned i = 0; i < 64; i += 4) {
        CHECK(early[i] != early[i]);
        CHECK(out[i] == in[i]);
        CHECK(out[i + 1] == in[64 + i + 1]);
        CHECK(out[i + 2] == 0.0f);
    }
}

}  // namespace
