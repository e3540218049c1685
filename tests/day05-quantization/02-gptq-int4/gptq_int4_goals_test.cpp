// Grades day05-quantization/02-gptq-int4: what loads and copies cost, in counters.
#include "grading.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace gptq_grading;
using wb::testing::Goal;

namespace {

/// A product of one block, for which everything is whole: 64 rows of x, 64 columns, 512
/// rows of W. Two groups of warps multiply two tiles down of them each in a round.
constexpr Call kWhole = {64, 64, 512, 128};
constexpr int64_t kGroups = 2;
constexpr int64_t kRowsOfRound = kGroups * 2 * 32;

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t sectors = 0;       // copied by cp.async
    uint64_t loads = 0;         // of a warp, from global memory to registers
    uint64_t shared_loads = 0;  // of a warp
    uint64_t barriers = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.async_load.sectors,
            c.global_load.requests,
            c.shared_load.requests,
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

/// The contract's product alone; what packs W is not counted.
/// @param check  looks at what was counted
template <class Check>
void count_product(const Call& c, Check check) {
    const FewMultiprocessors few(1);  // K is not cut into parts
    const GptqWeights w = exact_weights(c, 1);
    const auto packed = packed_of(c, w);
    const auto x = whole_x(c);
    const Expected expected = expected_of(c, w, x, true);
    const Goal goal("gptq_matmul");
    grade_one("gptq_matmul", gptq_matmul, c, w, packed, x, expected, "");
    check(goal);
}

}  // namespace

TEST_CASE("dequantise: neighbouring threads have neighbouring columns", "[.][goal]") {
    const Call c{1, 256, 64, 32};
    const GptqWeights w = random_weights(c, 1);
    const auto exact = wb::reference::dequantized(w);
    const Goal goal("gptq_dequantize");
    Grader grade("gptq_dequantize", c.text());
    const GptqTensors tensors = tensors_of(grade, w);
    __half* const d_w = grade.output<__half>("w", {c.K, c.N});
    grade.run([&](cudaStream_t stream) {
        gptq_dequantize(c.shape(), tensors, d_w, nullptr, stream);
    });
    grade.expect("w", std::vector<double>(exact.begin(), exact.end()), [](int64_t) {
        return 0.0;
    });
    goal.moves_at_most(1.1);
}

TEST_CASE("product: neighbouring threads have neighbouring columns", "[.][goal]") {
    count_product({2, 256, 64, 32}, [](const Goal& goal) { goal.moves_at_most(1.1); });
}

TEST_CASE("a block copies its tiles of W, their factors and x once",
          "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        constexpr int64_t kTiles = kWhole.N / 32 * (kWhole.K / 32);
        constexpr int64_t kBytes = kTiles * (512 + 128) + kWhole.M * kWhole.K * 2;
        at_most(goal, "sectors are copied", counted().sectors, kBytes / 32);
    });
}

TEST_CASE("no number goes through a register on its way", "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        at_most(goal, "loads of a warp", counted().loads, 0);
    });
}

TEST_CASE("a word is loaded once for all rows of x, and x once for all words",
          "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        // A warp multiplies a tile of 32 rows and columns with 64 rows of x: a load of
        // its words, one of its factors, eight of x. Sums of all groups meet.
        constexpr int64_t kTiles = kWhole.N / 32 * (kWhole.K / 32);
        constexpr int64_t kOfSums = kGroups * kWhole.M * kWhole.N / 4 / 32;
        at_most(goal,
                "loads of a warp from shared memory",
                counted().shared_loads,
                static_cast<uint64_t>(kTiles * 10 + kOfSums));
    });
}

TEST_CASE("one barrier a round", "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        // And two where sums come together.
        at_most(goal,
                "barriers of a block",
                counted().barriers,
                kWhole.K / kRowsOfRound + 2);
    });
}
