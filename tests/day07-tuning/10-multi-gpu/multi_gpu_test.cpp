// Grades day07-tuning/10-multi-gpu: multi_gpu().
#include "multi_gpu.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cstring>
#include <map>

#include "needs.h"
#include "trained_share.h"

namespace {

using wb::testing::Grader;
using wb::testing::StreamOrder;

/// Normal numbers without outliers: five products in a row would make of one what no
/// error of the others can be seen beside.
std::vector<float> normal(int64_t n, uint64_t seed, double scale = 1) {
    std::vector<float> values(static_cast<size_t>(n));
    wb::testing::Random(seed).normals(values.data(), values.size());
    for (float& value : values)
        value *= static_cast<float>(scale);
    return values;
}

/// Weights that keep a token's size.
BlockWeights weights_of(const BlockShape& shape) {
    const int64_t W = shape.width();
    const int64_t F = shape.hidden;
    const double scale = 1 / std::sqrt(static_cast<double>(W));
    return {normal(W * 3 * W, 2, scale),
            normal(W * W, 3, scale),
            normal(W * F, 4, scale),
            normal(F * W, 5, 1 / std::sqrt(static_cast<double>(F)))};
}

std::string describe(const BlockShape& shape, int ranks) {
    return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
           ", N = " + std::to_string(shape.tokens) +
           ", H = " + std::to_string(shape.heads) +
           ", D = " + std::to_string(shape.head_dim) +
           ", F = " + std::to_string(shape.hidden);
}

using Function = decltype(multi_gpu);

/// What all versions are given, and what they should make of it.
struct Problem {
    BlockShape shape;
    int ranks;
    BlockWeights weights = weights_of(shape);
    /// Empty: each rank's part of `weights`.
    std::function<BlockWeights(const Rank&)> share = {};
    std::vector<float> x = normal(shape.tokens * shape.width(), 1);
    Approximate expected = reference_block(shape, weights, x, ranks);
};

/// Nobody writes to a rank's x and weights.
void only_read(Grader& grade,
               const BlockShape& shape,
               Team& team,
               const std::vector<std::unique_ptr<Memory>>& x) {
    const int64_t W = shape.width();
    for (int r = 0; r < team.size(); ++r) {
        const Rank& rank = team[r];
        const std::string of = " of rank " + std::to_string(r);
        const int64_t own = W / rank.ranks * W;
        const int64_t up = shape.hidden / rank.ranks * W;
        grade.only_read("x" + of, x[static_cast<size_t>(r)]->data(), shape.tokens * W);
        grade.only_read("w_qkv" + of, rank.w_qkv, 3 * own);
        grade.only_read("w_out" + of, rank.w_out, own);
        grade.only_read("w_up" + of, rank.w_up, up);
        grade.only_read("w_down" + of, rank.w_down, up);
    }
}

/// Runs the block on all ranks and compares what each has with the reference.
///
/// @param calls  one after the other, of which the last is compared
void grade_one(const std::string& name,
               Function* function,
               const Problem& problem,
               bool has_inboxes,
               const std::string& more = "",
               int calls = 1) {
    const auto& [shape, ranks, weights, share, x, expected] = problem;
    const int64_t n = shape.tokens * shape.width();
    Team team(ranks, has_inboxes ? n : 0);
    const ShardedWeights sharded =
        share ? ShardedWeights(team, share) : ShardedWeights(team, shape, weights);
    std::vector<std::unique_ptr<Memory>> in, out;
    for (int r = 0; r < ranks; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        in.push_back(std::make_unique<Memory>(x));
        out.push_back(std::make_unique<Memory>(std::vector<float>(x.size(), NAN)));
    }
    CUDA_CHECK(cudaSetDevice(0));
    Grader grade(name, describe(shape, ranks) + more);
    only_read(grade, shape, team, in);
    float* const all =
        grade.output<float>("y", {ranks, shape.tokens, shape.heads, shape.head_dim});
    grade.run_and_wait([&](cudaStream_t grades) {
        team.run([&](Rank& rank, cudaStream_t stream) {
            const auto r = static_cast<size_t>(rank.rank);
            for (int call = 0; call < calls; ++call)
                function(problem.shape, rank, in[r]->data(), out[r]->data(), stream);
        });
        for (size_t r = 0; r < out.size(); ++r)
            CUDA_CHECK(cudaMemcpyAsync(all + static_cast<int64_t>(r) * n,
                                       out[r]->data(),
                                       static_cast<size_t>(n) * sizeof(float),
                                       cudaMemcpyDefault,
                                       grades));
    });
    std::vector<double> values;
    for (int r = 0; r < ranks; ++r)
        values.insert(values.end(), expected.value.begin(), expected.value.end());
    grade.expect("y", values, [&](int64_t i) {
        return problem.expected.error[static_cast<size_t>(i % n)];
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
void grade_all(const Problem& problem, const std::string& more = "", int calls = 1) {
    for (const auto& [name, idea, function] :
         wb::implementations("multi_gpu", multi_gpu)) {
        const bool contract = name == "multi_gpu";
        const bool one_shot = name == "multi_gpu_v4";
        if (!one_shot)
            grade_one(name, function, problem, false, more + ", NCCL", calls);
        if (one_shot || contract)
            grade_one(name, function, problem, true, more + ", inboxes", calls);
    }
}

void grade_all(const BlockShape& shape,
               int ranks,
               const std::string& more = "",
               int calls = 1) {
    grade_all(Problem{shape, ranks}, more, calls);
}

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
    grade_all({5, 2, 66, 4}, 2);
    grade_all({2, 1, 128, 2}, 1);
}

TEST_CASE("more than a thousand tokens", "[long]") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    grade_all({1366, 2, 1, 2}, 2);  // the last of four chunks begins behind 1024
}

TEST_CASE("weights of a trained model: each rank reads its share") {
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

TEST_CASE("any order of the streams that the events allow") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    const auto seed = GENERATE(range(1u, 9u));
    const StreamOrder order(seed);
    grade_all({9, 2, 4, 6}, 2, ", streams in order " + std::to_string(seed), 2);
}

TEST_CASE("the call begins after what its stream was given before") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    // A copy fills `x`; it is queued just before.
    const auto seed = GENERATE(range(2u, 8u));
    const Problem problem = {{5, 2, 4, 6}, 2};
    const auto& [shape, ranks, weights, share, x, expected] = problem;
    const int64_t n = shape.tokens * shape.width();
    const size_t bytes = static_cast<size_t>(n) * sizeof(float);
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
                const std::vector<float> nothing(problem.x.size(), NAN);
                in.push_back(std::make_unique<Memory>(nothing));
                out.push_back(std::make_unique<Memory>(nothing));
            }
            CUDA_CHECK(cudaSetDevice(0));
            team.run([&](Rank& rank, cudaStream_t stream) {
                const auto r = static_cast<size_t>(rank.rank);
                CUDA_CHECK(cudaMemcpyAsync(
                    in[r]->data(), source.data(), bytes, cudaMemcpyDefault, stream));
                function(problem.shape, rank, in[r]->data(), out[r]->data(), stream);
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
            return problem.expected.error[static_cast<size_t>(i % n)];
        });
    }
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
    std::vector<std::unique_ptr<Memory>> in, out;
    for (int r = 0; r < 2; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        in.push_back(std::make_unique<Memory>(problem.x));
        out.push_back(std::make_unique<Memory>(problem.x));
    }
    CUDA_CHECK(cudaSetDevice(0));
    Grader grade("multi_gpu",
                 describe(problem.shape, 2) + ", inboxes of " +
                     std::to_string(capacity) + " floats");
    float* const y = grade.output<float>("y", {tokens, 2 * head_dim});
    grade.run_and_wait([&](cudaStream_t) {
        team.run([&](Rank& rank, cudaStream_t stream) {
            const auto r = static_cast<size_t>(rank.rank);
            multi_gpu(problem.shape, rank, in[r]->data(), out[r]->data(), stream);
        });
        CUDA_CHECK(cudaMemcpy(y, out[0]->data(), bytes, cudaMemcpyDefault));
    });
    grade.expect("y", problem.expected.value, [&](int64_t i) {
        return problem.expected.error[static_cast<size_t>(i)];
    });
    expect_inboxes_used(team, fits);
}

TEST_CASE("no rank waits for its work, through NCCL or inboxes") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
#ifndef SIMT_CPU
    WB_SKIP("needs the simulator, which says whether a host thread waits");
#else
    const bool has_inboxes = GENERATE(false, true);
    const Problem problem = {{9, 2, 4, 6}, 2};
    Team team(2, has_inboxes ? kPiece : 0);
    const ShardedWeights sharded(team, problem.shape, problem.weights);
    std::vector<std::unique_ptr<Memory>> in, out;
    for (int r = 0; r < 2; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        in.push_back(std::make_unique<Memory>(problem.x));
        out.push_back(std::make_unique<Memory>(problem.x));
    }
    CUDA_CHECK(cudaSetDevice(0));
    expect_no_wait("multi_gpu",
                   describe(problem.shape, 2) + (has_inboxes ? ", inboxes" : ", NCCL"),
                   team,
                   [&](Rank& rank, cudaStream_t stream) {
                       const auto r = static_cast<size_t>(rank.rank);
                       multi_gpu(
                           problem.shape, rank, in[r]->data(), out[r]->data(), stream);
                   });
#endif
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

TEST_CASE("sums and products overlap", "[.][goal]") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    constexpr unsigned kLazy = 2;  // nothing runs while the work is being issued
    const Problem problem = {{16, 2, 4, 6}, 2};
    Team team(2, 0);
    const ShardedWeights sharded(team, problem.shape, problem.weights);
    std::vector<std::unique_ptr<Memory>> in, out;
    for (int r = 0; r < 2; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        in.push_back(std::make_unique<Memory>(problem.x));
        out.push_back(std::make_unique<Memory>(problem.x));
    }
    CUDA_CHECK(cudaSetDevice(0));
    const wb::testing::Goal goal("multi_gpu");
    const StreamOrder order(kLazy);
    team.run([&](Rank& rank, cudaStream_t stream) {
        const auto r = static_cast<size_t>(rank.rank);
        multi_gpu(problem.shape, rank, in[r]->data(), out[r]->data(), stream);
    });
    // If only the sums of h overlap, or those of y, it is more than that.
    const unsigned all = StreamOrder::chain_links() / 2;
    const unsigned chain = StreamOrder::longest_chain();
    goal.require(chain <= all * 4 / 5,
                 "of a rank's " + std::to_string(all) + " kernels and sums, " +
                     std::to_string(chain) + " must run one after the other; " +
                     std::to_string(all * 4 / 5) + " would do: are the sums on a " +
                     "stream of their own, while the next tokens are multiplied?");
}
