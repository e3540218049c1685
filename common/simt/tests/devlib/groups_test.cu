// Cooperative groups: blocks, tiles, coalesced groups, partitions, reductions, scans,
// copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/barrier>  // cuda::aligned_size_t

#include "check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 96;

__global__ void block_properties(int* out) {
    const cg::thread_block block = cg::this_thread_block();
    const unsigned rank = block.thread_rank();
    const bool right = block.size() == kThreads && block.num_threads() == kThreads &&
                       block.group_index().y == blockIdx.y &&
                       block.thread_index().z == threadIdx.z &&
                       block.group_dim().x == 4 && block.dim_threads().y == 6 &&
                       rank == (threadIdx.z * 6 + threadIdx.y) * 4 + threadIdx.x;
    const cg::grid_group grid = cg::this_grid();
    const bool grid_right = grid.size() == 6ull * kThreads && grid.num_blocks() == 6 &&
                            grid.block_rank() == blockIdx.y * 2 + blockIdx.x &&
                            grid.dim_blocks().y == 3;
    out[grid.thread_rank()] = right && grid_right;
}

/// A tree sum over any group, in shared memory.
__device__ int tree_sum(const cg::thread_group& group, int* scratch, int value) {
    const int rank = group.thread_rank();
    for (int half = group.size() / 2; half > 0; half /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < half) value += scratch[rank + half];
        group.sync();
    }
    return value;  // in the thread of rank 0
}

__global__ void polymorphic_groups(int* out) {
    __shared__ int scratch[64];
    const cg::thread_block block = cg::this_thread_block();
    const int all = tree_sum(block, scratch, threadIdx.x);
    if (block.thread_rank() == 0) out[0] = all;
    block.sync();
    const cg::thread_group dynamic = cg::tiled_partition(block, 16);
    const int part = tree_sum(dynamic, scratch + threadIdx.x / 16 * 16, threadIdx.x);
    if (dynamic.thread_rank() == 0) out[1 + threadIdx.x / 16] = part;
    block.sync();
    const cg::thread_group nested = cg::tiled_partition(dynamic, 4);
    if (nested.thread_rank() == 3) out[5 + threadIdx.x / 4] = nested.size();
}

template <unsigned kSize>
__global__ void tiles(int* out) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<kSize>(block);
    const int rank = threadIdx.x % kSize;
    const int first = threadIdx.x - rank;
    bool right = tile.size() == kSize && tile.thread_rank() == unsigned(rank) &&
                 tile.meta_group_size() == 64 / kSize &&
                 tile.meta_group_rank() == threadIdx.x / kSize;
    const int x = threadIdx.x;
    right = right && tile.shfl(x, kSize - 1) == first + int(kSize) - 1;
    right = right && tile.shfl_xor(x, kSize / 2) == first + int(rank ^ (kSize / 2));
    right = right && tile.shfl_up(x, 1) == (rank == 0 ? x : x - 1);
    right = right && tile.shfl_down(x, 1) == (rank == int(kSize) - 1 ? x : x + 1);
    right = right && tile.any(rank == 0) && tile.all(x >= first);
    right = right && !tile.any(x < 0) && bool(tile.all(rank == 0)) == (kSize == 1);
    right = right && tile.ballot(rank % 2 == 0) == (0x55555555u >> (32 - kSize) % 2 &
                                                    (0xffffffffu >> (32 - kSize)));
    right = right && tile.match_any(rank / 2) == (kSize == 1 ? 1u : 3u << rank / 2 * 2);
    int all_equal = 0;
    right = right && tile.match_all(7, all_equal) == 0xffffffffu >> (32 - kSize);
    right = right && all_equal;
    struct Wide {
        double a;
        int b[4];
    };
    const Wide wide = tile.shfl(Wide{double(x), {x, x + 1, x + 2, x + 3}}, 0);
    right = right && wide.a == first && wide.b[3] == first + 3;
    const int sum = kSize * (2 * first + int(kSize) - 1) / 2;
    right = right && cg::reduce(tile, x, cg::plus<int>()) == sum;
    right = right && cg::reduce(tile, x, cg::less<int>()) == first;
    right = right && cg::reduce(tile, x, cg::greater<int>()) == first + int(kSize) - 1;
    right = right && cg::inclusive_scan(tile, 2) == 2 * (rank + 1);
    right = right && cg::exclusive_scan(tile, 1.0f, cg::plus<float>()) == float(rank);
    out[threadIdx.x] = right;
}

__global__ void coalesced(int* out) {
    out[threadIdx.x] = 1;
    if (threadIdx.x % 3 != 1) return;  // lanes 1, 4, ..., 31
    const cg::coalesced_group group = cg::coalesced_threads();
    const unsigned rank = threadIdx.x / 3;
    bool right = group.size() == 11 && group.thread_rank() == rank;
    const int x = threadIdx.x;
    right = right && group.shfl(x, 2) == 7 && group.shfl_up(x, 1) == (rank ? x - 3 : x);
    right = right && group.shfl_down(x, 2) == (rank < 9 ? x + 6 : x);
    right = right && group.ballot(rank % 2) == 0x2aau && group.any(rank == 3);
    right = right && cg::reduce(group, x, cg::plus<int>()) == 11 * 16;
    right = right && cg::inclusive_scan(group, 1) == int(rank) + 1;
    const auto part = cg::tiled_partition(group, 4);
    right =
        right && part.size() == (rank < 8 ? 4 : 3) && part.thread_rank() == rank % 4;
    group.sync();
    const auto labeled = cg::labeled_partition(group, rank % 3);
    right = right && labeled.size() == (rank % 3 < 2 ? 4 : 3);
    right = right && labeled.meta_group_size() == 3;
    right = right && labeled.meta_group_rank() == rank % 3;
    const auto binary = cg::binary_partition(group, rank < 4);
    right = right && binary.size() == (rank < 4 ? 4 : 7);
    out[threadIdx.x] = right;
}

/// The textbook's aggregated atomic: one atomicAdd for all threads that come together.
__device__ int aggregated_increment(int* counter) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(counter, active.size());
    return active.shfl(base, 0) + active.thread_rank();
}
__global__ void filter(int* counter, int* kept, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 5 == 0) kept[aggregated_increment(counter)] = i;
}

__global__ void copy_to_shared(const int* in, int* out) {
    __shared__ alignas(16) int tile[2][128];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile[0], in, sizeof(int) * 128);
    cg::memcpy_async(block, tile[1], cuda::aligned_size_t<16>(512), in + 128, 128);
    cg::wait_prior<1>(block);
    out[threadIdx.x] = tile[0][127 - threadIdx.x];
    cg::wait(block);
    out[128 + threadIdx.x] = tile[1][127 - threadIdx.x];
}

__global__ void sum_over_grid(int* partial, int* out) {
    const auto grid = cg::this_grid();
    const auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) partial[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (grid.thread_rank() == 0) {
        for (unsigned i = 0; i < gridDim.x; ++i)
            *out += partial[i];
    }
    grid.sync();
    if (grid.is_valid() && block.thread_rank() == 0) partial[blockIdx.x] = *out;
}

template <class T>
bool all_true(const check::Array<T>& out) {
    return check::all_equal(out.host(), [](int) { return 1; });
}

void test_grid_sync() {
    const check::Array<int> partial(8);
    const check::Array<int> out(1);
    int* partial_pointer = partial.data();
    int* out_pointer = out.data();
    void* arguments[] = {&partial_pointer, &out_pointer};
    check::need(cudaLaunchCooperativeKernel(
                    (void*)sum_over_grid, dim3(8), dim3(64), arguments, 0, nullptr),
                "cooperative launch");
    check::expect(check::all_equal(partial.host(), [](int) { return 36; }),
                  "grid.sync");
}

}  // namespace

int main() {
    {
        const check::Array<int> out(6 * kThreads);
        block_properties<<<dim3(2, 3), dim3(4, 6, 4)>>>(out.data());
        check::expect(all_true(out), "ranks and sizes of block and grid");
    }
    {
        const check::Array<int> out(21);
        polymorphic_groups<<<1, 64>>>(out.data());
        check::expect(check::all_equal(out.host(),
                                       [](int i) {
                                           if (i == 0) return 2016;
                                           return i < 5 ? 120 + 256 * (i - 1) : 4;
                                       }),
                      "functions of thread_group");
    }
    {
        const check::Array<int> out(64);
        tiles<32><<<1, 64>>>(out.data());
        check::expect(all_true(out), "tiles of 32");
        tiles<8><<<1, 64>>>(out.data());
        check::expect(all_true(out), "tiles of 8");
        tiles<2><<<1, 64>>>(out.data());
        check::expect(all_true(out), "tiles of 2");
    }
    {
        const check::Array<int> out(32);
        coalesced<<<1, 32>>>(out.data());
        check::expect(all_true(out), "coalesced groups and partitions");
    }
    {
        const check::Array<int> counter(1);
        const check::Array<int> kept(200);
        filter<<<8, 128>>>(counter.data(), kept.data(), 1000);
        long sum = 0;
        for (const int i : kept.host())
            sum += i;
        check::expect(counter.host()[0] == 200 && sum == 5 * 199 * 100,
                      "aggregated atomics");
    }
    {
        std::vector<int> in(256);
        for (int i = 0; i < 256; ++i)
            in[i] = 3 * i;
        const check::Array<int> device_in(in);
        const check::Array<int> out(256);
        copy_to_shared<<<1, 128>>>(device_in.data(), out.data());
        check::expect(
            check::all_equal(out.host(),
                             [](int i) { return 3 * (i / 128 * 128 + 127 - i % 128); }),
            "memcpy_async, wait_prior, wait");
    }
    test_grid_sync();
    return check::report();
}
