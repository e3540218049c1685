// Cooperative groups, matrix fragments, asynchronous copies.
#include "conformance.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cuda/barrier>

// nvcc warns of the barrier in shared memory, although init() is what starts it.
#pragma nv_diag_suppress 20054

using namespace conformance;
namespace cg = cooperative_groups;

CONFORMANCE(a_thread_block_group_knows_its_ranks) {
    const auto got = run<int>(2, dim3(8, 4), 64, [] __device__(int* out) {
        const cg::thread_block block = cg::this_thread_block();
        out[blockIdx.x * block.size() + block.thread_rank()] =
            block.group_index().x * 100 + block.thread_index().y;
    });
    expect_each(got, [](int i) { return i / 32 * 100 + i % 32 / 8; });
}

CONFORMANCE(a_block_group_synchronises) {
    const auto got = run<int>(1, 128, 128, [] __device__(int* out) {
        __shared__ int s[128];
        auto block = cg::this_thread_block();
        s[threadIdx.x] = threadIdx.x;
        block.sync();
        out[threadIdx.x] = s[127 - threadIdx.x];
    });
    expect_each(got, [](int i) { return 127 - i; });
}

CONFORMANCE(tiles_shuffle_within_themselves) {
    const auto got = run<int>(1, 64, 64, [] __device__(int* out) {
        const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
        int v = threadIdx.x;
        for (int i = tile.size() / 2; i > 0; i /= 2)
            v += tile.shfl_down(v, i);
        out[threadIdx.x] = tile.shfl(v, 0);
    });
    expect_each(got, [](int i) { return i / 8 * 64 + 28; });
}

CONFORMANCE(tiles_know_their_rank_among_tiles) {
    const auto got = run<int>(1, 64, 64, [] __device__(int* out) {
        const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
        out[threadIdx.x] = tile.meta_group_rank() * 1000 +
                           tile.meta_group_size() * 100 + tile.thread_rank();
    });
    expect_each(got, [](int i) { return i / 16 * 1000 + 400 + i % 16; });
}

CONFORMANCE(tiles_vote) {
    const auto got = run<unsigned>(1, 32, 32, [] __device__(unsigned* out) {
        const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
        out[threadIdx.x] =
            tile.ballot(threadIdx.x % 4 == 1) + 16 * tile.any(threadIdx.x == 9);
    });
    expect_each(got, [](int i) { return i / 4 == 2 ? 18u : 2u; });
}

CONFORMANCE(group_reductions) {
    const auto got = run<int>(1, 64, 64, [] __device__(int* out) {
        const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        const int sum = cg::reduce(warp, int(threadIdx.x), cg::plus<int>());
        const int most = cg::reduce(warp, int(threadIdx.x), cg::greater<int>());
        out[threadIdx.x] = sum * 100 + most;
    });
    expect_each(got,
                [](int i) { return (496 + i / 32 * 1024) * 100 + i / 32 * 32 + 31; });
}

CONFORMANCE(group_scans) {
    const auto got = run<int>(1, 32, 64, [] __device__(int* out) {
        const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        out[threadIdx.x] = cg::inclusive_scan(warp, 2, cg::plus<int>());
        out[32 + threadIdx.x] = cg::exclusive_scan(warp, 2, cg::plus<int>());
    });
    expect_each(got, [](int i) { return i < 32 ? 2 * (i + 1) : 2 * (i - 32); });
}

CONFORMANCE(coalesced_threads_of_a_branch) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        if (threadIdx.x % 4 == 0) {
            const auto active = cg::coalesced_threads();
            out[threadIdx.x] = active.size() * 100 + active.thread_rank();
        }
    });
    expect_each(got, [](int i) { return i % 4 == 0 ? 800 + i / 4 : 0; });
}

__global__ void two_phases(int* data, int* out) {
    const auto grid = cg::this_grid();
    const int i = grid.thread_rank();
    data[i] = i;
    grid.sync();
    const int n = grid.size();
    out[i] = data[n - 1 - i];
}

CONFORMANCE(a_cooperative_grid_synchronises) {
    constexpr int kBlocks = 8, kThreads = 64, kCount = kBlocks * kThreads;
    int* memory = nullptr;
    ok(cudaMallocManaged(&memory, 2 * kCount * sizeof(int)));
    int* out = memory + kCount;
    void* arguments[] = {&memory, &out};
    ok(cudaLaunchCooperativeKernel(
        (void*)two_phases, dim3(kBlocks), dim3(kThreads), arguments, 0, nullptr));
    ok(cudaDeviceSynchronize());
    for (int i = 0; i < kCount; ++i)
        expect_equal(out[i], kCount - 1 - i);
    ok(cudaFree(memory));
}

CONFORMANCE(a_barrier_object_in_shared_memory) {
    const auto got = run<int>(1, 64, 64, [] __device__(int* out) {
        using barrier = cuda::barrier<cuda::thread_scope_block>;
        __shared__ barrier bar;
        __shared__ int s[64];
        if (threadIdx.x == 0) init(&bar, blockDim.x);
        __syncthreads();
        for (int round = 0; round < 3; ++round) {
            s[threadIdx.x] = threadIdx.x + round;
            bar.arrive_and_wait();
            const int other = s[63 - threadIdx.x];
            bar.arrive_and_wait();
            out[threadIdx.x] = other;
        }
    });
    expect_each(got, [](int i) { return 63 - i + 2; });
}

__global__ void copy_asynchronously(const float* in, float* out) {
    __shared__ float s[2][32];
    __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], sizeof(float));
    __pipeline_commit();
    __pipeline_memcpy_async(&s[1][threadIdx.x], &in[32 + threadIdx.x], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float first = s[0][31 - threadIdx.x];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = first + s[1][31 - threadIdx.x];
}

CONFORMANCE(asynchronous_copies_arrive_in_order) {
    float* memory = nullptr;
    ok(cudaMallocManaged(&memory, 96 * sizeof(float)));
    for (int i = 0; i < 64; ++i)
        memory[i] = float(i);
    copy_asynchronously<<<1, 32>>>(memory, memory + 64);
    ok(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i)
        expect_equal(memory[64 + i], float(31 - i + 63 - i));
    ok(cudaFree(memory));
}

namespace {

/// C = A B for one 16x16x16 tile, A and B given by small integers.
template <class BLayout>
__global__ void one_tile(const __half* a, const __half* b, float* c) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, BLayout> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i)
        fc.x[i] *= 2.0f;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

template <class BLayout>
void check_tile(bool b_is_column_major) {
    char* memory = nullptr;
    ok(cudaMallocManaged(&memory, 2 * 512 + 1024));
    auto* a = reinterpret_cast<__half*>(memory);
    auto* b = a + 256;
    auto* c = reinterpret_cast<float*>(b + 256);
    for (int i = 0; i < 256; ++i) {
        a[i] = __float2half(float(i % 7 - 3));
        b[i] = __float2half(float(i % 5 - 2));
    }
    one_tile<BLayout><<<1, 32>>>(a, b, c);
    ok(cudaDeviceSynchronize());
    for (int m = 0; m < 16; ++m) {
        for (int n = 0; n < 16; ++n) {
            float sum = 1.0f;
            for (int k = 0; k < 16; ++k) {
                const int at = b_is_column_major ? n * 16 + k : k * 16 + n;
                sum += __half2float(a[m * 16 + k]) * __half2float(b[at]);
            }
            expect_equal(c[m * 16 + n], 2.0f * sum);
        }
    }
    ok(cudaFree(memory));
}

}  // namespace

CONFORMANCE(matrix_fragments_with_a_row_major_b) {
    check_tile<nvcuda::wmma::row_major>(false);
}

CONFORMANCE(matrix_fragments_with_a_column_major_b) {
    check_tile<nvcuda::wmma::col_major>(true);
}

CONFORMANCE(a_tile_of_two_warps_waits_for_both) {
    const auto got = run<int>(1, 256, 256, [] __device__(int* out) {
        __shared__ int seen[256];
        __shared__ cg::block_tile_memory<256> scratch;
        const auto block = cg::this_thread_block(scratch);
        const auto tile = cg::tiled_partition<64>(block);
        const int rank = static_cast<int>(block.thread_rank());
        seen[rank] = 100 * static_cast<int>(tile.meta_group_rank());
        tile.sync();
        out[rank] = seen[rank ^ 63] + static_cast<int>(tile.thread_rank());
    });
    expect_each(got, [](int i) { return 100 * (i / 64) + i % 64; });
}

CONFORMANCE(a_tile_of_four_warps_exchanges_and_adds) {
    const auto got = run<int>(1, 256, 256, [] __device__(int* out) {
        __shared__ cg::block_tile_memory<256> scratch;
        const auto block = cg::this_thread_block(scratch);
        const auto tile = cg::tiled_partition<128>(block);
        const int rank = static_cast<int>(block.thread_rank());
        const int value = tile.shfl(rank, 5);
        const int sum = cg::reduce(tile, 1, cg::plus<int>());
        const int vote = tile.any(rank == 200) + 2 * tile.all(rank < 128);
        out[rank] = value + 1000 * sum + 1000000 * vote;
    });
    expect_each(got, [](int i) {
        return 128 * (i / 128) + 5 + 128000 + (i < 128 ? 2000000 : 1000000);
    });
}

CONFORMANCE(a_warp_is_a_part_of_a_larger_tile) {
    const auto got = run<int>(1, 128, 128, [] __device__(int* out) {
        __shared__ cg::block_tile_memory<128> scratch;
        const auto block = cg::this_thread_block(scratch);
        const auto warp = cg::tiled_partition<32>(cg::tiled_partition<64>(block));
        out[threadIdx.x] =
            static_cast<int>(10 * warp.meta_group_rank() + warp.meta_group_size());
    });
    expect_each(got, [](int i) { return 10 * (i / 32 % 2) + 2; });
}
