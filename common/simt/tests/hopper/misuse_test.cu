// What the simulator makes of mistakes with Hopper's instructions: a report that names
// the mistake, or numbers that are wrong on every run.
#include <cuda_bf16.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/wgmma.h>

#include <cmath>
#include <string>

#include "hopper.h"
#include "simt/last_fault.h"

namespace ptx = wb::ptx;

namespace {

using Bf16 = __nv_bfloat16;

enum class Mistake {
    none,
    wrong_parity,
    no_wait_for_tile,
    no_fence,
    no_wait_for_product,
    wait_too_short,
    wrong_swizzle,
    tile_overwritten,
    tile_loaded_again,
    accumulator_touched,
    different_operands,
    too_few_bytes,
    too_many_bytes,
    two_expects,
    not_initialised,
    missing_arrival,
    descriptor_outside,
    returned_before_wait,
    half_a_warpgroup,
};

constexpr int kTile = 64 * 128;

/// out = a b^T for matrices of [64][64], by one warpgroup; a mistake at a time.
__global__ void product(const __grid_constant__ ptx::TensorMap a,
                        const __grid_constant__ ptx::TensorMap b,
                        Mistake mistake,
                        float* out) {
    extern __shared__ char raw[];
    __shared__ ptx::Mbarrier full;
    const auto make = [mistake](Mistake m) { return m == mistake; };
    char* const tiles = hopper::aligned_1024(raw);
    if (threadIdx.x == 0 && !make(Mistake::not_initialised)) {
        ptx::mbarrier_init(&full, make(Mistake::missing_arrival) ? 2 : 1);
        ptx::mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const int wrong = make(Mistake::too_few_bytes)    ? -128
                          : make(Mistake::too_many_bytes) ? 128
                                                          : 0;
        ptx::mbarrier_expect(&full, 2 * kTile + wrong);
        if (make(Mistake::two_expects)) ptx::mbarrier_expect(&full, 2 * kTile);
        ptx::tma_load(tiles, &a, &full, 0, 0, 0, 0);
        ptx::tma_load(tiles + kTile, &b, &full, 0, 0, 0, 0);
    }
    if (!make(Mistake::no_wait_for_tile))
        ptx::mbarrier_wait(&full, make(Mistake::wrong_parity) ? 1 : 0);
    float d[32];
    const uint64_t swizzle = make(Mistake::wrong_swizzle) ? uint64_t{3} << 62 : 0;
    const auto multiply = [&](int k) {
        const bool outside = make(Mistake::descriptor_outside) && k == 3;
        const uint32_t at = ptx::shared_address(tiles) + 32 * k;
        const uint32_t lane = make(Mistake::different_operands) && threadIdx.x == 5;
        ptx::wgmma<Bf16>(d,
                         ptx::wgmma_descriptor(at + 1024 * lane) ^ swizzle,
                         ptx::wgmma_descriptor(at + kTile, 16, outside ? 2048 : 1024),
                         k != 0);
    };
    if (make(Mistake::half_a_warpgroup) && threadIdx.x >= 64) return;
    if (!make(Mistake::no_fence)) ptx::wgmma_fence();
    for (int k = 0; k < 4; ++k) {
        multiply(k);
        if (k == 2 && make(Mistake::wait_too_short)) ptx::wgmma_commit();
    }
    ptx::wgmma_commit();
    if (make(Mistake::tile_overwritten) && threadIdx.x == 0)
        reinterpret_cast<Bf16*>(tiles)[5] = Bf16(77.0f);
    if (make(Mistake::tile_loaded_again) && threadIdx.x == 0)
        ptx::tma_load(tiles + kTile, &b, &full, 0, 0, 0, 0);
    if (make(Mistake::accumulator_touched)) d[7] = 0;
    if (make(Mistake::returned_before_wait) && threadIdx.x >= 64) return;
    if (make(Mistake::wait_too_short))
        ptx::wgmma_wait<1>();
    else if (!make(Mistake::no_wait_for_product))
        ptx::wgmma_wait<0>();
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < 32; ++i)
        out[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] =
            d[i];
    if (make(Mistake::no_wait_for_product) || make(Mistake::wait_too_short))
        ptx::wgmma_wait<0>();
}

struct Operands {
    std::vector<Bf16> a, b;
    Operands() {
        for (int i = 0; i < 64 * 64; ++i) {
            a.push_back(Bf16(float(i * 7 % 11 - 5)));
            b.push_back(Bf16(float(i * 5 % 9 - 4)));
        }
    }
    float expected(int i) const {
        float sum = 0;
        for (int k = 0; k < 64; ++k)
            sum += float(a[i / 64 * 64 + k]) * float(b[i % 64 * 64 + k]);
        return sum;
    }
};

/// After a fault: its report; the device works again.
std::string take_report() {
    const cudaError_t error = cudaDeviceSynchronize();
    const std::string report = error == cudaSuccess ? "" : simt::last_fault();
    simt::clear_last_fault();
    if (error != cudaSuccess) cudaDeviceReset();
    return report;
}

/// Elements of the result that are wrong, of which `nans` are NaN; -1 after a fault.
struct Outcome {
    std::string report;
    int wrong = 0;
    int nans = 0;
};

Outcome run(Mistake mistake) {
    (void)cudaGetLastError();  // of freeing what a reset has freed
    const Operands operands;
    const check::Array<Bf16> a(operands.a), b(operands.b);
    const check::Array<float> out(64 * 64);
    const auto map = [](const Bf16* base) {
        return ptx::make_tensor_map(
            "matrix", {base, 2, {64, 64, 1, 1}, {128, 8192, 8192}, {64, 64, 1, 1}});
    };
    const int threads = mistake == Mistake::half_a_warpgroup ? 96 : 128;
    product<<<1, threads, 1024 + 2 * kTile>>>(
        map(a.data()), map(b.data()), mistake, out.data());
    Outcome outcome;
    outcome.report = take_report();
    if (!outcome.report.empty()) return outcome;
    const std::vector<float> result = out.host();
    for (int i = 0; i < 64 * 64; ++i) {
        outcome.wrong += !(result[i] == operands.expected(i));
        outcome.nans += std::isnan(result[i]);
    }
    return outcome;
}

void expect_report(Mistake mistake, const char* text) {
    const Outcome outcome = run(mistake);
    check::expect(outcome.report.find(text) != std::string::npos, text);
    if (outcome.report.find(text) == std::string::npos)
        std::printf("  got: %s\n", outcome.report.c_str());
}

/// What is said of a tile that may still be on its way when the block ends.
constexpr const char* kNobodyWaited =
    "the block has ended before anybody waited for this TMA load";

void expect_nan(Mistake mistake, const char* name) {
    const Outcome outcome = run(mistake);
    check::expect(outcome.report.empty() && outcome.nans == 64 * 64, name);
}

void test_products() {
    check::expect(run(Mistake::none).report.empty() && run(Mistake::none).wrong == 0,
                  "no mistake");
    expect_nan(Mistake::no_wait_for_product, "missing wgmma.wait_group");
    expect_nan(Mistake::wait_too_short, "wait_group for too few groups");
    const Outcome swizzle = run(Mistake::wrong_swizzle);
    check::expect(swizzle.report.empty() && swizzle.wrong > 64 * 32, "wrong swizzle");
    expect_report(Mistake::no_fence, "without wgmma.fence");
    expect_report(Mistake::tile_overwritten, "matrix a was overwritten");
    expect_report(Mistake::tile_loaded_again, "matrix b was overwritten");
    expect_report(Mistake::accumulator_touched, "the accumulator was written");
    expect_report(Mistake::different_operands, "wgmma.mma_async with other operands");
    expect_report(Mistake::descriptor_outside, "past the end of shared `dynamic`");
    expect_report(Mistake::returned_before_wait, "wgmma.wait_group is missing");
    expect_report(Mistake::half_a_warpgroup, "belongs to no whole warpgroup");
}

void test_barriers() {
    expect_report(Mistake::wrong_parity, kNobodyWaited);
    expect_report(Mistake::no_wait_for_tile, kNobodyWaited);
    expect_report(Mistake::too_few_bytes, "bytes");
    expect_report(Mistake::too_many_bytes, "lacks 0 of 1 arrivals and 128 bytes");
    expect_report(Mistake::two_expects, "more arrivals in one phase than the 1");
    expect_report(Mistake::not_initialised, "has not been initialised");
    expect_report(Mistake::missing_arrival, "lacks 1 of 2 arrivals");
}

__global__ void store_without_wait(const __grid_constant__ ptx::TensorMap map) {
    __shared__ alignas(1024) uint16_t tile[8 * 64];
    for (int i = threadIdx.x; i < 8 * 64; i += blockDim.x)
        tile[i] = 1;
    ptx::async_proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) ptx::tma_store(&map, tile, 0, 0, 0, 0);
    ptx::tma_store_commit();
}

__global__ void store_before_the_start(const __grid_constant__ ptx::TensorMap map) {
    __shared__ alignas(1024) uint16_t tile[8 * 64];
    tile[threadIdx.x] = 1;
    if (threadIdx.x == 0) ptx::tma_store(&map, tile, 0, -2, 0, 0);
}

__global__ void counts_differ() {
    ptx::named_barrier_sync(1, threadIdx.x < 32 ? 64 : 128);
}

__global__ void too_few_come() {
    if (threadIdx.x < 64) ptx::named_barrier_sync(3, 96);
}

__global__ void too_many_registers() {
    if (threadIdx.x < 128) ptx::registers_give_back<128>();
    if (threadIdx.x >= 128) ptx::registers_take<240>();
}

void test_the_rest() {
    const auto expect = [](const char* text) {
        const std::string report = take_report();
        check::expect(report.find(text) != std::string::npos, text);
        if (report.find(text) == std::string::npos)
            std::printf("  got: %s\n", report.c_str());
    };
    uint16_t* memory = nullptr;
    check::need(cudaMalloc(&memory, 1024), "cudaMalloc");
    store_without_wait<<<1, 64>>>(ptx::make_tensor_map(
        "tensor", {memory, 2, {64, 8, 1, 1}, {128, 1024, 1024}, {64, 8, 1, 1}}));
    expect("returned without waiting for its TMA store");
    check::need(cudaMalloc(&memory, 1024), "cudaMalloc");
    store_before_the_start<<<1, 64>>>(ptx::make_tensor_map(
        "tensor", {memory, 2, {64, 8, 1, 1}, {128, 1024, 1024}, {64, 8, 1, 1}}));
    expect("a store must begin inside of the tensor");
    counts_differ<<<1, 128>>>();
    expect("while others are there that expect ");
    too_few_come<<<1, 128>>>();
    expect("64 threads wait in bar.sync()");
    too_many_registers<<<1, 384>>>();
    expect("threads wait in setmaxnreg.inc()");
}

}  // namespace

int main() {
    test_products();
    test_barriers();
    test_the_rest();
    return check::report();
}
