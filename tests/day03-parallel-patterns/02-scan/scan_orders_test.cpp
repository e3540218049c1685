// Grades day03-parallel-patterns/02-scan: orders of blocks, arguments, long arrays,
// goals in counters.
#include "grading.h"

#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#include <wb/testing/large.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace scan_grading;
using wb::testing::FewBlocks;
using wb::testing::Goal;

namespace {

constexpr int64_t kGoalTiles = 6;

/// The contract's function alone, on whole tiles.
void grade_contract(int64_t tiles) {
    const auto values = random_values<int32_t>(tiles * kTile);
    grade_one("scan_int32",
              Call{},
              values,
              {},
              "",
              [](auto* x, auto*, auto* y, int64_t n, cudaStream_t stream) {
                  scan_int32(x, y, n, ScanKind::inclusive, stream);
              });
}

}  // namespace

TEST_CASE("right if there is room for few blocks, and the last begins first") {
    const FewBlocks few(GENERATE(1u, 3u));
    grade_random(3 * kTile + 3);
    grade_random(3 * kTile + 3, {}, 9000);
}

TEST_CASE("right whatever order threads and blocks run in") {
    const unsigned seed = GENERATE(1u, 2u, 3u, 4u);
    const FewBlocks few(2 + 4 * (seed % 2));
    wb::testing::shuffle_threads(seed);
    grade_scan(with(ScanKind::exclusive), random_values<int32_t>(3 * kTile + 3));
    grade_segments(with(ScanKind::inclusive),
                   random_values<float>(2 * kTile + 3),
                   random_heads(2 * kTile + 3, 6000),
                   ", a head in 6000");
    wb::testing::shuffle_threads(0);
}

TEST_CASE("many blocks at a time, none of which knows all before it", "[long]") {
    // One of the first is late: those behind it add up totals of more than two warps of
    // tiles.
    const FewBlocks few(70);
    wb::testing::shuffle_threads(3);
    grade_contract(70);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("wrong arguments are refused by name") {
    const auto refuse =
        [](const char* function, const char* what, const char* part, auto call) {
            wb::testing::expect_refused(function, what, part, call);
        };
    Grader memory("scan_int32", "wrong arguments");
    int32_t* d = memory.output<int32_t>("d", {64});
    auto* f = reinterpret_cast<float*>(d);
    const auto* heads = reinterpret_cast<const uint8_t*>(d + 48);
    auto* odd = reinterpret_cast<int32_t*>(reinterpret_cast<char*>(d) + 2);
    int32_t host[8] = {};
    constexpr auto kind = ScanKind::inclusive;
    constexpr int64_t kHuge = int64_t{1} << 61;
    const auto scan = [&](const char* what, const char* part, auto x, auto y, auto n) {
        refuse("scan_int32", what, part, [=] { scan_int32(x, y, n, kind, nullptr); });
    };
    scan("n = -1", "n is -1", d, d + 8, int64_t{-1});
    scan("n * 4 = 2^63", "2305843009213693952 * 4", d, d + 8, kHuge);
    scan("x null", "x is a null pointer", static_cast<int32_t*>(nullptr), d, 8);
    scan("y null", "y is a null pointer", d, static_cast<int32_t*>(nullptr), 8);
    scan("x on the host", "x is a host pointer", host, d, 8);
    scan("y on the host", "y is a host pointer", d, host, 8);
    scan("x misaligned", "x is not aligned", odd, d + 8, 4);
    scan("y misaligned", "y is not aligned", d, odd, 4);
    scan("y on x's last", "y - x in bytes is 28", d, d + 7, 8);
    scan("y's last on x", "y - x in bytes is -28", d + 7, d, 8);
    refuse("scan_int32", "kind 2", "kind is 2", [&] {
        scan_int32(d, d + 8, 8, static_cast<ScanKind>(2), nullptr);
    });
    refuse("scan_int32", "kind -1, n = 0", "kind is -1", [&] {
        scan_int32(d, d + 8, 0, static_cast<ScanKind>(-1), nullptr);
    });
    refuse("scan_float", "n = -1", "scan_float: n is -1", [&] {
        scan_float(f, f + 8, -1, kind, nullptr);
    });
    const auto segments = [&](const char* what, const char* part, auto h, auto y) {
        refuse("segmented_scan_int32", what, part, [=] {
            segmented_scan_int32(d, h, y, 8, kind, nullptr);
        });
    };
    segments("heads null",
             "heads is a null pointer",
             static_cast<const uint8_t*>(nullptr),
             d + 8);
    segments("heads on the host",
             "heads is a host pointer",
             reinterpret_cast<const uint8_t*>(host),
             d + 8);
    segments("heads on y's last", "heads - y in bytes is 31", heads - 1, d + 40);
    segments("y on heads' last", "heads - y in bytes is -7", heads + 1, d + 50);
    segments("y on x's last", "y - x in bytes is 28", heads, d + 7);
    refuse("segmented_scan_float", "n = -2", "segmented_scan_float: n is -2", [&] {
        segmented_scan_float(f, heads, f + 8, -2, kind, nullptr);
    });
}

TEST_CASE("neighbours are no overlap") {
    Grader grade("segmented_scan_int32", "x, y and heads side by side");
    // The bytes of the last two elements are the heads: 1 0 0 0 1 0 0 0.
    int32_t* d = grade.in_out("all", {18}, std::vector<int32_t>(18, 1));
    std::vector<double> expected(18, 1.0);
    for (size_t i = 0; i < 8; ++i)
        expected[8 + i] = static_cast<double>(i % 4 + 1);
    grade.run([&](cudaStream_t stream) {
        segmented_scan_int32(d,
                             reinterpret_cast<const uint8_t*>(d + 16),
                             d + 8,
                             8,
                             ScanKind::inclusive,
                             stream);
    });
    grade.expect("all", expected, [](int64_t) { return 0.0; });
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    Grader("scan_float", "n = 0").expect_no_work([](cudaStream_t stream) {
        scan_float(nullptr, nullptr, 0, ScanKind::inclusive, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 5 * kTile + 3;
    wb::testing::LargeArrays large(kN, kN);
    if (!large.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    large.set(5, 1.0f);
    large.set(int64_t{1} << 30, 2.0f);
    large.set((int64_t{1} << 31) + 1, 4.0f);
    large.set(kN - 1, 8.0f);
    const std::vector<int64_t> places = {
        4, 5, (int64_t{1} << 30) + 7, int64_t{1} << 31, (int64_t{1} << 31) + 1, kN - 1};
    for (const auto& [name, idea, launcher] :
         wb::implementations("scan_float", scan_float))
        large.expect(name,
                     "n = 2^31 + 20483",
                     places,
                     {0, 1, 3, 3, 7, 15},
                     [&, launcher = launcher](cudaStream_t stream) {
                         launcher(large.x, large.y, kN, ScanKind::inclusive, stream);
                     });
#endif
}

namespace {

/// Sectors of global memory that have been moved since the goal began.
uint64_t sectors_moved() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return c.global_load.sectors + c.global_store.sectors;
#else
    return 0;
#endif
}

}  // namespace

TEST_CASE("no sector is moved that is not wanted", "[.][goal]") {
    const Goal goal("scan_int32");
    grade_contract(kGoalTiles);
    goal.moves_at_most(1.3);
}

TEST_CASE("each element is read once and written once", "[.][goal][fast]") {
    const Goal goal("scan_int32");
    grade_contract(kGoalTiles);
    // 1024 sectors a tile, and a few for the words that tiles tell each other.
    const uint64_t sectors = sectors_moved();
    const uint64_t allowed = kGoalTiles * (1024 + 64);
    goal.require(sectors <= allowed,
                 std::to_string(sectors) + " sectors are moved, " +
                     std::to_string(allowed) + " would do");
}
