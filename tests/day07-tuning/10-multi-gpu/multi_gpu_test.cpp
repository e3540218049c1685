// Grades day07-tuning/10-multi-gpu: multi_gpu().
#include "multi_gpu.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>

#include <cstring>
#include <map>

#include "grading.h"
#include "trained_share.h"

using namespace multi_gpu_grading;

namespace {

#ifndef SIMT_CPU
/// Where w_out and w_down are zero, y is x. Both are zeros but for a few elements.
void grade_large() {
    const BlockShape shape = {65537, 256, 128, 2};
    const int64_t W = shape.width();
    const int64_t n = shape.tokens * W;  // 2^31 + 2^15
    const std::vector<int64_t> places = {0, n / 2 + 1, n - W - 1, n - 1};
    const auto count = static_cast<int64_t>(places.size());
    Team team(2, 0);
    std::vector<std::unique_ptr<Zeros>> memory;
    for (int r = 0; r < 2; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        size_t free_bytes = 0;
        size_t total_bytes = 0;
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (free_bytes < size_t{58} << 30)
            WB_SKIP("needs 58 GB of free memory on each of two GPUs");
        for (const int64_t floats : {n, n, 3 * W * W / 2})
            memory.push_back(std::make_unique<Zeros>(floats));
        const auto at = static_cast<size_t>(3 * r);
        for (int64_t i = 0; i < count; ++i)
            memory[at]->set(places[static_cast<size_t>(i)], static_cast<float>(i + 1));
        Rank& rank = team[r];  // one array of zeros is large enough for all weights
        rank.w_qkv = rank.w_out = rank.w_up = rank.w_down = memory[at + 2]->data();
    }
    CUDA_CHECK(cudaSetDevice(0));
    team.run(
        [&](Rank& rank, cudaStream_t stream) {
            const auto at = static_cast<size_t>(3 * rank.rank);
            multi_gpu(shape, rank, memory[at]->data(), memory[at + 1]->data(), stream);
        },
        100.0);
    for (const size_t y : {1, 4})
        for (int64_t i = 0; i < count; ++i)
            CHECK(memory[y]->get(places[static_cast<size_t>(i)]) ==
                  static_cast<float>(i + 1));
}
#endif

}  // namespace

TEST_CASE("one rank: nothing is summed") {
    WB_NEEDS_DEVICES(1, ask_multi_gpu);
    grade_all({5, 2, 8, 12}, 1);
    grade_all({1, 1, 1, 1}, 1);
    grade_all({9, 1, 6, 5}, 1);
}

TEST_CASE("two ranks") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_all({1, 2, 4, 6}, 2);
    grade_all({7, 4, 8, 20}, 2);
}

TEST_CASE("three ranks, and four") {
    WB_NEEDS_DEVICES(4, ask_multi_gpu);
    grade_all({3, 3, 2, 9}, 3);
    grade_all({6, 4, 3, 8}, 4);
}

TEST_CASE("as many ranks as there can be") {
    WB_NEEDS_DEVICES(8, ask_multi_gpu);
    grade_all({3, 8, 2, 16}, 8);
}

TEST_CASE("a rank whose device is not number 0") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    const Problem problem = {{5, 2, 8, 12}, 1};
    CUDA_CHECK(cudaSetDevice(1));
    {
        Rank rank;
        const Shard shard(rank, share_of(rank, problem.shape, problem.weights));
        Grader grade("multi_gpu", describe(problem.shape, 1) + ", on device 1");
        const float* const x = grade.input("x", problem.x);
        float* const y = grade.output<float>("y", {5, 16});
        grade.run([&](cudaStream_t s) { multi_gpu(problem.shape, rank, x, y, s); });
        grade.expect("y", problem.expected.value, [&](int64_t i) {
            return problem.expected.error[static_cast<size_t>(i)];
        });
    }
    CUDA_CHECK(cudaSetDevice(0));
}

TEST_CASE("more tokens than a tile has rows, more than one head a rank") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_all({70, 4, 5, 66}, 2);
    grade_all({34, 2, 17, 6}, 2);
}

TEST_CASE("a token of more than a hundred elements") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_all({2, 1, 128, 2}, 1);
    if (wb::testing::is_watched()) return;  // its accesses are those of other cases
    grade_all({5, 2, 66, 4}, 2);
}

TEST_CASE("more than a thousand tokens", "[long]") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_all({1366, 2, 1, 2}, 2);  // the last of four chunks begins behind 1024
}

TEST_CASE("weights of a trained model: each rank reads its share", "[values]") {
    WB_NEEDS_DEVICES(3, ask_multi_gpu);
    const wb::model::Checkpoint model = wb::model::read_checkpoint(WB_TRAINED);
    const int64_t layer = 4;
    const BlockShape shape = shape_of_model(model, layer, 2);
    const auto share = [&](const Rank& rank) {
        return share_of_layer(model, layer, shape, rank.rank, rank.ranks);
    };
    // Alone, a rank has all of the layer.
    const BlockWeights all = share({});
    const int64_t W = shape.width();
    const auto element = [&](const char* name, int64_t row, int64_t column) {
        const auto& matrix =
            model.tensors.at(std::string("layers.4.") + name + ".weight");
        return transposed_part(matrix, row, 1, column, 1).at(0);
    };
    CHECK(all.qkv.at((7 * 3 + 1) * W + 5) == element("attention.qkv", W + 5, 7));
    CHECK(all.out.at(7 * W + 5) == element("attention.out", 5, 7));
    CHECK(all.up.at(7 * shape.hidden + 5) == element("mlp.up", 5, 7));
    CHECK(all.down.at(7 * W + 5) == element("mlp.down", 5, 7));
    grade_all(Problem{shape, 3, all, share}, ", trained");
}

TEST_CASE("nothing is kept from call to call") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_all({6, 4, 5, 12}, 2);
    grade_all({2, 2, 3, 4}, 2);
    grade_all({6, 4, 5, 12}, 2);
}

TEST_CASE("call after call") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_all({4, 2, 3, 4}, 2, ", 3 calls", 3);
}

/// Fails unless sums went through the inboxes, or did not.
void expect_inboxes_used(Team& team, bool wanted) {
    const Inboxes& inboxes = *team[0].inboxes;
    if ((inboxes.calls > 0) == wanted) return;
    wb::testing::Finding finding{wb::testing::Kind::contract};
    finding.implementation = "multi_gpu";
    finding.inputs = "inboxes of " + std::to_string(inboxes.capacity) + " floats";
    finding.what = wanted ? "one_shot_all_reduce() was not called, though N H D "
                            "floats fit into the inboxes"
                          : "one_shot_all_reduce() was called, though N H D floats do "
                            "not fit into the inboxes";
    wb::testing::fail(std::move(finding));
}

/// The contract's function alone, with inboxes of so many floats; y of rank 0 is
/// compared.
void grade_at_capacity(int64_t tokens,
                       bool fits,
                       int64_t head_dim = 4,
                       int64_t capacity = kPiece) {
    const Problem problem = {{tokens, 2, head_dim, 2}, 2};
    const size_t bytes = problem.x.size() * sizeof(float);
    Team team(2, capacity);
    const ShardedWeights sharded(team, problem.shape, problem.weights);
    const auto in = on_each_rank(2, problem.x);
    const auto out = on_each_rank(2, problem.x);
    Grader grade("multi_gpu",
                 describe(problem.shape, 2) + ", inboxes of " +
                     std::to_string(capacity) + " floats");
    float* const y = grade.output<float>("y", {tokens, 2 * head_dim});
    grade.run_and_wait([&](cudaStream_t grades) {
        team.run([&](Rank& rank, cudaStream_t stream) {
            const auto r = static_cast<size_t>(rank.rank);
            multi_gpu(problem.shape, rank, in[r]->data(), out[r]->data(), stream);
        });
        CUDA_CHECK(
            cudaMemcpyAsync(y, out[0]->data(), bytes, cudaMemcpyDefault, grades));
    });
    grade.expect("y", problem.expected.value, [&](int64_t i) {
        return problem.expected.error[static_cast<size_t>(i)];
    });
    expect_inboxes_used(team, fits);
}

TEST_CASE("a block that fits into the inboxes to the last float") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_at_capacity(128, true);
    grade_at_capacity(66, true, 32, 5 * kPiece);  // 4224 floats, less than there is
}

TEST_CASE("a block that does not fit into the inboxes goes through NCCL") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_at_capacity(129, false);
}

TEST_CASE("more than 2^31 elements, summed by NCCL", "[large][serial]") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
#ifdef SIMT_CPU
    WB_SKIP("55 GB on each of two devices are too much for the simulator");
#else
    grade_large();
#endif
}

TEST_CASE("no tokens: nothing is launched") {
    Grader("multi_gpu", "N = 0").expect_no_work([](cudaStream_t stream) {
        multi_gpu({0, 2, 1, 2}, {}, nullptr, nullptr, stream);
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    const Memory memory(std::vector<float>(64));
    float* const p = memory.data();
    const auto refused = [&](const char* what,
                             const char* part,
                             const BlockShape& shape,
                             int r,
                             int ranks,
                             const std::function<void(Rank&)>& change = {}) {
        Rank rank;
        rank.rank = r;
        rank.ranks = ranks;
        rank.w_qkv = rank.w_out = rank.w_up = rank.w_down = p;
        if (change) change(rank);
        expect_refused("multi_gpu", what, part, [&] {
            multi_gpu(shape, rank, p, p + 32, nullptr);
        });
    };
    const auto comm = [](Rank& rank) {
        rank.comm = reinterpret_cast<ncclComm_t>(std::uintptr_t{8});  // not looked at
    };
    refused("N = -1", "tokens is -1", {-1, 2, 1, 2}, 0, 1);
    refused("H = 0", "heads is 0", {1, 0, 1, 2}, 0, 1);
    refused("D = 0", "head_dim is 0", {1, 2, 0, 2}, 0, 1);
    refused("D = 129", "head_dim is 129", {1, 1, 129, 2}, 0, 1);
    refused("F = 0", "hidden is 0", {1, 2, 1, 0}, 0, 1);
    refused("no ranks", "ranks is 0", {1, 2, 1, 2}, 0, 0);
    refused("nine ranks", "ranks is 9", {1, 9, 1, 9}, 0, 9, comm);
    refused("rank = -1", "rank is -1", {1, 2, 1, 2}, -1, 2, comm);
    refused("rank 1 of 1", "rank is 1", {1, 2, 1, 2}, 1, 1);
    refused("3 heads, 2 ranks", "heads is 3", {1, 3, 1, 4}, 0, 2, comm);
    refused("more ranks than heads", "heads is 2", {1, 2, 1, 4}, 0, 4, comm);
    refused("F = 3, 2 ranks", "hidden is 3", {1, 4, 1, 3}, 0, 2, comm);
    refused("no communicator", "comm is 0", {1, 2, 1, 2}, 0, 2);
    refused("eight ranks, no communicator", "comm is 0", {1, 8, 1, 8}, 0, 8);
    refused("N = 0, H = 0", "heads is 0", {0, 0, 1, 2}, 0, 1);
    refused("N = 0, F = 3, 2 ranks", "hidden is 3", {0, 4, 1, 3}, 0, 2, comm);
    refused("N = 0, no communicator", "comm is 0", {0, 2, 1, 2}, 0, 2);
    refused("w_qkv null", "w_qkv", {1, 2, 1, 2}, 0, 1, [](Rank& rank) {
        rank.w_qkv = nullptr;
    });
    refused("w_out null", "w_out", {1, 2, 1, 2}, 0, 1, [](Rank& rank) {
        rank.w_out = nullptr;
    });
    refused("w_up null", "w_up", {1, 2, 1, 2}, 0, 1, [](Rank& rank) {
        rank.w_up = nullptr;
    });
    refused("w_down null", "w_down", {1, 2, 1, 2}, 0, 1, [](Rank& rank) {
        rank.w_down = nullptr;
    });
    Rank rank;
    rank.w_qkv = rank.w_out = rank.w_up = rank.w_down = p;
    // What one call has found out about its sizes is nothing to the next one.
    wb::testing::result_of([&] {
        multi_gpu({1, 1, 1, 1}, rank, p, p + 32, nullptr);
        return true;
    });
    expect_refused("multi_gpu", "y is x", "y - x", [&] {
        multi_gpu({2, 3, 1, 2}, rank, p, p + 5, nullptr);  // the last of six
    });
    expect_refused("multi_gpu", "x null", "x", [&] {
        multi_gpu({2, 2, 1, 2}, rank, nullptr, p, nullptr);
    });
    expect_refused("multi_gpu", "y null", "y", [&] {
        multi_gpu({2, 2, 1, 2}, rank, p, nullptr, nullptr);
    });
}
