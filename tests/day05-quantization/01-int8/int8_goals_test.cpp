// Grades day05-quantization/01-int8: what loads and copies cost, in counters.
#include "grading.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace int8_grading;
using wb::testing::Goal;

namespace {

/// A product of one block, for which everything is whole.
constexpr Int8Shape kWhole = {128, 128, 256};

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

/// @param check  looks at what was counted
template <class Check>
void count_quantize(int64_t rows, int64_t columns, Check check) {
    const auto x = random_rows(rows, columns, 1);
    const Goal goal("int8_quantize");
    grade_quantize_one("int8_quantize", int8_quantize, x, columns, Wanted::sums, "");
    check(goal);
}

template <class Check>
void count_product(const Int8Shape& shape, Check check) {
    const Layer layer = whole_layer(shape, false, false);
    const Expected expected = exact_of(layer);
    const Goal goal("int8_matmul");
    grade_one("int8_matmul", int8_matmul, layer, expected, "");
    check(goal);
}

}  // namespace

TEST_CASE("quantise: neighbouring threads have neighbouring elements", "[.][goal]") {
    count_quantize(3, 2048, [](const Goal& goal) { goal.moves_at_most(1.1); });
}

TEST_CASE("quantise: a row is loaded once, 16 bytes a lane", "[.][goal][fast]") {
    count_quantize(4, 2048, [](const Goal& goal) {
        goal.loads_at_most(4 * 2048 * 2 / 32, 4 * 2048 * 2 / 512);
    });
}

TEST_CASE("product: each byte is copied once, past the registers", "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        at_most(goal,
                "sectors are copied",
                counted().sectors,
                (kWhole.M + kWhole.N) * kWhole.K / 32);
    });
}

TEST_CASE("product: fragments are loaded by ldmatrix, four at a time",
          "[.][goal][fast]") {
    count_product(kWhole, [](const Goal& goal) {
        // A warp has 4 tiles of x and 2 pairs of tiles of w in each step of 32 bytes.
        constexpr int64_t kOfWarp = kWhole.K / 32 * (4 + 2);
        at_most(goal,
                "loads of a warp from shared memory",
                counted().shared_loads,
                8 * kOfWarp);
        goal.conflicts_at_most(1.0);
    });
}
