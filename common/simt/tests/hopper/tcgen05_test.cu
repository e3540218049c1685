// tcgen05 in the simulator: products of both kinds, transfers, and mistakes. Not
// compared with a GPU: there was none.
#include <cuda_bf16.h>
#include <wb/ptx/tcgen05.h>

#include <cmath>
#include <string>

#include "hopper.h"
#include "simt/last_fault.h"

namespace ptx = wb::ptx;

namespace {

using Bf16 = __nv_bfloat16;

enum class Mistake {
    none,
    no_wait_for_product,
    no_wait_for_load,
    no_wait_for_store,
    committed_by_another,
    operand_overwritten,
    other_warps_lanes,
    lane_loads_less,
    lane_loads_elsewhere,
    lane_does_not_wait,
    lane_has_returned,
    columns_not_allocated,
    not_freed,
    constant_missing,
    n_in_sixteenths,
};

constexpr int kRows = 128;
constexpr int kColumns = 64;  // of the result, and of K
constexpr int kScratch = 64;  // first column of a in tensor memory

// The descriptors, in numbers (PTX ISA): 128-byte swizzle, 1024 bytes between groups of
// 8 rows; bf16, M 128, N 64, float.
__device__ uint64_t descriptor(const char* tile, int bytes) {
    const uint64_t address = (ptx::shared_address(tile) + bytes) & 0x3ffff;
    return 0x4000404000010000 | address >> 4;
}
constexpr uint32_t kInstruction = 0x08100490;

/// Writes the thread's row of a tile of rows of 64 elements, swizzled.
__device__ void place_row(char* tile, const Bf16* from, int row) {
    for (int i = 0; i < kColumns; ++i)
        *reinterpret_cast<Bf16*>(tile + hopper::swizzled(row * 128 + 2 * i, 128)) =
            from[i];
}

/// The thread's row of a into tensor memory: two elements in a column.
__device__ void store_row(uint32_t address, const Bf16* from, bool wait) {
    uint32_t pairs[32];
    for (int i = 0; i < 32; ++i)
        memcpy(&pairs[i], from + 2 * i, 4);
    ptx::tcgen05_st(address, pairs);
    if (wait) ptx::tcgen05_wait_st();
}

/// out = a b^T for a [128][64], b [64][64]; a in shared memory or in tensor memory.
__global__ void product(
    const Bf16* a, const Bf16* b, bool in_tmem, Mistake mistake, float* out) {
    __shared__ alignas(1024) char tile_a[kRows * 128];
    __shared__ alignas(1024) char tile_b[kColumns * 128];
    __shared__ ptx::Mbarrier done;
    __shared__ uint32_t columns;
    const auto make = [mistake](Mistake m) { return m == mistake; };
    const int row = threadIdx.x;
    const unsigned warp = threadIdx.x / 32;
    if (row == 0) ptx::mbarrier_init(&done, 1);
    if (warp == 0) ptx::tcgen05_alloc<128>(&columns);
    place_row(tile_a, a + row * kColumns, row);
    if (row < kColumns) place_row(tile_b, b + row * kColumns, row);
    ptx::async_proxy_fence();
    ptx::tcgen05_fence_before_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_sync();
    const uint32_t lanes = columns + (warp * 32 << 16);
    if (in_tmem)
        store_row(
            lanes + kScratch, a + row * kColumns, !make(Mistake::no_wait_for_store));
    ptx::tcgen05_fence_before_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_sync();
    if (row == 0) {
        const uint32_t instruction =
            make(Mistake::n_in_sixteenths) ? 0x08080490 : kInstruction;
        const uint64_t wrong =
            make(Mistake::constant_missing) ? uint64_t{1} << 46 : uint64_t{0};
        const uint32_t d = columns + (make(Mistake::columns_not_allocated) ? 128 : 0);
        for (int k = 0; k < kColumns / 16; ++k) {
            const uint64_t from_b = descriptor(tile_b, 32 * k) ^ wrong;
            if (in_tmem)
                ptx::tcgen05_mma_ts(
                    d, columns + kScratch + 8 * k, from_b, instruction, k > 0);
            else
                ptx::tcgen05_mma_ss(
                    d, descriptor(tile_a, 32 * k), from_b, instruction, k > 0);
        }
        if (!make(Mistake::committed_by_another)) ptx::tcgen05_commit(&done);
        if (make(Mistake::operand_overwritten)) tile_b[77] ^= 1;
    }
    if (make(Mistake::committed_by_another)) __syncthreads();
    if (row == 1 && make(Mistake::committed_by_another)) ptx::tcgen05_commit(&done);
    if (!make(Mistake::no_wait_for_product)) ptx::mbarrier_wait(&done, 0);
    ptx::tcgen05_fence_after_sync();
    const bool wrong_lane = row == 37;
    if (wrong_lane && make(Mistake::lane_has_returned)) return;
    for (int i = 0; i < kColumns; i += 32) {
        uint32_t r[32];
        uint32_t from = (make(Mistake::other_warps_lanes) ? columns : lanes) + i;
        if (wrong_lane && make(Mistake::lane_loads_elsewhere)) from += 32;
        if (wrong_lane && make(Mistake::lane_does_not_wait)) continue;
        if (!(wrong_lane && make(Mistake::lane_loads_less))) ptx::tcgen05_ld(r, from);
        if (!make(Mistake::no_wait_for_load)) ptx::tcgen05_wait_ld();
        ptx::tcgen05_keep(r);
        for (int k = 0; k < 32; ++k)
            out[row * kColumns + i + k] = __uint_as_float(r[k]);
        ptx::tcgen05_wait_ld();
    }
    ptx::tcgen05_fence_before_sync();
    __syncthreads();
    ptx::mbarrier_wait(&done, 0);
    if (warp == 0 && !make(Mistake::not_freed)) ptx::tcgen05_dealloc<128>(columns);
}

struct Outcome {
    std::string report;
    int right = 0;
    int nans = 0;
};

Outcome run(bool in_tmem, Mistake mistake) {
    (void)cudaGetLastError();  // of freeing what a reset has freed
    std::vector<Bf16> a, b;
    for (int i = 0; i < kRows * kColumns; ++i)
        a.push_back(Bf16(float(i * 7 % 11 - 5)));
    for (int i = 0; i < kColumns * kColumns; ++i)
        b.push_back(Bf16(float(i * 5 % 9 - 4)));
    const check::Array<Bf16> device_a(a), device_b(b);
    const check::Array<float> out(kRows * kColumns);
    product<<<1, kRows>>>(
        device_a.data(), device_b.data(), in_tmem, mistake, out.data());
    Outcome outcome;
    if (cudaDeviceSynchronize() != cudaSuccess) {
        outcome.report = simt::last_fault();
        cudaDeviceReset();
        return outcome;
    }
    const std::vector<float> result = out.host();
    for (int i = 0; i < kRows * kColumns; ++i) {
        float sum = 0;
        for (int k = 0; k < kColumns; ++k)
            sum += float(a[i / kColumns * kColumns + k]) *
                   float(b[i % kColumns * kColumns + k]);
        outcome.right += result[i] == sum;
        outcome.nans += std::isnan(result[i]);
    }
    return outcome;
}

void expect_report(Mistake mistake, const char* text) {
    const Outcome outcome = run(false, mistake);
    const bool found = outcome.report.find(text) != std::string::npos;
    check::expect(found, text);
    if (!found) std::printf("  got: %s\n", outcome.report.c_str());
}

}  // namespace

int main() {
    constexpr int kAll = kRows * kColumns;
    check::expect(run(false, Mistake::none).right == kAll, "a in shared memory");
    check::expect(run(true, Mistake::none).right == kAll, "a in tensor memory");
    check::expect(run(false, Mistake::no_wait_for_product).nans == kAll,
                  "missing wait for the commit");
    check::expect(run(false, Mistake::no_wait_for_load).nans == kAll,
                  "missing tcgen05.wait::ld");
    check::expect(run(true, Mistake::no_wait_for_store).right == 0,
                  "missing tcgen05.wait::st");
    check::expect(run(true, Mistake::committed_by_another).nans == kAll,
                  "a commit by a thread that has issued nothing");
    expect_report(Mistake::operand_overwritten, "matrix b was overwritten");
    expect_report(Mistake::other_warps_lanes, "it may access lanes ");
    expect_report(Mistake::lane_loads_less, "tcgen05.ld without lane 5 of");
    expect_report(Mistake::lane_has_returned, "without lane 5 of warp 1");
    expect_report(Mistake::lane_loads_elsewhere,
                  "lanes 0 and 5 of a warp give addresses");
    expect_report(Mistake::lane_does_not_wait, "deadlock");
    expect_report(Mistake::columns_not_allocated, "in columns that are allocated");
    expect_report(Mistake::not_freed, "tcgen05.dealloc is missing");
    expect_report(Mistake::constant_missing, "bits 46 to 48");
    // 64 / 16 read as 32 / 8: a product of half the columns.
    check::expect(run(false, Mistake::n_in_sixteenths).right < kAll, "half of N");
    return check::report();
}
