// Grades day03-parallel-patterns/02-scan: scan_int32() and scan_float().
#include "grading.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

#include <cmath>
#include <limits>
#include <type_traits>

using namespace scan_grading;

TEST_CASE("up to a warp, and one more element") {
    const auto n = GENERATE(as<int64_t>(), 1, 2, 3, 4, 5, 31, 32, 33);
    for (const ScanKind kind : kKinds)
        grade_random(n, with(kind));
}

TEST_CASE("near the end of a block, and of a tile") {
    grade_random(GENERATE(as<int64_t>(), 255, 256, 257, 511, 513));
    grade_random(kTile + GENERATE(as<int64_t>(), -1, 0, 1), with(ScanKind::exclusive));
}

TEST_CASE("a prime number of elements, and many tiles") {
    const auto n = GENERATE(as<int64_t>(), 1009, 9001);
    for (const ScanKind kind : kKinds)
        grade_random(n, with(kind), -1, 2);
}

TEST_CASE("more blocks than a block has threads", "[long]") {
    // 256 blocks of 256 elements, and one more: their totals are more than one tile.
    grade_random(65536 + 257);
}

TEST_CASE("more tiles than a warp looks back at, twice", "[long]") {
    grade_scan(with(ScanKind::exclusive), random_values<int32_t>(70 * kTile + 3));
}

TEST_CASE("many tiles of floats, and of segments, for the contract alone", "[long]") {
    const int64_t n = 70 * kTile + 3;
    const auto values = random_values<float>(n);
    grade_one("scan_float",
              Call{},
              values,
              {},
              "",
              [](auto* x, auto*, auto* y, int64_t count, cudaStream_t stream) {
                  scan_float(x, y, count, ScanKind::inclusive, stream);
              });
    grade_one("segmented_scan_float",
              with(ScanKind::exclusive),
              values,
              random_heads(n, 100'000),
              ", a head in 100,000",
              [](auto* x, auto* heads, auto* y, int64_t count, cudaStream_t stream) {
                  segmented_scan_float(x, heads, y, count, ScanKind::exclusive, stream);
              });
}

TEST_CASE("more tiles than 8 bits count, for the contract alone", "[long]") {
    const int64_t n = 257 * kTile + 3;
    const auto add_up = [](auto* x, auto*, auto* y, int64_t count, cudaStream_t s) {
        if constexpr (std::is_same_v<decltype(y), float*>)
            scan_float(x, y, count, ScanKind::inclusive, s);
        else
            scan_int32(x, y, count, ScanKind::inclusive, s);
    };
    grade_one("scan_int32", Call{}, random_values<int32_t>(n), {}, "", add_up);
    // Sums of what does not cancel: the error may be no more than theirs.
    auto values = random_values<float>(n);
    for (float& value : values.x)
        value = 1.0f + std::abs(value);
    values.text += ", all above 1";
    grade_one("scan_float", Call{}, values, {}, "", add_up);
}

TEST_CASE("each element has a part of its own in the sums") {
    // Integers whose sums tell which elements are in them: 1, 2, 3, ... up to i make
    // i (i + 1) / 2, and one that is missing or twice in it shows.
    Values<int32_t> values{{}, ", 1, 2, 3, ..."};
    for (int32_t i = 1; i <= 3 * kTile; ++i)
        values.x.push_back(i);
    for (const ScanKind kind : kKinds)
        grade_scan(with(kind), values);
}

TEST_CASE("integers wrap, at both ends") {
    using Limits = std::numeric_limits<int32_t>;
    Values<int32_t> values{{}, ", INT_MAX and INT_MIN in turn"};
    for (int i = 0; i < 600; ++i)
        values.x.push_back(i % 3 == 0 ? Limits::min() : Limits::max());
    for (const ScanKind kind : kKinds)
        grade_scan(with(kind), values);
}

TEST_CASE("in place") {
    for (const ScanKind kind : kKinds) {
        Call c = with(kind);
        c.in_place = true;
        grade_random(kTile + 77, c);
        c.x_from = 3;
        grade_random(500, c);
    }
}

TEST_CASE("edges meet: sizes, kinds, and where arrays begin") {
    static const auto cases =
        wb::testing::Covering()
            .factor("tiles", {0, 1, 2})
            .factor("rest", {0, 1, 5, 129, 4095})
            .factor("kind", {0, 1})
            .factor("x from", {0, 1, 2, 4})
            .factor("y from", {0, 1, 3, 4})
            .forbid({"tiles", "rest"},
                    [](const std::vector<int64_t>& v) { return v[0] + v[1] == 0; })
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            Call call = with(kKinds[c["kind"]]);
            call.x_from = c["x from"];
            call.y_from = c["y from"];
            grade_random(c["tiles"] * kTile + c["rest"], call);
        }
}

TEST_CASE("NaN and infinities go on to the end, and no further back") {
    using Limits = std::numeric_limits<float>;
    const float special = GENERATE(Limits::quiet_NaN(),
                                   -Limits::quiet_NaN(),
                                   Limits::infinity(),
                                   -Limits::infinity());
    for (const ScanKind kind : kKinds)
        for (const size_t place : {size_t{0}, size_t{300}, size_t{4100}}) {
            Values<float> values{std::vector<float>(4400, 0.5f), ", one is special"};
            values.x[place] = special;
            grade_scan(with(kind), values);
        }
}

TEST_CASE("infinities of both signs make NaN, from the second one on") {
    Values<float> values{std::vector<float>(700, 1.0f), ", +inf, then -inf"};
    values.x[100] = std::numeric_limits<float>::infinity();
    values.x[400] = -std::numeric_limits<float>::infinity();
    for (const ScanKind kind : kKinds)
        grade_scan(with(kind), values);
}

TEST_CASE("zeros of both signs, subnormal and tiny numbers, and the largest") {
    using Limits = std::numeric_limits<float>;
    Values<float> values{{}, ", zeros, subnormal and large numbers"};
    for (int i = 0; i < 90; ++i) {
        const float large = i % 2 == 0 ? Limits::max() / 128 : -Limits::max() / 128;
        for (const float value :
             {0.0f, -0.0f, Limits::denorm_min(), -1e-40f, 1e-38f, large})
            values.x.push_back(i < 60 && value == large ? 1e-39f : value);
    }
    for (const ScanKind kind : kKinds)
        grade_scan(with(kind), values);
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] { grade_scan(with(ScanKind::inclusive), random_values<int32_t>(5001, 1)); },
        [] { grade_scan(with(ScanKind::exclusive), random_values<int32_t>(700, 2)); });
    // More tiles, and two of one size; floats in segments.
    wb::testing::expect_independent(
        [] { grade_scan(with(ScanKind::inclusive), random_values<float>(10'001, 1)); },
        [] { grade_scan(with(ScanKind::exclusive), random_values<float>(9000, 2)); },
        [] { grade_scan(with(ScanKind::inclusive), random_values<float>(10'001, 3)); });
    const auto segments = [](int64_t n, uint64_t seed) {
        grade_segments(with(ScanKind::inclusive),
                       random_values<float>(n, seed),
                       random_heads(n, 300, seed),
                       ", a head in 300");
    };
    wb::testing::expect_independent([&] { segments(5001, 1); },
                                    [&] { segments(700, 2); },
                                    [&] { segments(5001, 3); });
}

TEST_CASE("no elements: nothing is launched") {
    Grader("scan_int32", "n = 0").expect_no_work([](cudaStream_t stream) {
        scan_int32(nullptr, nullptr, 0, ScanKind::inclusive, stream);
    });
    Grader("scan_float", "n = 0").expect_no_work([](cudaStream_t stream) {
        scan_float(nullptr, nullptr, 0, ScanKind::exclusive, stream);
    });
    grade_random(300);  // and then it is
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const int64_t n = GENERATE(as<int64_t>(), 5, 9000);
    for (const auto& [name, idea, launcher] :
         wb::implementations("scan_int32", scan_int32)) {
        Grader grade(name, "n = " + std::to_string(n) + ", queued only");
        const int32_t* d_x =
            grade.input("x", std::vector<int32_t>(static_cast<size_t>(n)));
        int32_t* d_y = grade.output<int32_t>("y", {n});
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_x, d_y, n, ScanKind::inclusive, stream);
        });
    }
}
