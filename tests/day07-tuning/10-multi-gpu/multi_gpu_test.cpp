// Grades day07-tuning/10-multi-gpu: multi_gpu().
#include "multi_gpu.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cstring>
#include <map>

#include "needs.h"

namespace {

using wb::testing::Grader;
using wb::testing::StreamOrder;

BlockWeights weights_of(const BlockShape& shape) {
    const int64_t W = shape.width();
    BlockWeights w;
    w.qkv = wb::testing::random_normal(W * 3 * W, 2);
    w.out = wb::testing::random_normal(W * W, 3);
    w.up = wb::testing::random_normal(W * shape.hidden, 4);
    w.down = wb::testing::random_normal(shape.hidden * W, 5);
    const float scale = 1.0f / std::sqrt(static_cast<float>(W));
    for (auto* part : {&w.qkv, &w.out, &w.up, &w.down})
        for (float& value : *part)
            value *= scale;
    return w;
}

std::string describe(const BlockShape& shape, int ranks) {
    return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
           ", N = " + std::to_string(shape.tokens) +
           ", H = " + std::to_string(shape.heads) +
           ", D = " + std::to_string(shape.head_dim) +
           ", F = " + std::to_string(shape.hidden);
}

using Function = decltype(multi_gpu);

/// Runs the block on all ranks and compares what each has with the reference.
///
/// @param calls  one after the other, of which the last is compared
void grade_one(const std::string& name,
               Function* function,
               const BlockShape& shape,
               int ranks,
               bool has_inboxes,
               const std::string& more = "",
               int calls = 1) {
    const int64_t n = shape.tokens * shape.width();
    const BlockWeights weights = weights_of(shape);
    const auto x = wb::testing::random_normal(n, 1);
    Team team(ranks, has_inboxes ? n : 0);
    const ShardedWeights sharded(team, shape, weights);
    std::vector<std::unique_ptr<Memory>> in, out;
    for (int r = 0; r < ranks; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        in.push_back(std::make_unique<Memory>(x));
        out.push_back(std::make_unique<Memory>(std::vector<float>(x.size(), NAN)));
    }
    CUDA_CHECK(cudaSetDevice(0));
    Grader grade(name, describe(shape, ranks) + more);
    float* const all =
        grade.output<float>("y", {ranks, shape.tokens, shape.heads, shape.head_dim});
    grade.run_and_wait([&](cudaStream_t) {
        team.run([&](Rank& rank, cudaStream_t stream) {
            const auto r = static_cast<size_t>(rank.rank);
            for (int call = 0; call < calls; ++call)
                function(shape, rank, in[r]->data(), out[r]->data(), stream);
        });
        for (size_t r = 0; r < out.size(); ++r)
            CUDA_CHECK(cudaMemcpy(all + static_cast<int64_t>(r) * n,
                                  out[r]->data(),
                                  x.size() * sizeof(float),
                                  cudaMemcpyDefault));
    });
    const Approximate expected = reference_block(shape, weights, x, ranks);
    std::vector<double> values;
    for (int r = 0; r < ranks; ++r)
        values.insert(values.end(), expected.value.begin(), expected.value.end());
    grade.expect("y", values, [&](int64_t i) {
        return expected.error[static_cast<size_t>(i % n)];
    });
    const std::vector<double> got = grade.read("y");
    for (int64_t i = 0; i < n * ranks; ++i) {
        if (got[static_cast<size_t>(i)] == got[static_cast<size_t>(i % n)]) continue;
        wb::testing::Finding differs{wb::testing::Kind::contract};
        differs.implementation = name;
        differs.inputs = describe(shape, ranks) + more;
        differs.what = "rank " + std::to_string(i / n) +
                       " has other bits than rank 0, in element " +
                       std::to_string(i % n) +
                       " of y: do all add the summands in the same order?";
        wb::testing::fail(std::move(differs));
    }
}

/// Every version, or the learner's function, through NCCL and through inboxes.
void grade_all(const BlockShape& shape,
               int ranks,
               const std::string& more = "",
               int calls = 1) {
    for (const auto& [name, idea, function] :
         wb::implementations("multi_gpu", multi_gpu)) {
        const bool contract = name == "multi_gpu";
        const bool one_shot = name == "multi_gpu_v4";
        if (!one_shot)
            grade_one(name, function, shape, ranks, false, more + ", NCCL", calls);
        if (one_shot || contract)
            grade_one(name, function, shape, ranks, true, more + ", inboxes", calls);
    }
}

}  // namespace

TEST_CASE("one rank: nothing is summed") {
    WB_NEEDS_DEVICES(1);
    grade_all({5, 2, 8, 12}, 1);
    grade_all({1, 1, 1, 1}, 1);
}

TEST_CASE("two ranks") {
    WB_NEEDS_DEVICES(2);
    grade_all({1, 2, 4, 6}, 2);
    grade_all({7, 4, 8, 20}, 2);
}

TEST_CASE("three ranks, and four") {
    WB_NEEDS_DEVICES(4);
    grade_all({3, 3, 2, 9}, 3);
    grade_all({6, 4, 3, 8}, 4);
}

TEST_CASE("more tokens than a tile has rows, more than one head a rank") {
    WB_NEEDS_DEVICES(2);
    grade_all({70, 4, 5, 66}, 2);
    grade_all({34, 2, 17, 6}, 2);
}

TEST_CASE("a token of more than a hundred elements") {
    WB_NEEDS_DEVICES(2);
    grade_all({5, 2, 66, 4}, 2);
}

TEST_CASE("more than a thousand tokens", "[long]") {
    WB_NEEDS_DEVICES(2);
    grade_all({1030, 2, 1, 2}, 2);
}

TEST_CASE("nothing is kept from call to call") {
    WB_NEEDS_DEVICES(2);
    grade_all({6, 4, 5, 12}, 2);
    grade_all({2, 2, 3, 4}, 2);
    grade_all({6, 4, 5, 12}, 2);
}

TEST_CASE("call after call") {
    WB_NEEDS_DEVICES(2);
    grade_all({4, 2, 3, 4}, 2, ", 3 calls", 3);
}

#ifdef SIMT_CPU
TEST_CASE("any order of the streams that the events allow") {
    WB_NEEDS_DEVICES(2);
    const auto seed = GENERATE(range(1u, 9u));
    const StreamOrder order(seed);
    grade_all({9, 2, 4, 6}, 2, ", streams in order " + std::to_string(seed), 2);
}
#endif

TEST_CASE("the call begins after what its stream was given before") {
    WB_NEEDS_DEVICES(2);
    // A copy fills `x`; it is queued just before.
    const auto seed = GENERATE(range(2u, 8u));
    const BlockShape shape = {5, 2, 4, 6};
    const int64_t n = shape.tokens * shape.width();
    const size_t bytes = static_cast<size_t>(n) * sizeof(float);
    const BlockWeights weights = weights_of(shape);
    const auto x = wb::testing::random_normal(n, 1);
    const Approximate expected = reference_block(shape, weights, x, 2);
    for (const auto& [name, idea, function] :
         wb::implementations("multi_gpu", multi_gpu)) {
        Team team(2, n);
        if (name != "multi_gpu_v4") team[0].inboxes = team[1].inboxes = nullptr;
        const ShardedWeights sharded(team, shape, weights);
        const Memory source(x);
        Grader grade(name, "x is filled first, order " + std::to_string(seed));
        float* const all = grade.output<float>("y", {2, n});
        const StreamOrder order(seed);
        grade.run_and_wait([&, function = function](cudaStream_t) {
            std::vector<std::unique_ptr<Memory>> in, out;
            for (int r = 0; r < 2; ++r) {
                CUDA_CHECK(cudaSetDevice(r));
                const std::vector<float> nothing(x.size(), NAN);
                in.push_back(std::make_unique<Memory>(nothing));
                out.push_back(std::make_unique<Memory>(nothing));
            }
            CUDA_CHECK(cudaSetDevice(0));
            team.run([&](Rank& rank, cudaStream_t stream) {
                const auto r = static_cast<size_t>(rank.rank);
                CUDA_CHECK(cudaMemcpyAsync(
                    in[r]->data(), source.data(), bytes, cudaMemcpyDefault, stream));
                function(shape, rank, in[r]->data(), out[r]->data(), stream);
                // And what comes later finds y complete.
                CUDA_CHECK(cudaMemcpyAsync(all + rank.rank * n,
                                           out[r]->data(),
                                           bytes,
                                           cudaMemcpyDefault,
                                           stream));
            });
        });
        std::vector<double> values = expected.value;
        values.insert(values.end(), expected.value.begin(), expected.value.end());
        grade.expect("y", values, [&](int64_t i) {
            return expected.error[static_cast<size_t>(i % n)];
        });
    }
}

TEST_CASE("a block that does not fit into the inboxes goes through NCCL") {
    WB_NEEDS_DEVICES(2);
    const BlockShape shape = {130, 2, 4, 2};  // 1040 floats; the inboxes have 1024
    const auto weights = weights_of(shape);
    Team team(2, 8);
    const ShardedWeights sharded(team, shape, weights);
    const auto x = wb::testing::random_normal(shape.tokens * shape.width(), 1);
    const Memory in(x), out(x);
    CUDA_CHECK(cudaSetDevice(1));
    const Memory in_1(x), out_1(x);
    CUDA_CHECK(cudaSetDevice(0));
    Grader grade("multi_gpu", describe(shape, 2) + ", inboxes of 1024 floats");
    float* const y = grade.output<float>("y", {130, 8});
    grade.run_and_wait([&](cudaStream_t) {
        team.run([&](Rank& rank, cudaStream_t stream) {
            const bool first = rank.rank == 0;
            multi_gpu(shape,
                      rank,
                      (first ? in : in_1).data(),
                      (first ? out : out_1).data(),
                      stream);
        });
        CUDA_CHECK(
            cudaMemcpy(y, out.data(), x.size() * sizeof(float), cudaMemcpyDefault));
    });
    const Approximate expected = reference_block(shape, weights, x, 2);
    grade.expect("y", expected.value, [&](int64_t i) {
        return expected.error[static_cast<size_t>(i)];
    });
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
    refused("no communicator", "comm", {1, 2, 1, 2}, 0, 2);
    refused("w_qkv null", "w_qkv", {1, 2, 1, 2}, 0, 1, [](Rank& rank) {
        rank.w_qkv = nullptr;
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
        multi_gpu({2, 2, 1, 2}, rank, p, p + 1, nullptr);
    });
    expect_refused("multi_gpu", "y null", "y", [&] {
        multi_gpu({2, 2, 1, 2}, rank, p, nullptr, nullptr);
    });
}
