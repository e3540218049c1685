// Grades day04-gemm/03-mma-sync: what copies cost, in counters.
#include "grading.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace mma_sync_grading;
using wb::testing::Goal;

namespace {

/// A product for which everything is whole, and begins where it should.
constexpr Call kWhole = {128, 128, 128};

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t sectors = 0;       // loaded, by any way
    uint64_t loads = 0;         // of a warp, through registers
    uint64_t shared_loads = 0;  // of a warp
    uint64_t load_conflicts = 0;
    uint64_t copies = 0;  // of a warp, by cp.async
    uint64_t barriers = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.sectors + c.async_load.sectors,
            c.global_load.requests,
            c.shared_load.requests,
            c.shared_load.conflicts(),
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

TEST_CASE("ldmatrix loads each fragment once", "[.][goal]") {
    const Goal goal("mma_sync_bf16");
    grade_contract(kWhole);
    // A warp has 32 x 32 sums. For a step of 16 along K it needs 32 rows of A and 32
    // columns of B: four times 16 x 16 numbers, each of them an ldmatrix.
    constexpr int64_t kWarps = kWhole.M / 32 * (kWhole.N / 32);
    at_most(goal,
            "loads of a warp from shared memory",
            counted().shared_loads,
            static_cast<uint64_t>(kWarps * kWhole.K / 16 * 4));
}

TEST_CASE("ldmatrix meets no bank conflicts", "[.][goal]") {
    const Goal goal("mma_sync_bf16");
    grade_contract(kWhole);
    at_most(goal, "wavefronts of conflicts in loads", counted().load_conflicts, 0);
}

TEST_CASE("no bank conflicts", "[.][goal][fast]") {
    const Goal goal("mma_sync_bf16");
    grade_contract(kWhole);
    goal.conflicts_at_most(1.0);
}

TEST_CASE("a block loads its tiles of A and B once", "[.][goal][fast]") {
    const Goal goal("mma_sync_bf16");
    grade_contract(kWhole);
    at_most(goal, "sectors are loaded", counted().sectors, sectors_of(kWhole, 1, 1));
}

TEST_CASE("no number goes through a register on its way", "[.][goal][fast]") {
    const Goal goal("mma_sync_bf16");
    grade_contract(kWhole);
    const Counted c = counted();
    at_most(goal, "loads of a warp", c.loads, 0);
    // A warp copies 512 bytes at a time.
    at_most(goal, "copies of a warp", c.copies, sectors_of(kWhole, 1, 1) / 16);
}

TEST_CASE("a warp has 64 x 32 sums", "[.][goal][fast]") {
    const Goal goal("mma_sync_bf16");
    grade_contract(kWhole);
    // Six ldmatrix for 16 products, where stage 1 has four for 8.
    constexpr int64_t kWarps = kWhole.M / 64 * (kWhole.N / 32);
    at_most(goal,
            "loads of a warp from shared memory",
            counted().shared_loads,
            static_cast<uint64_t>(kWarps * kWhole.K / 16 * 6));
}

TEST_CASE("one barrier a round", "[.][goal][fast]") {
    const Goal goal("mma_sync_bf16");
    grade_contract(kWhole);
    at_most(goal, "barriers of a block", counted().barriers, kWhole.K / 32 + 1);
}
