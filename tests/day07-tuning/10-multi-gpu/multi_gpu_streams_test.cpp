// Grades day07-tuning/10-multi-gpu: multi_gpu(), and the order of its streams.
#include "multi_gpu.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#include <wb/testing/simulator.h>

#include "grading.h"
#include "trained_share.h"

using namespace multi_gpu_grading;
using wb::testing::StreamOrder;

TEST_CASE("any order of the streams that the events allow") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    const auto seed = GENERATE(stream_orders(1, 9));
    const StreamOrder order(seed);
    grade_all({9, 2, 4, 6}, 2, ", streams in order " + std::to_string(seed), 2);
}

TEST_CASE("the call begins after what its stream was given before") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    // A copy fills `x`; it is queued just before.
    const auto seed = GENERATE(stream_orders(2, 8));
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
        grade.run_and_wait([&, function = function](cudaStream_t grades) {
            CUDA_CHECK(cudaStreamSynchronize(grades));  // before others write to `all`
            const std::vector<float> nothing(problem.x.size(), NAN);
            const auto in = on_each_rank(2, nothing);
            const auto out = on_each_rank(2, nothing);
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

TEST_CASE("no rank waits for its work, through NCCL or inboxes") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
#ifndef SIMT_CPU
    WB_SKIP("needs the simulator, which says whether a host thread waits");
#else
    const bool has_inboxes = GENERATE(false, true);
    const Problem problem = {{9, 2, 4, 6}, 2};
    Team team(2, has_inboxes ? kPiece : 0);
    const ShardedWeights sharded(team, problem.shape, problem.weights);
    const auto in = on_each_rank(2, problem.x);
    const auto out = on_each_rank(2, problem.x);
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

TEST_CASE("sums and products overlap", "[.][goal]") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    constexpr unsigned kLazy = 2;  // nothing runs while the work is being issued
    const Problem problem = {{16, 2, 4, 6}, 2};
    Team team(2, 0);
    const ShardedWeights sharded(team, problem.shape, problem.weights);
    const auto in = on_each_rank(2, problem.x);
    const auto out = on_each_rank(2, problem.x);
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
