// What the ranks of multi_gpu() are given, and whether all of them have the right y.
#pragma once

#include "multi_gpu.h"

#include <wb/implementations.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "block_reference.h"
#include "needs.h"

namespace multi_gpu_grading {

using wb::testing::Grader;

/// Normal numbers without outliers: five products in a row would make of one what no
/// error of the others can be seen beside.
inline std::vector<float> normal(int64_t n, uint64_t seed, double scale = 1) {
    std::vector<float> values(static_cast<size_t>(n));
    wb::testing::Random(seed).normals(values.data(), values.size());
    for (float& value : values)
        value *= static_cast<float>(scale);
    return values;
}

/// Weights that keep a token's size.
inline BlockWeights weights_of(const BlockShape& shape) {
    const int64_t W = shape.width();
    const int64_t F = shape.hidden;
    const double scale = 1 / std::sqrt(static_cast<double>(W));
    return {normal(W * 3 * W, 2, scale),
            normal(W * W, 3, scale),
            normal(W * F, 4, scale),
            normal(F * W, 5, 1 / std::sqrt(static_cast<double>(F)))};
}

inline std::string describe(const BlockShape& shape, int ranks) {
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

/// The same values in the memory of each rank.
using OfRanks = std::vector<std::unique_ptr<Memory>>;

inline OfRanks on_each_rank(int ranks, const std::vector<float>& values) {
    OfRanks memory;
    for (int r = 0; r < ranks; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        memory.push_back(std::make_unique<Memory>(values));
    }
    CUDA_CHECK(cudaSetDevice(0));
    return memory;
}

/// Nobody writes to a rank's x and weights.
inline void only_read(Grader& grade,
                      const BlockShape& shape,
                      Team& team,
                      const OfRanks& x) {
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
inline void grade_one(const std::string& name,
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
    const auto in = on_each_rank(ranks, x);
    const auto out = on_each_rank(ranks, std::vector<float>(x.size(), NAN));
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
inline void grade_all(const Problem& problem,
                      const std::string& more = "",
                      int calls = 1) {
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

inline void grade_all(const BlockShape& shape,
                      int ranks,
                      const std::string& more = "",
                      int calls = 1) {
    grade_all(Problem{shape, ranks}, more, calls);
}

}  // namespace multi_gpu_grading
