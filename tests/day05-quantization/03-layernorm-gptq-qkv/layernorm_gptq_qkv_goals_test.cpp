// Grades day05-quantization/03-layernorm-gptq-qkv: what loads and copies cost, in
// counters.
#include "grading.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace qkv_grading;
using wb::testing::Goal;

namespace {

/// Eight rows, for which everything is whole: 24 tiles of columns, 8 of rows of W.
constexpr Call kWhole = {1, 8, 256, 64};
constexpr int64_t kTilesAcross = 3 * kWhole.hidden / 32;
constexpr int64_t kTilesDown = kWhole.hidden / 32;

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t launches = 0;
    uint64_t sectors = 0;   // copied by cp.async
    uint64_t loads = 0;     // of a warp, from global memory to registers
    uint64_t barriers = 0;  // of all blocks
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.launches, c.async_load.sectors, c.global_load.requests, c.barriers};
#else
    return {};
#endif
}

void at_most(const Goal& goal, const char* what, uint64_t count, int64_t allowed) {
    goal.require(count <= static_cast<uint64_t>(allowed),
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

/// The contract's function alone; what packs W is not counted.
/// @param check  looks at what was counted
template <class Check>
void count_qkv(const Call& c, Check check) {
    const FewMultiprocessors few(1);  // W is not cut into parts
    const GptqWeights w = exact_weights(c, 1);
    const auto packed = packed_of(c, w);
    const Rows rows = whole_rows(c, 1);
    const Expected expected = expected_of(c, w, rows, true);
    const Goal goal("layernorm_gptq_qkv");
    grade_one(
        "layernorm_gptq_qkv", layernorm_gptq_qkv, c, w, packed, rows, expected, "");
    check(goal);
}

}  // namespace

TEST_CASE("neighbouring threads have neighbouring columns", "[.][goal]") {
    count_qkv({1, 2, 128, 32}, [](const Goal& goal) { goal.moves_at_most(1.1); });
}

TEST_CASE("one kernel does it all", "[.][goal][fast]") {
    count_qkv(kWhole, [](const Goal& goal) {
        at_most(goal, "launches", counted().launches, 1);
    });
}

TEST_CASE("W, rows, weight and bias are copied once for 32 columns of W",
          "[.][goal][fast]") {
    count_qkv(kWhole, [](const Goal& goal) {
        constexpr int64_t kOfW = kTilesAcross * kTilesDown * (512 + 128);
        constexpr int64_t kOfRows = kTilesAcross * (kWhole.seq + 2) * kWhole.hidden * 2;
        at_most(goal, "sectors are copied", counted().sectors, (kOfW + kOfRows) / 32);
    });
}

TEST_CASE("a block loads each of its rows once to measure it", "[.][goal][fast]") {
    count_qkv(kWhole, [](const Goal& goal) {
        // 512 bytes of a row are a load of a warp.
        at_most(goal,
                "loads of a warp",
                counted().loads,
                kTilesAcross * kWhole.seq * kWhole.hidden * 2 / 512);
    });
}

TEST_CASE("no barrier within the loop", "[.][goal][fast]") {
    count_qkv(kWhole, [](const Goal& goal) {
        // Two while rows are measured, two where sums come together.
        at_most(goal, "barriers", counted().barriers, 4 * kTilesAcross);
    });
}
