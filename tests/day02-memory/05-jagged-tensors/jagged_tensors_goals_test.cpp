// Grades day02-memory/05-jagged-tensors: what the accesses cost, and sizes beyond 32
// bits.
#include "jagged_cases.h"

#include <wb/launch.h>
#include <wb/testing/goal.h>
#include <wb/testing/large.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace jagged_grading;
using wb::testing::Goal;

namespace {

constexpr int64_t kRows = 600;
constexpr int64_t kGoalDim = 64;
constexpr int64_t kMaxLength = 41;

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t load_requests = 0;
    uint64_t load_sectors = 0;
    uint64_t store_requests = 0;
    uint64_t store_sectors = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.requests,
            c.global_load.sectors,
            c.global_store.requests,
            c.global_store.sectors};
#else
    return {};
#endif
}

/// Misses a goal if there is more of something than is allowed.
void at_most(const Goal& goal, const char* what, uint64_t count, int64_t allowed) {
    goal.require(count <= static_cast<uint64_t>(allowed),
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

/// Rows of 20 entries on average. Returns how many bytes their entries have.
int64_t run_to_dense() {
    const HostOffsets offsets = offsets_of(kMixed, kRows, 1);
    const int64_t total = offsets.back();
    const auto values = numbers(total * kGoalDim, 1);
    Grader grade("jagged_to_dense", "600 rows of 0 to 40 entries, dim 64");
    const auto* d_values = upload(grade, "values", values);
    const auto d_offsets = upload_offsets(grade, "offsets", offsets, false);
    Output<float> dense(grade, "dense", kRows * kMaxLength * kGoalDim);
    JaggedStatus* d_status = status_array(grade);
    grade.run([&](cudaStream_t s) {
        const JaggedShape shape = {kRows, total, kMaxLength, kGoalDim};
        jagged_to_dense(d_values, d_offsets, dense.data, shape, d_status, s);
    });
    dense.expect(wb::reference::jagged_to_dense(values, offsets, kMaxLength, kGoalDim));
    return total * kGoalDim * 2;
}

int64_t run_from_dense() {
    const HostOffsets offsets = offsets_of(kMixed, kRows, 1);
    const int64_t total = offsets.back();
    const auto dense = numbers(kRows * kMaxLength * kGoalDim, 1);
    Grader grade("dense_to_jagged", "600 rows of 0 to 40 entries, dim 64");
    const auto* d_dense = upload(grade, "dense", dense);
    const auto d_offsets = upload_offsets(grade, "offsets", offsets, false);
    Output<float> values(grade, "values", total * kGoalDim);
    JaggedStatus* d_status = status_array(grade);
    grade.run([&](cudaStream_t s) {
        const JaggedShape shape = {kRows, total, kMaxLength, kGoalDim};
        dense_to_jagged(d_dense, d_offsets, values.data, shape, d_status, s);
    });
    values.expect(wb::reference::dense_to_jagged(dense, offsets, kMaxLength, kGoalDim));
    return total * kGoalDim * 2;
}

#ifndef SIMT_CPU
/// 2^31 + 2^15 entries of two elements, in 2^16 + 1 rows: an entry is as large as a
/// float. With the offsets of all rows on the device.
struct LargeJagged {
    static constexpr int64_t kLength = 1 << 15;
    static constexpr int64_t kRows = (1 << 16) + 1;
    static constexpr int64_t kTotal = kLength * kRows;

    explicit LargeJagged(int64_t length) {
        HostOffsets host;
        for (int64_t r = 0; r <= kRows; ++r)
            host.push_back(r * length);
        const std::size_t bytes = host.size() * sizeof(int64_t);
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&offsets), bytes));
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&sums), bytes));
        CUDA_CHECK(cudaMemcpy(offsets, host.data(), bytes, cudaMemcpyHostToDevice));
    }
    ~LargeJagged() {
        (void)cudaFree(offsets);
        (void)cudaFree(sums);
    }
    LargeJagged(const LargeJagged&) = delete;
    LargeJagged& operator=(const LargeJagged&) = delete;

    int64_t* offsets = nullptr;
    int64_t* sums = nullptr;
    wb::JaggedCheck check;
};

__nv_bfloat16* elements(float* memory) {
    return reinterpret_cast<__nv_bfloat16*>(memory);
}
#endif

}  // namespace

TEST_CASE("to dense writes each sector once", "[.][goal]") {
    const Goal goal("jagged_to_dense");
    run_to_dense();
    at_most(goal,
            "sectors of dense are written",
            counted().store_sectors,
            kRows * kMaxLength * kGoalDim * 2 / 32);
    goal.moves_at_most(1.1);
}

TEST_CASE("from dense moves only what rows have", "[.][goal]") {
    const Goal goal("dense_to_jagged");
    const int64_t sectors = run_from_dense() / 32;
    const Counted c = counted();
    at_most(goal, "sectors of values are written", c.store_sectors, sectors);
    // Besides them: offsets and status, for each warp of each row.
    at_most(goal, "sectors are read", c.load_sectors, sectors + kRows * 8 * 4);
    goal.moves_at_most(1.1);
}

TEST_CASE("16 bytes an access, and one search for a tile", "[.][goal][fast]") {
    const Goal goal("dense_to_jagged");
    const int64_t stores = wb::ceil_div<int64_t>(run_from_dense(), 512);
    const Counted c = counted();
    at_most(goal, "stores", c.store_requests, stores);
    // One load for each store, four offsets to find its row among the few of a tile,
    // one to find its place; and what a block needs to find the tile's rows. A search
    // among all rows would take ten steps for each.
    at_most(goal, "loads", c.load_requests, stores * 15 / 2);
}

TEST_CASE("to dense and back: more than 2^32 elements", "[large][serial]") {
    const wb::Offsets none(static_cast<const int64_t*>(nullptr));
    Grader("jagged_to_dense", "no rows").expect_no_work([&](cudaStream_t s) {
        jagged_to_dense(nullptr, none, nullptr, {0, 0, 1, 1}, nullptr, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^32 elements are too much for the simulator");
#else
    using Large = LargeJagged;
    wb::testing::LargeArrays large(Large::kTotal, Large::kTotal);
    if (!large.has_memory()) WB_SKIP("needs 19 GB of free GPU memory");
    const Large jagged(Large::kLength);
    const JaggedShape shape = {Large::kRows, Large::kTotal, Large::kLength, 2};
    const std::vector<int64_t> places = {
        0, int64_t{1} << 30, int64_t{1} << 31, Large::kTotal - 1};
    for (const int64_t place : places)
        large.set(place, 7.0f);
    const auto grade = [&](auto& name, auto launch) {
        large.expect(
            name, "2^31 + 2^15 entries of 2", places, {7, 7, 7, 7}, [&](auto s) {
                launch(elements(large.x),
                       jagged.offsets,
                       elements(large.y),
                       shape,
                       jagged.check.status(),
                       s);
            });
    };
    for_each_version("jagged_to_dense", jagged_to_dense, grade);
    for_each_version("dense_to_jagged", dense_to_jagged, grade);
    jagged.check.check(nullptr);
#endif
}

TEST_CASE("concat and split: more than 2^32 elements", "[large][serial]") {
    const wb::Offsets none(static_cast<const int64_t*>(nullptr));
    Grader("jagged_split", "no rows").expect_no_work([&](cudaStream_t s) {
        jagged_split(nullptr, none, none, nullptr, nullptr, {0, 0, 0, 1}, nullptr, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^32 elements are too much for the simulator");
#else
    // Both have rows of half the length: the result has rows of kLength.
    using Large = LargeJagged;
    wb::testing::LargeArrays large(Large::kTotal, Large::kTotal);
    if (!large.has_memory()) WB_SKIP("needs 19 GB of free GPU memory");
    constexpr int64_t kPart = Large::kLength / 2;
    constexpr int64_t kHalf = Large::kTotal / 2;
    const Large jagged(kPart);
    const PairShape shape = {Large::kRows, kHalf, kHalf, 2};
    // Entry 5 of the last row of a, and of b, and where they are in the result.
    const int64_t last = Large::kRows - 1;
    const std::vector<int64_t> apart = {
        0, last * kPart + 5, kHalf + 5, kHalf + last * kPart + 5};
    const std::vector<int64_t> together = {
        0, last * Large::kLength + 5, kPart + 5, last * Large::kLength + kPart + 5};
    __nv_bfloat16* x = elements(large.x);
    __nv_bfloat16* y = elements(large.y);
    wb::JaggedStatus* status = jagged.check.status();
    for (const int64_t place : apart)
        large.set(place, 7.0f);
    for_each_version("jagged_concat", jagged_concat, [&](auto& name, auto launch) {
        large.expect(
            name, "2^31 + 2^15 entries of 2", together, {7, 7, 7, 7}, [&](auto s) {
                launch(x,
                       jagged.offsets,
                       x + 2 * kHalf,
                       jagged.offsets,
                       y,
                       jagged.sums,
                       shape,
                       status,
                       s);
            });
    });
    CUDA_CHECK(cudaMemset(large.x, 0, Large::kTotal * sizeof(float)));
    for (const int64_t place : together)
        large.set(place, 7.0f);
    for_each_version("jagged_split", jagged_split, [&](auto& name, auto launch) {
        large.expect(
            name, "2^31 + 2^15 entries of 2", apart, {7, 7, 7, 7}, [&](auto s) {
                launch(x,
                       jagged.offsets,
                       jagged.offsets,
                       y,
                       y + 2 * kHalf,
                       shape,
                       status,
                       s);
            });
    });
    jagged.check.check(nullptr);
#endif
}
