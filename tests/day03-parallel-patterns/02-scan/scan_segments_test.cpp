// Grades day03-parallel-patterns/02-scan: scans of segments.
#include "grading.h"

#include <wb/testing/covering.h>

#include <limits>

using namespace scan_grading;

namespace {

/// Heads at these elements.
std::vector<uint8_t> heads_at(int64_t n, const std::vector<int64_t>& places) {
    std::vector<uint8_t> heads(static_cast<size_t>(n));
    for (const int64_t place : places)
        if (place < n) heads[static_cast<size_t>(place)] = 1;
    return heads;
}

}  // namespace

TEST_CASE("segments up to a warp long") {
    const auto n = GENERATE(as<int64_t>(), 1, 2, 31, 32, 33, 255, 257);
    for (const ScanKind kind : kKinds)
        grade_random(n, with(kind), 3);
}

TEST_CASE("segments of all lengths: of one element, of tiles, or one for all") {
    const auto length = GENERATE(as<int64_t>(), 0, 1, 2, 40, 300, 4000);
    grade_random(2 * kTile + 5, with(kKinds[length % 2]), length);
}

TEST_CASE("segments that begin with a tile, a warp's part, or a vector of it") {
    const int64_t step = GENERATE(as<int64_t>(), 256, 512, 4, 128, kTile);
    const int64_t shift = GENERATE(as<int64_t>(), 0, 1, -1);
    const int64_t n = 2 * kTile + 1;
    std::vector<int64_t> places;
    for (int64_t i = step + shift; i < n; i += step)
        places.push_back(i);
    const std::string text = ", a head at " + std::to_string(shift) + " beside each " +
                             std::to_string(step) + " elements";
    grade_segments(with(shift == 0 ? ScanKind::exclusive : ScanKind::inclusive),
                   random_values<int32_t>(n),
                   heads_at(n, places),
                   text);
}

TEST_CASE("one head among many tiles: those behind it look back to it, no further",
          "[long]") {
    const int64_t n = 36 * kTile;
    const int64_t place = GENERATE(as<int64_t>(), kTile, 2 * kTile + 5);
    grade_segments(with(ScanKind::inclusive),
                   random_values<int32_t>(n),
                   heads_at(n, {place}),
                   ", a head at " + std::to_string(place));
}

TEST_CASE("NaN and infinities stay in their segment") {
    using Limits = std::numeric_limits<float>;
    const float special = GENERATE(Limits::quiet_NaN(), Limits::infinity());
    const int64_t n = kTile + 100;
    Values<float> values{std::vector<float>(static_cast<size_t>(n), 0.25f),
                         ", special ones before heads"};
    const std::vector<int64_t> places = {40, 256, 512, 700, kTile, kTile + 3};
    for (const int64_t place : places)
        values.x[static_cast<size_t>(place - 1)] = special;
    for (const ScanKind kind : kKinds)
        grade_segments(with(kind), values, heads_at(n, places), "");
}

TEST_CASE("edges of segments meet: sizes, kinds, and where arrays begin") {
    static const auto cases = wb::testing::Covering()
                                  .factor("n", {3, 1000, 4096, 4097, 8192})
                                  .factor("length", {1, 5, 700})
                                  .factor("kind", {0, 1})
                                  .factor("x from", {0, 1, 4})
                                  .factor("y from", {0, 2, 4})
                                  .factor("heads from", {0, 1, 4})
                                  .factor("in place", {0, 1})
                                  .factor("numbers", {"int32", "float"})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            Call call = with(kKinds[c["kind"]]);
            call.x_from = c["x from"];
            call.y_from = c["y from"];
            call.heads_from = c["heads from"];
            call.in_place = c["in place"] == 1;
            const std::string text = ", a head in " + std::to_string(c["length"]);
            const auto heads = random_heads(c["n"], c["length"]);
            if (c["numbers"] == 0)
                grade_segments(call, random_values<int32_t>(c["n"]), heads, text);
            else
                grade_segments(call, random_values<float>(c["n"]), heads, text);
        }
}

TEST_CASE("no elements in segments: nothing is launched") {
    Grader("segmented_scan_int32", "n = 0").expect_no_work([](cudaStream_t stream) {
        segmented_scan_int32(nullptr, nullptr, nullptr, 0, ScanKind::inclusive, stream);
    });
    Grader("segmented_scan_float", "n = 0").expect_no_work([](cudaStream_t stream) {
        segmented_scan_float(nullptr, nullptr, nullptr, 0, ScanKind::exclusive, stream);
    });
    grade_random(300, {}, 7);  // and then it is
}
