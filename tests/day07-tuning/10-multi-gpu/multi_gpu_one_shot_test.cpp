// Grades day07-tuning/10-multi-gpu: one_shot_all_reduce().
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <atomic>
#include <functional>
#include <limits>

#include "multi_gpu.h"
#include "needs.h"

namespace {

using wb::testing::Grader;
using wb::testing::StreamOrder;

/// The sum over ranks, `calls` times one after the other on the same x: the first sum
/// is what all ranks add the second time.
///
/// @param change  may alter what the ranks begin with
void grade_sum(
    int ranks,
    int64_t n,
    int calls = 1,
    unsigned seed = 0,
    const std::function<void(std::vector<std::vector<float>>&)>& change = {}) {
    WB_NEEDS_A_SHARED_DEVICE(ranks);
    Team team(ranks, n, true);
    const StreamOrder order(seed);
    std::vector<std::vector<float>> x;
    std::vector<std::unique_ptr<Memory>> memory;
    for (int r = 0; r < ranks; ++r) {
        CUDA_CHECK(cudaSetDevice(team.device(r)));
        x.push_back(wb::testing::random_normal(n, static_cast<unsigned>(r + 1)));
        memory.push_back(std::make_unique<Memory>(x.back()));
    }
    if (change) change(x);
    CUDA_CHECK(cudaSetDevice(0));
    Grader grade("one_shot_all_reduce",
                 std::to_string(ranks) + " ranks, n = " + std::to_string(n) + ", " +
                     std::to_string(calls) + (calls == 1 ? " call" : " calls") +
                     (seed ? ", streams in order " + std::to_string(seed) : ""));
    float* const all = grade.output<float>("x", {ranks, n});
    grade.run_and_wait([&](cudaStream_t grades) {
        for (int r = 0; r < ranks; ++r)
            memory[static_cast<size_t>(r)]->set(x[static_cast<size_t>(r)]);
        team.run([&](Rank& rank, cudaStream_t stream) {
            float* const mine = memory[static_cast<size_t>(rank.rank)]->data();
            for (int call = 0; call < calls; ++call)
                one_shot_all_reduce(rank, mine, n, stream);
        });
        for (int r = 0; r < ranks; ++r)
            CUDA_CHECK(cudaMemcpyAsync(all + r * n,
                                       memory[static_cast<size_t>(r)]->data(),
                                       static_cast<size_t>(n) * sizeof(float),
                                       cudaMemcpyDefault,
                                       grades));
    });
    // In float, in the order of the ranks: not one bit is left open.
    std::vector<float> sum(static_cast<size_t>(n));
    for (int call = 0; call < calls; ++call) {
        const std::vector<float> before = sum;
        for (size_t i = 0; i < sum.size(); ++i) {
            sum[i] = 0;
            for (const auto& one : x)
                sum[i] += call == 0 ? one[i] : before[i];
        }
    }
    std::vector<double> expected;
    for (int r = 0; r < ranks; ++r)
        expected.insert(expected.end(), sum.begin(), sum.end());
    grade.expect("x", expected, [](int64_t) { return 0.0; });
}

/// A peer that the test plays: a host thread, through pinned memory. Rank 0 of two is
/// on the GPU.
class PlayedPeer {
 public:
    /// @param ranks  in all; the peer is one of those behind rank 0
    explicit PlayedPeer(int64_t n, int ranks = 2) : n_(n), ranks_(ranks) {
        const int64_t pieces = wb::ceil_div(n, int64_t{kPiece});
        inboxes_.capacity = pieces * kPiece;
        for (int r = 0; r < ranks; ++r) {
            const auto count = static_cast<size_t>(2 * ranks * inboxes_.capacity);
            const auto flags = static_cast<size_t>(2 * ranks * pieces);
            CUDA_CHECK(cudaMallocHost(&inboxes_.data[r], count * sizeof(float)));
            CUDA_CHECK(cudaMallocHost(&inboxes_.flags[r], flags * sizeof(unsigned)));
            std::fill_n(inboxes_.data[r], count, NAN);
            std::fill_n(inboxes_.flags[r], flags, 0u);
        }
        CUDA_CHECK(cudaMallocHost(&inboxes_.lost, sizeof(int)));
        *inboxes_.lost = 0;
    }
    ~PlayedPeer() {
        for (int r = 0; r < ranks_; ++r) {
            (void)cudaFreeHost(inboxes_.data[r]);
            (void)cudaFreeHost(inboxes_.flags[r]);
        }
        (void)cudaFreeHost(inboxes_.lost);
    }
    PlayedPeer(const PlayedPeer&) = delete;
    PlayedPeer& operator=(const PlayedPeer&) = delete;

    Inboxes* inboxes() { return &inboxes_; }

    /// A rank has written all of its message, and sets the flag of one piece alone.
    void send_piece(int sender,
                    unsigned call,
                    int64_t piece,
                    const std::vector<float>& mine) {
        const int64_t pieces = inboxes_.capacity / kPiece;
        const int64_t slot = int64_t{call % 2} * ranks_ + sender;
        std::copy(
            mine.begin(), mine.end(), inboxes_.data[0] + slot * inboxes_.capacity);
        std::atomic_ref<unsigned>(inboxes_.flags[0][slot * pieces + piece])
            .store(call, std::memory_order_release);
    }

    /// Rank 1's side of a call: waits for what rank 0 sends, looks whether it is there,
    /// and only then sends `mine`, piece by piece. The first one comes first in odd
    /// calls, the last one in even ones.
    /// @returns  how many elements were not there when their flag was
    int64_t answer(unsigned call,
                   const std::vector<float>& theirs,
                   const std::vector<float>& mine) {
        const int64_t pieces = inboxes_.capacity / kPiece;
        const float* const got =
            inboxes_.data[1] + (call % 2) * 2 * inboxes_.capacity;  // of sender 0
        float* const to =
            inboxes_.data[0] + ((call % 2) * 2 + 1) * inboxes_.capacity;  // sender 1
        int64_t missing = 0;
        for (int64_t turn = 0; turn < pieces && !stop; ++turn) {
            const int64_t piece = call % 2 ? turn : pieces - 1 - turn;
            std::atomic_ref<unsigned> flag(
                inboxes_.flags[1][(call % 2) * 2 * pieces + piece]);
            while (flag.load(std::memory_order_acquire) != call && !stop)
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            // Time for a kernel that does not wait for this piece.
            if (turn > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            const int64_t end = std::min(n_, (piece + 1) * kPiece);
            for (int64_t i = piece * kPiece; i < end; ++i) {
                missing += got[i] != theirs[static_cast<size_t>(i)];
                to[i] = mine[static_cast<size_t>(i)];
            }
            std::atomic_ref<unsigned>(
                inboxes_.flags[0][((call % 2) * 2 + 1) * pieces + piece])
                .store(call, std::memory_order_release);
        }
        answered = true;
        return missing;
    }

    void begin() { answered = stop = false; }
    /// The GPU has done its work: what it has sent is there by now, or never.
    /// @returns  whether all has been answered
    bool end(int milliseconds) {
        for (int ms = 0; ms < milliseconds && !answered; ++ms)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stop = true;
        return answered;
    }

 private:
    std::atomic<bool> stop = false;
    std::atomic<bool> answered = false;
    int64_t n_;
    int ranks_;
    Inboxes inboxes_;
};

}  // namespace

TEST_CASE("one shot: two ranks") {
    grade_sum(2, GENERATE(as<int64_t>(), 1, 33, 1024));
}

TEST_CASE("one shot: more than one piece, and more ranks") {
    grade_sum(GENERATE(2, 3, 4), GENERATE(as<int64_t>(), 1025, 2100));
}

TEST_CASE("one shot: more pieces than a byte counts") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    grade_sum(2, 260 * kPiece + 5);
}

TEST_CASE("one shot: as many ranks as there can be") {
    grade_sum(GENERATE(5, 8), 1030);
}

TEST_CASE("one shot: NaN, infinity, huge and tiny numbers are summands, too") {
    grade_sum(3, 40, 1, 0, [](auto& x) {
        x[1][3] = x[0][4] = NAN;
        x[2][5] = INFINITY;
        x[0][6] = INFINITY;
        x[1][6] = -INFINITY;
        for (size_t i = 7; i < 20; ++i) {
            x[0][i] = 0x1.8p+127f;
            x[1][i] = -0x1.8p+127f;
            x[2][i] *= 0x1p-130f;
        }
    });
}

TEST_CASE("one shot: calls of other sizes in turn") {
    WB_NEEDS_DEVICES(3, ask_one_shot);
    const std::vector<int64_t> sizes = {2100, 7, 1030, 2050, 1, 2100};
    const unsigned seed = GENERATE(stream_orders(0, 6));
    const StreamOrder order(seed);
    Team team(3, 2100);
    std::vector<std::vector<float>> x;  // [sizes, ranks]
    std::vector<std::unique_ptr<Memory>> memory;
    for (size_t i = 0; i < sizes.size(); ++i)
        for (int r = 0; r < 3; ++r) {
            CUDA_CHECK(cudaSetDevice(r));
            x.push_back(wb::testing::random_normal(sizes[i], x.size() + 1));
            // What is 0 must be sent, too: other numbers were there two calls ago.
            if (i == 2) std::fill(x.back().begin(), x.back().begin() + 90, 0.0f);
            memory.push_back(std::make_unique<Memory>(x.back()));
        }
    CUDA_CHECK(cudaSetDevice(0));
    Grader grade("one_shot_all_reduce",
                 "3 ranks, n = 2100, 7, 1030, 2050, 1, 2100, streams in order " +
                     std::to_string(seed));
    const int64_t all = 2100 + 7 + 1030 + 2050 + 1 + 2100;
    float* const out = grade.output<float>("x", {3, all});
    grade.run_and_wait([&](cudaStream_t grades) {
        for (size_t i = 0; i < x.size(); ++i)
            memory[i]->set(x[i]);
        team.run([&](Rank& rank, cudaStream_t stream) {
            for (size_t i = 0; i < sizes.size(); ++i)
                one_shot_all_reduce(
                    rank,
                    memory[3 * i + static_cast<size_t>(rank.rank)]->data(),
                    sizes[i],
                    stream);
        });
        float* to = out;
        for (size_t r = 0; r < 3; ++r)
            for (size_t i = 0; i < sizes.size(); to += sizes[i], ++i)
                CUDA_CHECK(
                    cudaMemcpyAsync(to,
                                    memory[3 * i + r]->data(),
                                    static_cast<size_t>(sizes[i]) * sizeof(float),
                                    cudaMemcpyDefault,
                                    grades));
    });
    std::vector<double> expected;
    for (size_t r = 0; r < 3; ++r)
        for (size_t i = 0; i < sizes.size(); ++i)
            for (size_t e = 0; e < x[3 * i].size(); ++e)
                expected.push_back(0.0f + x[3 * i][e] + x[3 * i + 1][e] +
                                   x[3 * i + 2][e]);
    grade.expect("x", expected, [](int64_t) { return 0.0; });
}

TEST_CASE("one shot: call after call, as the streams have it") {
    grade_sum(2, 7, 5, GENERATE(stream_orders(0, 13)));
    grade_sum(3, 1030, 3, GENERATE(2u, 3u));
}

TEST_CASE("one shot: no rank waits for its work") {
    WB_NEEDS_DEVICES(2, ask_one_shot);
#ifndef SIMT_CPU
    WB_SKIP("needs the simulator, which says whether a host thread waits");
#else
    constexpr int64_t kN = 1030;
    Team team(2, kN);
    const auto values = wb::testing::random_normal(kN, 1);
    std::vector<std::unique_ptr<Memory>> memory;
    for (int r = 0; r < 2; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        memory.push_back(std::make_unique<Memory>(values));
    }
    CUDA_CHECK(cudaSetDevice(0));
    expect_no_wait("one_shot_all_reduce",
                   "2 ranks, n = 1030",
                   team,
                   [&](Rank& rank, cudaStream_t stream) {
                       float* const x = memory[static_cast<size_t>(rank.rank)]->data();
                       one_shot_all_reduce(rank, x, kN, stream);
                   });
#endif
}

TEST_CASE("one shot: sums begin when the flags have come, not before") {
    // Of rank 1, which is a host thread here, nothing is in the inbox at first. What
    // was there two calls ago is.
    constexpr int64_t kN = 2 * kPiece + 77;
    constexpr int kCalls = 5;
    PlayedPeer peer(kN);
    Rank rank;
    rank.ranks = 2;
    rank.inboxes = peer.inboxes();
    // Behind the largest number comes 0: a day of calls, and no order among numbers.
    rank.inboxes->calls = GENERATE(0u, std::numeric_limits<unsigned>::max() - 3);
    for (int call = 1; call <= kCalls; ++call) {
        const auto theirs =
            wb::testing::random_normal(kN, static_cast<unsigned>(2 * call));
        const auto mine =
            wb::testing::random_normal(kN, static_cast<unsigned>(2 * call + 1));
        const Memory x(theirs);
        Grader grade("one_shot_all_reduce",
                     "n = " + std::to_string(kN) + ", call " + std::to_string(call));
        float* const out = grade.output<float>("x", {kN});
        int64_t missing = 0;
        bool late = false;
        grade.run_and_wait([&](cudaStream_t stream) {
            x.set(theirs);
            peer.begin();
            const unsigned number = rank.inboxes->calls + 1;
            std::thread other([&] { missing = peer.answer(number, theirs, mine); });
            std::exception_ptr thrown;
            try {
                one_shot_all_reduce(rank, x.data(), kN, stream);
                CUDA_CHECK(cudaMemcpyAsync(
                    out, x.data(), kN * sizeof(float), cudaMemcpyDefault, stream));
                CUDA_CHECK(cudaStreamSynchronize(stream));
            } catch (...) {
                thrown = std::current_exception();
            }
            late |= !peer.end(thrown || late ? 0 : 2000);
            other.join();
            if (thrown) std::rethrow_exception(thrown);
            late |= rank.inboxes->calls != number;
        });
        std::vector<double> sum;
        for (size_t i = 0; i < theirs.size(); ++i)
            sum.push_back(theirs[i] + mine[i]);
        grade.expect("x", sum, [](int64_t) { return 0.0; });
        if (missing == 0 && !late) continue;
        wb::testing::Finding finding{wb::testing::Kind::contract};
        finding.implementation = "one_shot_all_reduce";
        finding.inputs = "n = " + std::to_string(kN) + ", call " + std::to_string(call);
        finding.what =
            late ? "a peer has waited in vain for a flag with the number of the call"
                 : std::to_string(missing) +
                       " elements were not in the peer's inbox when their flag was";
        wb::testing::fail(std::move(finding));
    }
}

/// All pieces come, but for the last one of rank `absent`.
static void grade_lost_piece(int ranks, int absent, int64_t n) {
    PlayedPeer peer(n, ranks);
    Rank rank;
    rank.ranks = ranks;
    rank.inboxes = peer.inboxes();
    const auto theirs = wb::testing::random_normal(n, 1);
    const auto mine = wb::testing::random_normal(n, 2);
    const int64_t last = wb::ceil_div(n, int64_t{kPiece}) - 1;
    for (int sender = 1; sender < ranks; ++sender)
        for (int64_t piece = 0; piece <= last; ++piece)
            if (piece < last || sender != absent)
                peer.send_piece(sender, 1, piece, mine);
    const Memory x(theirs);
    std::string said;
    wb::testing::result_of([&] {
        one_shot_all_reduce(rank, x.data(), n, nullptr);
        return true;
    });
    try {
        finish(rank, nullptr, 20.0);
    } catch (const wb::NcclError& error) {
        said = error.what();
    }
    const std::vector<float> sum = x.get();
    int64_t wrong = 0;
    for (size_t i = 0; i < sum.size(); ++i) {
        float expected = theirs[i];
        for (int sender = 1; sender < ranks; ++sender)
            expected += mine[i];
        wrong += i < static_cast<size_t>(last * kPiece) ? sum[i] != expected
                                                        : !std::isnan(sum[i]);
    }
    wb::testing::Finding finding{wb::testing::Kind::contract};
    finding.implementation = "one_shot_all_reduce";
    finding.inputs = std::to_string(ranks) + " ranks, n = " + std::to_string(n) +
                     ", a piece of rank " + std::to_string(absent) + " never comes";
    if (said.find("no message has come from rank " + std::to_string(absent)) ==
        said.npos)
        finding.what = "*inboxes.lost does not name the rank that has not answered";
    else if (wrong != 0)
        finding.what = std::to_string(wrong) +
                       " elements of x are neither the sum, "
                       "where it came, nor else NaN";
    if (!finding.what.empty()) wb::testing::fail(std::move(finding));
}

TEST_CASE("one shot: a piece that does not come is NaN, and its sender is named") {
    grade_lost_piece(kMaxRanks, GENERATE(2, kMaxRanks - 1), kPiece + 5);
}

TEST_CASE("one shot: the last of many pieces does not come") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    grade_lost_piece(2, 1, 260 * kPiece + 5);
}

TEST_CASE("one shot: more than 2^31 elements", "[large][serial]") {
    WB_NEEDS_DEVICES(2, ask_one_shot);
#ifdef SIMT_CPU
    WB_SKIP("43 GB on each of two devices are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 77;
    for (int r = 0; r < 2; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        size_t free_bytes = 0;
        size_t total_bytes = 0;
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (free_bytes < size_t{45} << 30)
            WB_SKIP("needs 45 GB of free memory on each of two GPUs");
    }
    CUDA_CHECK(cudaSetDevice(0));
    Team team(2, kN);
    std::vector<std::unique_ptr<Zeros>> memory;
    for (int r = 0; r < 2; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        memory.push_back(std::make_unique<Zeros>(kN));
        for (const int64_t i : {int64_t{0}, kN - 78, kN - 77, kN - 1})
            memory.back()->set(i, static_cast<float>(i % 1000 + r));
    }
    CUDA_CHECK(cudaSetDevice(0));
    team.run([&](Rank& rank, cudaStream_t stream) {
        const auto r = static_cast<size_t>(rank.rank);
        one_shot_all_reduce(rank, memory[r]->data(), kN, stream);
    });
    for (int r = 0; r < 2; ++r)
        for (const int64_t i : {int64_t{0}, kN - 78, kN - 77, kN - 1})
            CHECK(memory[static_cast<size_t>(r)]->get(i) ==
                  static_cast<float>(2 * (i % 1000) + 1));
#endif
}

TEST_CASE("one shot: nothing to add") {
    Grader("one_shot_all_reduce", "n = 0").expect_no_work([](cudaStream_t stream) {
        one_shot_all_reduce({}, nullptr, 0, stream);
    });
    Grader("one_shot_all_reduce", "n = 0, two ranks")
        .expect_no_work([](cudaStream_t stream) {
            Inboxes inboxes;
            Rank rank;
            rank.ranks = 2;
            rank.inboxes = &inboxes;
            one_shot_all_reduce(rank, nullptr, 0, stream);
            CHECK(inboxes.calls == 0);
        });
    const std::vector<float> values = wb::testing::random_normal(5, 1);
    const Memory x(values);
    wb::testing::result_of([&] {
        one_shot_all_reduce({}, x.data(), 5, nullptr);  // one rank
        return true;
    });
    CHECK(x.get() == values);
}

TEST_CASE("one shot: wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    const Memory memory(std::vector<float>(64));
    Inboxes inboxes;
    inboxes.capacity = kPiece;
    const auto refused = [&](const char* what,
                             const char* part,
                             int r,
                             int ranks,
                             const float* x,
                             int64_t n,
                             Inboxes* boxes) {
        Rank rank;
        rank.rank = r;
        rank.ranks = ranks;
        rank.inboxes = boxes;
        expect_refused("one_shot_all_reduce", what, part, [&] {
            one_shot_all_reduce(rank, const_cast<float*>(x), n, nullptr);
        });
    };
    float* const p = memory.data();
    refused("n = -1", "n is -1", 0, 2, p, -1, &inboxes);
    refused("no ranks", "ranks is 0", 0, 0, p, 8, &inboxes);
    refused("nine ranks", "ranks is 9", 0, 9, p, 8, &inboxes);
    refused("rank 2 of 2", "rank is 2", 2, 2, p, 8, &inboxes);
    refused("rank -1", "rank is -1", -1, 2, p, 8, &inboxes);
    refused("x null", "x", 0, 2, nullptr, 8, &inboxes);
    refused("no inboxes", "inboxes is 0", 0, 2, p, 8, nullptr);
    refused("eight ranks, no inboxes", "inboxes is 0", 0, 8, p, 8, nullptr);
    inboxes.capacity = 32;
    refused("n = 33, inboxes of 32", "n is 33", 0, 2, p, 33, &inboxes);
}
