// Grades day02-memory/06-async-copy: arguments, grids, long signals, costs of copies.
#include "grading.h"

#include <wb/check.h>
#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#include <wb/testing/large.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <algorithm>
#include <functional>

using namespace async_copy_grading;
using wb::testing::Goal;

TEST_CASE("wrong arguments are refused by name") {
    const auto refuse = [](const char* what, const char* part, auto call) {
        wb::testing::expect_refused("peak_energy", what, part, call);
    };
    Grader memory("peak_energy", "wrong arguments");
    float* d = memory.output<float>("d", {512});
    float host[8] = {};
    auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 2);
    constexpr int64_t kHuge = int64_t{1} << 61;
    refuse("n = -1", "n is -1", [&] { peak_energy(d, d + 256, -1, 1, nullptr); });
    refuse("no blocks", "blocks_per_sm is 0", [&] {
        peak_energy(d, d + 256, 0, 0, nullptr);
    });
    refuse("9 blocks", "blocks_per_sm is 9", [&] {
        peak_energy(d, d + 256, 8, 9, nullptr);
    });
    refuse("n * 4 = 2^63", "2305843009213693952 * 4", [&] {
        peak_energy(d, d + 256, kHuge, 1, nullptr);
    });
    refuse("x null", "x is a null pointer", [&] {
        peak_energy(nullptr, d, 8, 1, nullptr);
    });
    refuse("peaks null", "peaks is a null pointer", [&] {
        peak_energy(d, nullptr, 8, 1, nullptr);
    });
    refuse("x on the host", "x is a host pointer", [&] {
        peak_energy(host, d, 8, 1, nullptr);
    });
    refuse("peaks on the host", "peaks is a host pointer", [&] {
        peak_energy(d, host, 8, 1, nullptr);
    });
    refuse("x at a multiple of 8", "x is not aligned", [&] {
        peak_energy(d + 2, d + 256, 8, 1, nullptr);
    });
    refuse("peaks misaligned", "peaks is not aligned", [&] {
        peak_energy(d, odd, 8, 1, nullptr);
    });
    // 130 samples have two peaks: they may begin behind x, or end before it.
    refuse("peaks are x", "peaks - x in bytes is 0", [&] {
        peak_energy(d, d, 130, 1, nullptr);
    });
    refuse("peaks on x's last", "peaks - x in bytes is 516", [&] {
        peak_energy(d, d + 129, 130, 1, nullptr);
    });
    refuse("the last peak on x", "peaks - x in bytes is -4", [&] {
        peak_energy(d + 4, d + 3, 130, 1, nullptr);
    });
}

TEST_CASE("peaks right before and right behind the signal are allowed") {
    // 260 samples and three peaks in one array.
    const bool behind = GENERATE(false, true);
    const auto signal = wb::testing::random_normal(260, 1);
    const auto peaks = wb::reference::peak_energy(signal, kWindow, kSegment);
    const size_t x_from = behind ? 0 : 4;
    const size_t peaks_from = behind ? 260 : 1;
    std::vector<float> both(264);
    std::copy(signal.begin(), signal.end(), both.begin() + static_cast<int>(x_from));
    std::vector<double> expected(both.begin(), both.end());
    std::copy(
        peaks.begin(), peaks.end(), expected.begin() + static_cast<int>(peaks_from));
    Grader grade("peak_energy", behind ? "peaks = x + n" : "peaks = x - 3");
    float* d = grade.in_out("both", {264}, both);
    grade.run([&](cudaStream_t stream) {
        peak_energy(d + x_from, d + peaks_from, 260, 1, stream);
    });
    grade.expect("both", expected, [&](int64_t i) {
        const auto place = static_cast<size_t>(i);
        const bool is_peak = place - peaks_from < peaks.size();
        return is_peak ? wb::testing::float_bound(kWindow + 1, expected[place]) : 0.0;
    });
}

namespace {

/// Blocks of all kernels that a launcher queues. None of them runs.
int64_t blocks_of(const std::function<void(cudaStream_t)>& launch) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    try {
        launch(stream);
    } catch (...) {  // not written yet, say: nothing may be left in capture
        (void)cudaStreamEndCapture(stream, &graph);
        throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    size_t count = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
    int64_t blocks = 0;
    for (const cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type{};
        CUDA_CHECK(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        cudaKernelNodeParams kernel{};
        CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &kernel));
        blocks += int64_t{kernel.gridDim.x} * kernel.gridDim.y * kernel.gridDim.z;
    }
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
    return blocks;
}

}  // namespace

TEST_CASE("the grid has no more blocks than were asked for") {
    const FewMultiprocessors few(3);
    const int64_t n = 8 * FewMultiprocessors::count() * kTile;
    Grader memory("peak_energy", "grids");
    float* d = memory.output<float>("d", {n + n / kSegment});  // nothing is read
    for (const auto& [name, idea, launcher] :
         wb::implementations("peak_energy", peak_energy))
        for (const int blocks_per_sm : {8, 2, 1}) {
            const Call c{n, blocks_per_sm};
            const int64_t most = int64_t{blocks_per_sm} * FewMultiprocessors::count();
            const int64_t blocks = wb::testing::result_of([&, launcher = launcher] {
                return blocks_of([&](cudaStream_t stream) {
                    launcher(d, d + n, n, blocks_per_sm, stream);
                });
            });
            if (blocks > most)
                wb::testing::fail(wb::testing::Kind::contract,
                                  name + ", " + c.text() + ": the grid has " +
                                      std::to_string(blocks) +
                                      " blocks, and may have " + std::to_string(most));
        }
}

TEST_CASE("more than 2^31 samples", "[large][serial]") {
    Grader("peak_energy", "n = 0").expect_no_work([](cudaStream_t stream) {
        peak_energy(nullptr, nullptr, 0, 1, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 samples are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 5 * kTile + 3;
    wb::testing::LargeArrays large(kN, (kN - 1) / kSegment + 1);
    if (!large.has_memory()) WB_SKIP("needs 10 GB of free GPU memory");
    const std::vector<int64_t> samples = {
        5, int64_t{1} << 30, int64_t{1} << 31, kN - 1};
    std::vector<int64_t> places;
    for (const int64_t sample : samples) {
        large.set(sample, 3.0f);
        places.push_back(sample / kSegment);
    }
    for (const auto& [name, idea, launcher] :
         wb::implementations("peak_energy", peak_energy))
        large.expect(name, "n = 2^31 + 5123", places, {9, 9, 9, 9}, [&](auto stream) {
            launcher(large.x, large.y, kN, 2, stream);
        });
#endif
}

namespace {

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t loads = 0;   // of a warp, through registers
    uint64_t copies = 0;  // of a warp, by cp.async
    uint64_t sectors = 0;
    uint64_t barriers = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.requests,
            c.async_load.requests,
            c.global_load.sectors + c.async_load.sectors,
            c.barriers};
#else
    return {};
#endif
}

/// Misses a goal if there is more of something than is allowed.
void at_most(const Goal& goal, const char* what, uint64_t count, uint64_t allowed) {
    goal.require(count <= allowed,
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

constexpr int64_t kGoalTiles = 24;

}  // namespace

TEST_CASE("no sample goes through a register on its way", "[.][goal]") {
    const Goal goal("peak_energy");
    grade_contract({kGoalTiles * kTile, 1});
    at_most(goal, "loads of a warp", counted().loads, 0);
}

TEST_CASE("a copy moves 16 bytes, and each sector once", "[.][goal]") {
    const Goal goal("peak_energy");
    grade_contract({kGoalTiles * kTile, 1});
    const Counted c = counted();
    // A tile is 8 warps and 128 sectors; its halo takes one more of each.
    at_most(goal, "copies of a warp", c.copies, kGoalTiles * 9);
    at_most(goal, "sectors are read", c.sectors, kGoalTiles * 129);
}

TEST_CASE("no bank conflicts", "[.][goal]") {
    const Goal goal("peak_energy");
    grade_contract({kGoalTiles * kTile, 1});
    goal.conflicts_at_most(1.0);
}

TEST_CASE("one barrier a tile", "[.][goal][fast]") {
    const FewMultiprocessors few(1);
    const Goal goal("peak_energy");
    grade_contract({kGoalTiles * kTile, 1});
    at_most(goal, "barriers of a block", counted().barriers, kGoalTiles + 1);
}
