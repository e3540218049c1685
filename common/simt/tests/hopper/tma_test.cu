// TMA, mbarriers and warp specialisation: tiles of tensors of 1 to 5 dimensions, edges,
// swizzles, stores, a pipeline of stages, named barriers.
#include <wb/ptx/tma.h>

#include <cstdlib>
#include <numeric>
#include <string>

#include "hopper.h"

namespace ptx = wb::ptx;

namespace {

using Encode = CUresult (*)(CUtensorMap*,
                            CUtensorMapDataType,
                            cuuint32_t,
                            void*,
                            const cuuint64_t*,
                            const cuuint64_t*,
                            const cuuint32_t*,
                            const cuuint32_t*,
                            CUtensorMapInterleave,
                            CUtensorMapSwizzle,
                            CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

Encode encode() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check::need(
        cudaGetDriverEntryPointByVersion(
            "cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result),
        "cudaGetDriverEntryPointByVersion");
    return reinterpret_cast<Encode>(function);
}

/// A dense tensor of 16-bit numbers, and the box that a copy moves.
struct Tensor {
    int rank;
    cuuint64_t sizes[5];
    cuuint32_t box[5];
    int width;  // of the swizzle

    int elements() const {
        return std::accumulate(sizes, sizes + rank, 1, std::multiplies<>());
    }
    int box_elements() const {
        return std::accumulate(box, box + rank, 1, std::multiplies<>());
    }
    CUresult make(CUtensorMap* map, void* base) const {
        cuuint64_t strides[5];
        cuuint64_t bytes = 2;
        for (int i = 0; i < rank; ++i)
            strides[i] = bytes *= sizes[i];
        const cuuint32_t ones[5] = {1, 1, 1, 1, 1};
        const auto swizzle = width == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                             : width == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                             : width == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                           : CU_TENSOR_MAP_SWIZZLE_NONE;
        return encode()(map,
                        CU_TENSOR_MAP_DATA_TYPE_UINT16,
                        rank,
                        base,
                        sizes,
                        strides,
                        box,
                        ones,
                        CU_TENSOR_MAP_INTERLEAVE_NONE,
                        swizzle,
                        CU_TENSOR_MAP_L2_PROMOTION_NONE,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
};

struct Place {
    int at[5];
};

#ifndef SIMT_CPU
#define TMA_LOAD(DIMENSIONS, COORDINATES)                                    \
    asm volatile("cp.async.bulk.tensor." DIMENSIONS                          \
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes" \
                 " [%0], [%1, " COORDINATES                                  \
                 "], [%2];" ::"r"(ptx::shared_address(tile)),                \
                 "l"(map),                                                   \
                 "r"(ptx::shared_address(barrier)),                          \
                 "r"(p.at[0]),                                               \
                 "r"(p.at[1]),                                               \
                 "r"(p.at[2]),                                               \
                 "r"(p.at[3]),                                               \
                 "r"(p.at[4])                                                \
                 : "memory")
#endif

__device__ void load(
    void* tile, const CUtensorMap* map, uint64_t* barrier, Place p, int rank) {
#ifdef SIMT_CPU
    simt::ptx::tma_load(tile, map, barrier, p.at, rank);
#else
    if (rank == 1) TMA_LOAD("1d", "{%3}");
    if (rank == 2) TMA_LOAD("2d", "{%3, %4}");
    if (rank == 3) TMA_LOAD("3d", "{%3, %4, %5}");
    if (rank == 4) TMA_LOAD("4d", "{%3, %4, %5, %6}");
    if (rank == 5) TMA_LOAD("5d", "{%3, %4, %5, %6, %7}");
#endif
}

/// Copies the bytes of a tile, as they lie in shared memory, to out.
__global__ void dump(const __grid_constant__ CUtensorMap map,
                     Place p,
                     int rank,
                     int elements,
                     uint16_t* out) {
    extern __shared__ char raw[];
    __shared__ ptx::Mbarrier full;
    auto* const tile = reinterpret_cast<uint16_t*>(hopper::aligned_1024(raw));
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_expect(&full, elements * 2);
        load(tile, &map, &full, p, rank);
    }
    ptx::mbarrier_wait(&full, 0);
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
        out[i] = tile[i];
}

/// Element of the dense tensor at the box's element i, or 0 outside.
uint16_t expected(const Tensor& tensor, const Place& p, int i) {
    int64_t index = 0;
    int64_t stride = 1;
    for (int d = 0; d < tensor.rank; ++d) {
        const int64_t x = p.at[d] + i % int(tensor.box[d]);
        i /= int(tensor.box[d]);
        if (x < 0 || x >= int64_t(tensor.sizes[d])) return 0;
        index += x * stride;
        stride *= int64_t(tensor.sizes[d]);
    }
    return static_cast<uint16_t>(index + 1);
}

void test_load(const Tensor& tensor, const Place& p, const char* name) {
    std::vector<uint16_t> numbers(tensor.elements());
    std::iota(numbers.begin(), numbers.end(), uint16_t(1));
    const check::Array<uint16_t> in(numbers);
    CUtensorMap map;
    check::expect(tensor.make(&map, in.data()) == CUDA_SUCCESS, name);
    const int count = tensor.box_elements();
    const check::Array<uint16_t> out(count);
    hopper::allow_shared(dump, count * 2 + 1024);
    dump<<<1, 64, count * 2 + 1024>>>(map, p, tensor.rank, count, out.data());
    const std::vector<uint16_t> tile = out.host();
    bool right = true;
    for (int i = 0; i < count; ++i)
        right = right && tile[hopper::swizzled(2 * i, tensor.width) / 2] ==
                             expected(tensor, p, i);
    check::expect(right, name);
}

/// Loads a box and stores it at another place, negated, through wb::ptx's wrappers.
__global__ void move_box(const __grid_constant__ ptx::TensorMap from,
                         const __grid_constant__ ptx::TensorMap to,
                         int elements) {
    extern __shared__ char raw[];
    __shared__ ptx::Mbarrier full;
    auto* const tile = reinterpret_cast<uint16_t*>(hopper::aligned_1024(raw));
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_expect(&full, elements * 2);
        ptx::tma_load(tile, &from, &full, 0, 4, 1, 0);
    }
    ptx::mbarrier_wait(&full, 0);
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
        tile[i] = static_cast<uint16_t>(-tile[i]);
    ptx::async_proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::tma_store(&to, tile, 0, 7, 2, 1);
        ptx::tma_store_commit();
        ptx::tma_store_wait_read<0>();
    }
}

void test_store() {
    // [2][3][12][64]; boxes of [1][2][8][64].
    constexpr int kElements = 2 * 3 * 12 * 64;
    std::vector<uint16_t> numbers(kElements);
    std::iota(numbers.begin(), numbers.end(), uint16_t(1));
    const check::Array<uint16_t> from(numbers);
    const check::Array<uint16_t> to(kElements);
    const auto map = [](const uint16_t* base) {
        return ptx::make_tensor_map(
            "tensor",
            {base, 2, {64, 12, 3, 2}, {128, 12 * 128, 36 * 128}, {64, 8, 2, 1}});
    };
    constexpr int kBox = 2 * 8 * 64;
    hopper::allow_shared(move_box, 1024 + 2 * kBox);
    move_box<<<1, 128, 1024 + 2 * kBox>>>(map(from.data()), map(to.data()), kBox);
    // Row r of plane z of the box came from (r + 4, z + 1, 0) to (r + 7, z + 2, 1).
    const auto wanted = [&](int i) {
        const int row = i / 64 % 12 - 7, plane = i / 64 / 12 % 3 - 2,
                  outer = i / 64 / 36;
        if (outer != 1 || row < 0 || plane < 0) return 0;
        const int source = ((plane + 1) * 12 + row + 4) * 64 + i % 64;
        return int(uint16_t(-numbers[source]));
    };
    check::expect(check::all_equal(to.host(), wanted), "TMA store, clipped");
}

constexpr int kStages = 3;
constexpr int kTiles = 11;
constexpr int kTileRows = 8;

/// A warpgroup loads, two add up: full and empty barriers, registers that change hands.
__global__ void __launch_bounds__(384, 1)
    pipeline(const __grid_constant__ ptx::TensorMap map, int* sums) {
    extern __shared__ char raw[];
    __shared__ ptx::Mbarrier full[kStages], empty[kStages];
    char* const tiles = hopper::aligned_1024(raw);
    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) {
            ptx::mbarrier_init(&full[i], 1);
            ptx::mbarrier_init(&empty[i], 2);
        }
        ptx::mbarrier_init_fence();
    }
    __syncthreads();
    const int group = threadIdx.x / ptx::kWarpgroup;
    if (group == 0) {
        ptx::registers_give_back<40>();
        if (threadIdx.x != 0) return;
        for (int i = 0; i < kTiles; ++i) {
            const int stage = i % kStages;
            ptx::mbarrier_wait(&empty[stage], i / kStages % 2 ^ 1);
            ptx::mbarrier_expect(&full[stage], kTileRows * 128);
            ptx::tma_load(
                tiles + stage * 1024, &map, &full[stage], 0, i * kTileRows, 0, 0);
        }
        return;
    }
    ptx::registers_take<232>();
    const int thread = threadIdx.x % ptx::kWarpgroup;
    int sum = 0;
    for (int i = 0; i < kTiles; ++i) {
        const int stage = i % kStages;
        ptx::mbarrier_wait(&full[stage], i / kStages % 2);
        const auto* row = reinterpret_cast<uint16_t*>(tiles + stage * 1024);
        // The groups share the tile: even and odd elements, wherever they lie.
        for (int k = thread * 2 + group - 1; k < kTileRows * 64; k += 256)
            sum += row[k];
        ptx::named_barrier_sync(group, ptx::kWarpgroup);
        if (thread == 0) ptx::mbarrier_arrive(&empty[stage]);
    }
    atomicAdd(sums + group - 1, sum);
}

void test_pipeline() {
    constexpr int kRows = kTiles * kTileRows - 3;
    std::vector<uint16_t> numbers(kRows * 64);
    int sums[2] = {};
    for (int i = 0; i < kRows * 64; ++i)
        sums[i % 2] += numbers[i] = static_cast<uint16_t>(i % 1000);
    const check::Array<uint16_t> in(numbers);
    const check::Array<int> out(2);
    constexpr int kBytes = 1024 * (kStages + 1);
    pipeline<<<1, 384, kBytes>>>(
        ptx::make_tensor_map(
            "tensor",
            {in.data(), 2, {64, kRows, 1, 1}, {128, 128, 128}, {64, kTileRows, 1, 1}}),
        out.data());
    check::expect(check::all_equal(out.host(), [&](int i) { return sums[i]; }),
                  "pipeline of stages");
}

/// Two warpgroups take turns: each writes what the other has read.
__global__ void ping_pong(int* out) {
    __shared__ volatile int ball;
    const int group = threadIdx.x / ptx::kWarpgroup;
    if (threadIdx.x == 0) ball = 0;
    __syncthreads();
    if (group == 1) ptx::named_barrier_arrive(1, 256);
    for (int i = 0; i < 5; ++i) {
        ptx::named_barrier_sync(1 + group, 256);
        if (threadIdx.x % ptx::kWarpgroup == 0) ball = 3 * ball + group + 1;
        ptx::named_barrier_arrive(2 - group, 256);
    }
    if (group == 0) ptx::named_barrier_sync(1, 256);
    if (threadIdx.x == 0) out[0] = ball;
    if (ptx::elect_one()) atomicAdd(out + 1, 1);
}

void test_ping_pong() {
    const check::Array<int> out(2);
    ping_pong<<<1, 256>>>(out.data());
    int ball = 0;
    for (int i = 0; i < 10; ++i)
        ball = 3 * ball + i % 2 + 1;
    check::expect(check::all_equal(out.host(), [&](int i) { return i ? 8 : ball; }),
                  "named barriers and elect");
}

/// What the driver refuses.
void test_refusals() {
    const check::Array<uint16_t> memory(64 * 64);
    CUtensorMap map;
    const auto refused = [&](Tensor tensor, int offset, const char* name) {
        check::expect(
            tensor.make(&map, memory.data() + offset) == CUDA_ERROR_INVALID_VALUE,
            name);
    };
    refused({2, {64, 64}, {64, 8}, 128}, 1, "misaligned tensor");
    refused({2, {60, 64}, {64, 8}, 128}, 0, "stride that is no multiple of 16");
    refused({2, {64, 64}, {64, 257}, 128}, 0, "box of more than 256 rows");
    refused({2, {64, 64}, {72, 8}, 128}, 0, "row wider than the swizzle");
    refused({2, {64, 0}, {64, 8}, 128}, 0, "empty tensor");
    refused({2, {64, 64}, {4, 8}, 0}, 0, "row of 8 bytes");
}

void run_test(int number) {
    const auto load = test_load;
    switch (number) {
        case 0:
            return load({1, {1000}, {128}, 0}, {{64}}, "1 dimension");
        case 1:
            return load({1, {1000}, {128}, 0}, {{936}}, "1 dimension, past the end");
        case 2:
            return load({2, {72, 40}, {64, 24}, 128}, {{8, 30}}, "128-byte swizzle");
        case 3:
            return load({2, {72, 40}, {32, 24}, 64}, {{48, -5}}, "64-byte swizzle");
        case 4:
            return load({2, {72, 40}, {16, 24}, 32}, {{-8, 3}}, "32-byte swizzle");
        case 5:
            return load({2, {72, 40}, {24, 7}, 0}, {{56, 35}}, "no swizzle");
        case 6:
            return load({3, {64, 9, 5}, {64, 4, 3}, 128}, {{0, 7, -1}}, "3 dimensions");
        case 7:
            return load(
                {4, {64, 9, 5, 3}, {64, 4, 3, 2}, 128}, {{0, 1, 3, 2}}, "4 dimensions");
        case 8:
            return load({5, {8, 7, 3, 4, 5}, {8, 4, 2, 3, 2}, 0},
                        {{0, 5, 2, -1, 4}},
                        "5 dimensions");
        case 9:
            return test_store();
        case 10:
            return test_pipeline();
        case 11:
            return test_ping_pong();
        case 12:
            return test_refusals();
    }
}
constexpr int kTests = 13;

}  // namespace

/// Without an argument: all tests. On a GPU each in a process of its own, for a fault
/// ends everything that a process does there.
int main(int argc, char** argv) {
#ifdef SIMT_CPU
    for (int i = 0; argc == 1 && i < kTests; ++i)
        run_test(i);
#else
    int failed = 0;
    for (int i = 0; argc == 1 && i < kTests; ++i) {
        std::fflush(stdout);
        const std::string command = std::string(argv[0]) + " " + std::to_string(i);
        const int status = std::system(command.c_str());
        if (WEXITSTATUS(status) == 77) return 77;
        if (status != 0) std::printf("test %d failed, status %d\n", i, status);
        failed += status != 0;
    }
    if (argc == 1) return failed != 0;
    hopper::need_hopper();
#endif
    if (argc > 1) run_test(std::atoi(argv[1]));
    return check::report();
}
