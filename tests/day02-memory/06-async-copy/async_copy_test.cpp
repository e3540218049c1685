// Grades day02-memory/06-async-copy: peak_energy().
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

#include <limits>

using namespace async_copy_grading;

TEST_CASE("up to one segment, and one more sample") {
    grade_random({GENERATE(as<int64_t>(), 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33)});
    grade_random({GENERATE(as<int64_t>(), 127, 128, 129, 135, 136)});
}

TEST_CASE("the end of the signal near the end of a tile, and of its halo") {
    grade_random({kTile + GENERATE(as<int64_t>(), -1, 0, 1, 4, 7, 8, 9, 13)});
}

TEST_CASE("a prime number of samples") {
    grade_random({GENERATE(as<int64_t>(), 1009, 4099, 65537)}, GENERATE(1, 2));
}

TEST_CASE("each block has more tiles than stages: they go round several times") {
    const FewMultiprocessors few(2);
    const int64_t rounds = GENERATE(as<int64_t>(), 2, 3, 7, 16);
    const int blocks_per_sm = rounds == 3 ? 2 : 1;
    const int64_t blocks = FewMultiprocessors::count() * blocks_per_sm;
    grade_random({rounds * blocks * kTile - 77, blocks_per_sm});
}

TEST_CASE("a block has more tiles than 8 bits count") {
    const FewMultiprocessors few(1);
    grade_random({301 * kTile + 77, 1});
}

TEST_CASE("every tile's peak stands where its samples are") {
    // Sample i of tile t is loud: a tile that is computed from the samples of another
    // one, of the round before or the next, has another peak.
    const FewMultiprocessors few(1);
    const int64_t tiles = 20;
    std::vector<float> signal(static_cast<size_t>(tiles * kTile));
    for (int64_t t = 0; t < tiles; ++t)
        for (int64_t k = 0; k < kTile / kSegment; ++k)
            signal[static_cast<size_t>(t * kTile + k * kSegment + (37 * t) % 121)] =
                static_cast<float>(1 + t + 100 * k);
    grade_signal({tiles * kTile, GENERATE(1, 3)}, signal, ", a loud sample a segment");
}

TEST_CASE("a window reaches into the next segment, tile and round") {
    // Only one sample of every second segment is loud, one of its first seven. The last
    // windows of the segment before reach it, too.
    const FewMultiprocessors few(1);
    std::vector<float> signal(static_cast<size_t>(10 * kTile + kSegment));
    for (size_t i = 0; i < signal.size(); i += 2 * kSegment)
        signal[i + i / (2 * kSegment) % (kWindow - 1)] =
            static_cast<float>(i / kSegment + 1);
    const auto n = static_cast<int64_t>(signal.size());
    grade_signal({n, GENERATE(1, 2)}, signal, ", loud where segments begin");
}

TEST_CASE("edges meet: sizes, blocks, and where arrays begin") {
    static const auto cases =
        wb::testing::Covering()
            .factor("tiles", {0, 1, 2, 5, 6, 7, 13})
            .factor("rest", {0, 1, 3, 7, 8, 127, 129, 1016, 1021})
            .factor("blocks_per_sm", {1, 2, 3, 8})
            .factor("multiprocessors", {1, 2, 132})
            .factor("x from", {0, 4, 12})
            .factor("peaks from", {0, 1, 3})
            .forbid({"tiles", "rest"},
                    [](const std::vector<int64_t>& v) { return v[0] + v[1] == 0; })
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const FewMultiprocessors few(static_cast<int>(c["multiprocessors"]));
            grade_random({c["tiles"] * kTile + c["rest"],
                          static_cast<int>(c["blocks_per_sm"]),
                          c["x from"],
                          c["peaks from"]});
        }
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_random({3 * kTile + 5, 1});
        },
        [] {
            grade_random({700, 2}, 2);
        });
    // Many tiles, and two of one size.
    wb::testing::expect_independent(
        [] {
            grade_random({20 * kTile, 2});
        },
        [] {
            grade_random({12 * kTile + 9, 2}, 2);
        },
        [] {
            grade_random({20 * kTile, 2}, 3);
        });
}

TEST_CASE("right whatever order the threads run in") {
    const FewMultiprocessors few(1);
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2, 3));
    grade_random({9 * kTile + 3, 1});
    wb::testing::shuffle_threads(0);
}

TEST_CASE("more than a million samples", "[long]") {
    grade_random({(1 << 20) + 2 * kTile + 7, 1});
}

TEST_CASE("NaN, infinities, zeros of both signs and tiny samples") {
    using Limits = std::numeric_limits<float>;
    const std::vector<float> values = {Limits::quiet_NaN(),
                                       -Limits::quiet_NaN(),
                                       Limits::infinity(),
                                       -Limits::infinity(),
                                       1e20f,  // its square is infinite
                                       -1e19f,
                                       -0.0f,
                                       Limits::denorm_min(),
                                       1e-22f,  // its square is subnormal
                                       1e-18f};
    // One of them in each segment, among zeros, or among zeros and ordinary samples;
    // each once in every place of a tile.
    const float others = GENERATE(0.0f, 1.0f);
    const size_t segments = values.size() * (kTile / kSegment);
    std::vector<float> signal(segments * kSegment, -0.0f);
    for (size_t i = 0; i < segments; ++i) {
        signal[i * kSegment + 40] = others;
        signal[i * kSegment + 43] = values[i % values.size()];
    }
    grade_signal({static_cast<int64_t>(signal.size())}, signal, ", special values");
}

TEST_CASE("no samples: nothing is launched") {
    Grader("peak_energy", "n = 0").expect_no_work([](cudaStream_t stream) {
        peak_energy(nullptr, nullptr, 0, 1, stream);
    });
    grade_random({1030});  // and then it is
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const Call c{GENERATE(as<int64_t>(), 5, 3000), 2};
    for (const auto& [name, idea, launcher] :
         wb::implementations("peak_energy", peak_energy)) {
        Grader grade(name, c.text() + ", queued only");
        const float* d_x =
            grade.input("x", std::vector<float>(static_cast<size_t>(c.n)));
        float* d_peaks = grade.output<float>("peaks", {(c.n - 1) / kSegment + 1});
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_x, d_peaks, c.n, c.blocks_per_sm, stream);
        });
    }
}
