// Grades day07-tuning/10-multi-gpu: what becomes of a rank whose peers do something
// else. An error in words, soon; never a hang.
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/simulator.h>

#include <atomic>
#include <chrono>

#include "multi_gpu.h"
#include "needs.h"

#ifdef SIMT_CPU
#include "simt/nccl_limit.h"
#endif

namespace {

using wb::testing::WantedFindings;

/// While it lives, the simulator gives a rank that does not come one second.
struct ShortLimit {
#ifdef SIMT_CPU
    ShortLimit() {
        simt::set_nccl_limit(1);
    }
    ~ShortLimit() {
        simt::set_nccl_limit(kSimulatorsLimit);
    }
#endif
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    }
};

constexpr BlockShape kShape = {4, 2, 4, 6};
constexpr int kFew = 20;

/// Both ranks do their work. Fails unless the team ends with an NcclError in time, that
/// says `words` (in the simulator: NCCL's own words differ).
void expect_error(
    const std::string& what,
    [[maybe_unused]] const std::string& words,
    bool has_inboxes,
    const std::function<void(Rank&, float*, float*, cudaStream_t)>& work) {
    if (has_inboxes)
        WB_NEEDS_A_SHARED_DEVICE(2);
    else
        WB_NEEDS_DEVICES(2, ask_multi_gpu);
    const WantedFindings wanted;
    const ShortLimit limit;
    const std::vector<float> values(512, 0.25f);
    std::string said;
    bool threw = false;
    bool is_nan = true;
    {
        Team team(2, has_inboxes ? 512 : 0, has_inboxes);
        std::vector<std::unique_ptr<Memory>> memory;
        for (int r = 0; r < 2; ++r) {
            CUDA_CHECK(cudaSetDevice(team.device(r)));
            for (int i = 0; i < 3; ++i)
                memory.push_back(std::make_unique<Memory>(values));
            Rank& rank = team[r];
            rank.w_qkv = rank.w_out = rank.w_up = rank.w_down =
                memory[static_cast<size_t>(3 * r)]->data();
        }
        CUDA_CHECK(cudaSetDevice(0));
        try {
            team.run(
                [&](Rank& rank, cudaStream_t stream) {
                    const auto first = static_cast<size_t>(3 * rank.rank);
                    work(rank,
                         memory[first + 1]->data(),
                         memory[first + 2]->data(),
                         stream);
                },
                6.0);
        } catch (const wb::NotSolved& unsolved) {
            wb::testing::fail(unsolved);
        } catch (const wb::NcclError& error) {
            threw = true;
            said = error.what();
        }
        if (has_inboxes) {
            CUDA_CHECK(cudaDeviceSynchronize());
            const std::vector<float> x = memory[1]->get();
            is_nan = std::all_of(x.begin(), x.begin() + kFew, [](float value) {
                return std::isnan(value);
            });
        }
    }
    wb::testing::Finding finding{wb::testing::Kind::contract};
    finding.implementation = "multi_gpu";
    finding.inputs = what;
    if (!threw)
        finding.what = "no error came, though the ranks do not agree";
    else if (limit.seconds() > 10)
        finding.what = "the error came after more than 10 seconds";
#ifdef SIMT_CPU
    else if (said.find(words) == said.npos)
        finding.what = "the error does not say '" + words + "': " + said;
#endif
    if (finding.what.empty() && !is_nan)
        finding.what = "x has numbers, though what should be added never came";
    if (!finding.what.empty()) wb::testing::fail(std::move(finding));
}

}  // namespace

TEST_CASE("fault: a rank that ends early is missed, and named", "[fault]") {
    expect_error("rank 1 never calls",
                 "rank 1 has not called it",
                 false,
                 [](Rank& rank, float* x, float* y, cudaStream_t stream) {
                     if (rank.rank == 0) multi_gpu(kShape, rank, x, y, stream);
                 });
    // Nor can there be more ranks than devices.
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
    const WantedFindings wanted;
    CHECK_THROWS_AS(Team(available_devices() + 1, 0), wb::NcclError);
}

TEST_CASE("fault: one shot, and a peer that does not come", "[fault]") {
    expect_error("one shot: rank 1 never calls",
                 "rank 1 has not called it",
                 true,
                 [](Rank& rank, float* x, float*, cudaStream_t stream) {
                     if (rank.rank == 0) one_shot_all_reduce(rank, x, kFew, stream);
                 });
}

TEST_CASE("fault: ranks that disagree about the tokens", "[fault]") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
#ifndef SIMT_CPU
    WB_SKIP("needs the simulator: on GPUs NCCL is silent, and they hang or err");
#endif
    // Rank 0 comes first, so that the words do not depend on chance.
    std::atomic<bool> is_queued = false;
    expect_error("rank 1 has one token more",
                 "elements, and rank",
                 false,
                 [&](Rank& rank, float* x, float* y, cudaStream_t stream) {
                     for (int ms = 0; rank.rank == 1 && !is_queued && ms < 1000; ++ms)
                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     BlockShape shape = kShape;
                     shape.tokens += rank.rank;
                     multi_gpu(shape, rank, x, y, stream);
                     is_queued = true;
                 });
}

TEST_CASE("fault: ranks that make different calls", "[fault]") {
    WB_NEEDS_DEVICES(2, ask_multi_gpu);
#ifndef SIMT_CPU
    WB_SKIP("needs the simulator: on GPUs NCCL is silent, and they hang or err");
#endif
    expect_error(
        "rank 1 gathers something before",
        "different orders",
        false,
        [](Rank& rank, float* x, float* y, cudaStream_t stream) {
            if (rank.rank == 1)
                NCCL_CHECK(ncclBroadcast(x, x, 4, ncclFloat, 1, rank.comm, stream));
            multi_gpu(kShape, rank, x, y, stream);
        });
}
