// Tests wb/hopper_gemm/plan.h: the order of tiles, parts of K, and the choice of both.
#include <wb/hopper_gemm/plan.h>
#include <wb/testing/catch.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

using namespace wb::hopper_gemm;

namespace {

constexpr int64_t kLargest = int64_t{1} << 30;  // of M, N and K, in wb/gemm.h

/// 128 x 256 in clusters of two, and 64 x 128 alone; times as chapter 04 has them.
constexpr Candidate kLarge = {.tiling = {.cluster_rows = 2},
                              .band = 8,
                              .step_ns = 640,
                              .tile_ns = 2200,
                              .most_parts = 16};
constexpr Candidate kTiny = {.tiling = {.block_rows = 64, .block_columns = 128},
                             .band = 16,
                             .step_ns = 340,
                             .tile_ns = 0,
                             .most_parts = 16};

/// Rounds of clusters, counted one after the other: each takes the next work.
int64_t counted_rounds(int64_t work, int64_t room) {
    int64_t rounds = 0;
    for (; work > 0; work -= room)
        ++rounds;
    return rounds;
}

}  // namespace

TEST_CASE("hopper_gemm: each tile of C is some cluster's, once") {
    const int band = GENERATE(1, 2, 5, 8, 16);
    for (const int down : {1, 2, 4, 5, 7, 8, 9, 16, 17, 31}) {
        for (const int across : {1, 2, 3, 8, 13}) {
            std::set<std::pair<int, int>> seen;
            for (int tile = 0; tile < down * across; ++tile) {
                const ClusterTile at = cluster_tile(tile, down, across, band);
                REQUIRE((at.down >= 0 && at.down < down));
                REQUIRE((at.across >= 0 && at.across < across));
                seen.insert({at.down, at.across});
            }
            CHECK(seen.size() == static_cast<size_t>(down * across));
        }
    }
}

TEST_CASE("hopper_gemm: bands follow one another, every other one backwards") {
    // Three rows of two columns, in bands of two rows.
    const std::vector<std::pair<int, int>> order = {
        {0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}, {2, 0}};
    for (size_t i = 0; i < order.size(); ++i) {
        const ClusterTile at = cluster_tile(static_cast<int>(i), 3, 2, 2);
        CHECK(std::pair<int, int>(at.down, at.across) == order[i]);
    }
}

TEST_CASE("hopper_gemm: tiles that run at the same time are close together") {
    // Neighbours in the order are neighbours in C, or at the ends of a column.
    const int band = GENERATE(2, 8);
    constexpr int kDown = 19;
    constexpr int kAcross = 6;
    for (int tile = 1; tile < kDown * kAcross; ++tile) {
        const ClusterTile before = cluster_tile(tile - 1, kDown, kAcross, band);
        const ClusterTile at = cluster_tile(tile, kDown, kAcross, band);
        CHECK(std::abs(at.across - before.across) <= 1);
        CHECK(at.down / band - before.down / band <= 1);
    }
}

TEST_CASE("hopper_gemm: the last tile of the largest C has its place") {
    const int down = (1 << 30) / 256;
    const ClusterTile at = cluster_tile(down - 1, down, 1, 8);
    CHECK(at.down == down - 1);
    CHECK(at.across == 0);
}

TEST_CASE("hopper_gemm: parts of K are all of it, none twice, none empty") {
    for (int all = 1; all <= 70; ++all) {
        for (int wanted = 1; wanted <= 20; ++wanted) {
            const Parts parts = Parts::of(all, wanted);
            REQUIRE(parts.count >= 1);
            REQUIRE(parts.count <= wanted);
            int next = 0;
            for (int part = 0; part < parts.count; ++part) {
                const Steps steps = parts[part];
                REQUIRE(steps.begin == next);
                REQUIRE(steps.end > steps.begin);
                // As long as all others, but for the last.
                if (part + 1 < parts.count)
                    REQUIRE(steps.end - steps.begin == parts.steps);
                REQUIRE(steps.end - steps.begin <= parts.steps);
                next = steps.end;
            }
            REQUIRE(next == all);
        }
    }
}

TEST_CASE("hopper_gemm: parts of the longest K do not overflow") {
    const auto all = static_cast<int>(kLargest / 64);
    const Parts parts = Parts::of(all, GENERATE(1, 2, 16, 1 << 24));
    const Steps last = parts[parts.count - 1];
    CHECK(last.begin == (parts.count - 1) * parts.steps);
    CHECK(last.end == all);
    // One part of the largest int: its end is not computed past it.
    const Parts one = Parts::of(INT32_MAX, 1);
    CHECK(one[0].end == INT32_MAX);
    const Parts two = Parts::of(INT32_MAX, 2);
    CHECK(two[1].begin == 1 << 30);
    CHECK(two[1].end == INT32_MAX);
}

TEST_CASE("hopper_gemm: bytes of parts are those of floats, for any size") {
    CHECK(Parts::of(40, 4).bytes(8, 24) == 4.0 * 4 * 8 * 24);
    CHECK(Parts::of(40, 1).bytes(1, 1) == 4.0);
    CHECK(Parts::of(40, 8).bytes(kLargest, kLargest) == 0x1p65);
}

TEST_CASE("hopper_gemm: a time is that of all rounds, and of the sums of parts") {
    // 4 x 2 tiles of two blocks; a part has 10 stages, or 5.
    const int multiprocessors = GENERATE(1, 2, 3, 4, 7, 8, 16, 17, 132);
    const int64_t room = std::max(multiprocessors / 2, 1);
    const double whole = time_of(kLarge, 1000, 500, Parts::of(10, 1), multiprocessors);
    CHECK(whole ==
          kLaunchNs + static_cast<double>(counted_rounds(8, room)) * (10 * 640 + 2200));
    const double halves = time_of(kLarge, 1000, 500, Parts::of(10, 2), multiprocessors);
    const double memory = 2.0 * (2 * 1000 * 500 * 4) / kPartsBytesPerNs;
    CHECK(halves ==
          kLaunchNs + kTotalNs + memory +
              static_cast<double>(counted_rounds(16, room)) * (5 * 640 + 2200));
}

TEST_CASE("hopper_gemm: clusters side by side count, too") {
    Candidate c = kTiny;
    c.tiling.cluster_columns = 2;
    // 128 x 1024 are 2 x 4 clusters of 64 x 256, and three multiprocessors have room
    // for one of them.
    CHECK(time_of(c, 128, 1024, Parts::of(3, 1), 3) == kLaunchNs + 8 * 3 * 340);
    CHECK(time_of(c, 129, 1025, Parts::of(3, 1), 3) == kLaunchNs + 15 * 3 * 340);
}

TEST_CASE("hopper_gemm: a plan is the best of all that are allowed") {
    const Candidate c = GENERATE(kLarge, kTiny);
    for (const int64_t M : {8, 64, 200, 256, 264, 1024, 4096})
        for (const int64_t N : {8, 136, 1000, 4096})
            for (const int steps : {1, 3, 4, 7, 8, 9, 33, 64, 256})
                for (const int multiprocessors : {1, 12, 114, 132}) {
                    const Plan plan = plan_of(c, M, N, steps, multiprocessors);
                    const Parts taken = Parts::of(steps, plan.parts);
                    // It keeps its word, and the limits of parts.
                    REQUIRE(plan.ns == time_of(c, M, N, taken, multiprocessors));
                    REQUIRE(plan.parts >= 1);
                    REQUIRE(plan.parts <= c.most_parts);
                    if (taken.count > 1) {
                        REQUIRE(taken.steps >= kLeastSteps);
                        REQUIRE(taken.bytes(M, N) <= kMostPartsBytes);
                    }
                    for (int wanted = 1; wanted <= c.most_parts; ++wanted) {
                        const Parts other = Parts::of(steps, wanted);
                        const bool allowed = other.steps >= kLeastSteps &&
                                             other.bytes(M, N) <= kMostPartsBytes;
                        if (other.count > 1 && !allowed) continue;
                        const double ns = time_of(c, M, N, other, multiprocessors);
                        REQUIRE(plan.ns <= ns);
                        // Of equals, the one with the fewest parts.
                        if (ns == plan.ns) REQUIRE(taken.count <= other.count);
                    }
                }
}

TEST_CASE("hopper_gemm: what a plan does with known shapes") {
    const auto parts_of = [](int64_t M, int64_t N, int steps) {
        return Parts::of(steps, plan_of(kLarge, M, N, steps, 132).parts).count;
    };
    // One tile for 66 clusters, and K = 4096: as many parts as are worth a cluster.
    CHECK(parts_of(128, 128, 64) > 4);
    // A round that is full: nothing is gained by parts.
    CHECK(parts_of(66 * 256, 256, 64) == 1);
    // Few stages: two parts would have three each.
    CHECK(parts_of(128, 128, 6) == 1);
}

TEST_CASE("hopper_gemm: parts need no more memory than they may, however long K is") {
    const auto longest = static_cast<int>(kLargest / 64);
    for (const int64_t size : {2048, 8192, 16384}) {
        const Plan plan = plan_of(kLarge, size, size, longest, 132);
        const Parts parts = Parts::of(longest, plan.parts);
        if (parts.count > 1) CHECK(parts.bytes(size, size) <= kMostPartsBytes);
    }
    // 33 and 99 clusters: two parts make whole rounds of 66. Those of 33 need 17 MB,
    // those of 99 52 MB.
    CHECK(plan_of(kLarge, 256, 33 * 256, 10000, 132).parts == 2);
    CHECK(plan_of(kLarge, 3 * 256, 33 * 256, 10000, 132).parts == 1);
}

TEST_CASE("hopper_gemm: the largest product has a plan, and a finite time") {
    for (const int multiprocessors : {1, 132}) {
        const Plan plan = plan_of(kTiny,
                                  kLargest,
                                  kLargest,
                                  static_cast<int>(kLargest / 64),
                                  multiprocessors);
        CHECK(plan.parts == 1);
        CHECK(std::isfinite(plan.ns));
        CHECK(plan.ns > 0.0);
    }
}

TEST_CASE("hopper_gemm: tiles that may not be cut are not") {
    Candidate c = kLarge;
    c.most_parts = 1;
    for (const int steps : {1, 64, 100000})
        CHECK(plan_of(c, 8, 8, steps, 132).parts == 1);
}
