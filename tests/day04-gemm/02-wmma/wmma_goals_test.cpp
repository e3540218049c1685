// Grades day04-gemm/02-wmma: what copies cost, in counters.
#include "grading.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace wmma_grading;
using wb::testing::Goal;

namespace {

/// A product for which everything is whole, and begins where it should.
constexpr Call kWhole = {128, 128, 128};

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t sectors = 0;  // loaded, by any way
    uint64_t loads = 0;    // of a warp, through registers
    uint64_t stores = 0;   // to shared memory, of a warp
    uint64_t copies = 0;   // of a warp, by cp.async
    uint64_t barriers = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.sectors + c.async_load.sectors,
            c.global_load.requests,
            c.shared_store.requests,
            c.async_load.requests,
            c.barriers};
#else
    return {};
#endif
}

void at_most(const Goal& goal, const char* what, uint64_t count, uint64_t allowed) {
    goal.require(count <= allowed,
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

/// Sectors of 32 bytes of A and B, if each is loaded so many times.
constexpr uint64_t sectors_of(const Call& c, int64_t times_a, int64_t times_b) {
    return static_cast<uint64_t>((c.M * c.K * times_a + c.K * c.N * times_b) / 16);
}

}  // namespace

TEST_CASE("a tile is loaded once for each tile of C that needs it", "[.][goal]") {
    const Goal goal("wmma_bf16");
    grade_contract(kWhole);
    at_most(goal,
            "sectors are loaded",
            counted().sectors,
            sectors_of(kWhole, kWhole.N / 16, kWhole.M / 16));
}

TEST_CASE("whole tiles of C are stored directly", "[.][goal]") {
    const Goal goal("wmma_bf16");
    grade_contract(kWhole);
    // Sums of 128 x 128 by way of shared memory would be 512 stores of a warp or more.
    at_most(goal, "stores of a warp to shared memory", counted().stores, 0);
}

TEST_CASE("a block loads its tiles of A and B once", "[.][goal][fast]") {
    const Goal goal("wmma_bf16");
    grade_contract(kWhole);
    at_most(goal, "sectors are loaded", counted().sectors, sectors_of(kWhole, 1, 1));
}

TEST_CASE("no number goes through a register on its way", "[.][goal][fast]") {
    const Goal goal("wmma_bf16");
    grade_contract(kWhole);
    const Counted c = counted();
    at_most(goal, "loads of a warp", c.loads, 0);
    // A warp copies 512 bytes at a time.
    at_most(goal, "copies of a warp", c.copies, sectors_of(kWhole, 1, 1) / 16);
}

TEST_CASE("no bank conflicts", "[.][goal][fast]") {
    const Goal goal("wmma_bf16");
    grade_contract(kWhole);
    goal.conflicts_at_most(1.0);
}

TEST_CASE("one barrier a round", "[.][goal][fast]") {
    const Goal goal("wmma_bf16");
    grade_contract(kWhole);
    at_most(goal, "barriers of a block", counted().barriers, kWhole.K / 32 + 1);
}
