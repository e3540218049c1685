// Grades day07-tuning/10-multi-gpu: in which order push_kernel sends data and flag.
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <bit>
#include <string>
#include <vector>

#include "multi_gpu.h"
#include "needs.h"

TEST_CASE("one shot: the flag of a piece comes behind all of its data") {
    // The peer's flag lies in x: set too early, it is sent for the element before it is
    // that element's turn.
    constexpr int64_t kN = kPiece;
    constexpr int64_t kBefore = 65;  // elements in front of x, which begins anywhere
    constexpr int64_t kFlag = 2;     // of rank 0 in call 1, of two ranks and one piece
    const auto theirs = wb::testing::random_normal(kN, 1);
    std::vector<float> all(kBefore, 0.0f);
    all.insert(all.end(), theirs.begin(), theirs.end());
    for (const int64_t place : {int64_t{0}, kN / 2, kN - 1}) {
        Memory x(all);
        Memory own(std::vector<float>(4 * kPiece, 0.0f));
        Memory sent(std::vector<float>(4 * kPiece, 0.0f));
        Memory flags(std::vector<float>(4, std::bit_cast<float>(1u)));  // all have come
        Memory lost(std::vector<float>(1, 0.0f));
        const auto word = [](float* p) { return reinterpret_cast<unsigned*>(p); };
        Inboxes inboxes;
        inboxes.data[0] = own.data();
        inboxes.data[1] = sent.data();
        inboxes.flags[0] = word(flags.data());
        inboxes.flags[1] = word(x.data() + kBefore + place) - kFlag;
        inboxes.capacity = kPiece;
        inboxes.lost = reinterpret_cast<int*>(lost.data());
        Rank rank;
        rank.ranks = 2;
        rank.inboxes = &inboxes;
        wb::testing::Grader grade("one_shot_all_reduce",
                                  "2 ranks, n = " + std::to_string(kN) +
                                      ", the peer's flag lies in x[" +
                                      std::to_string(place) + "]");
        float* const out = grade.output<float>("sent", {kN});
        grade.run_and_wait([&](cudaStream_t stream) {
            x.set(all);
            inboxes.calls = 0;
            one_shot_all_reduce(rank, x.data() + kBefore, kN, stream);
            CUDA_CHECK(cudaMemcpyAsync(out,
                                       sent.data() + kFlag * kPiece,
                                       kN * sizeof(float),
                                       cudaMemcpyDefault,
                                       stream));
        });
        grade.expect("sent",
                     std::vector<double>(theirs.begin(), theirs.end()),
                     [](int64_t) { return 0.0; });
    }
}
