// Calls every version of the four scans with arrays, and compares.
#pragma once

#include "scan.h"

#include <wb/implementations.h>
#include <wb/reference/scan.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace scan_grading {

using wb::testing::Grader;

/// Elements of a tile of the fast versions.
inline constexpr int64_t kTile = 4096;

inline constexpr ScanKind kKinds[] = {ScanKind::inclusive, ScanKind::exclusive};

/// One call; the arrays may begin at any element of their memory.
struct Call {
    ScanKind kind = ScanKind::inclusive;
    int64_t x_from = 0;
    int64_t y_from = 0;
    int64_t heads_from = 0;
    bool in_place = false;
};

/// What an array consists of, in words.
template <class T>
struct Values {
    std::vector<T> x;
    std::string text;
};

/// Any 32 bits, so that sums wrap again and again; or floats with outliers.
template <class T>
Values<T> random_values(int64_t n, uint64_t seed = 1) {
    const std::string text = ", seed " + std::to_string(seed);
    if constexpr (std::is_same_v<T, float>) {
        return {wb::testing::random_normal(n, seed), text};
    } else {
        wb::testing::Random random(seed);
        std::vector<T> x(static_cast<size_t>(n));
        for (T& value : x)
            value = static_cast<T>(static_cast<uint32_t>(random.bits()));
        return {x, text};
    }
}

/// About one head in `length` elements, any number but 0; 0: none at all.
inline std::vector<uint8_t> random_heads(int64_t n, int64_t length, uint64_t seed = 1) {
    wb::testing::Random random(seed + 1000);
    std::vector<uint8_t> heads(static_cast<size_t>(n));
    for (uint8_t& head : heads)
        if (length > 0 && random.below(length) == 0)
            head = static_cast<uint8_t>(1 + random.below(255));
    return heads;
}

/// The contract's functions by element type: with heads or without.
template <class T>
struct Scans;
template <>
struct Scans<int32_t> {
    static constexpr auto* plain = scan_int32;
    static constexpr auto* segmented = segmented_scan_int32;
    static std::string name(bool heads) {
        return heads ? "segmented_scan_int32" : "scan_int32";
    }
};
template <>
struct Scans<float> {
    static constexpr auto* plain = scan_float;
    static constexpr auto* segmented = segmented_scan_float;
    static std::string name(bool heads) {
        return heads ? "segmented_scan_float" : "scan_float";
    }
};

/// How far a float may be off, by the contract.
inline double bound_of(int64_t i, double magnitude) {
    return wb::testing::float_bound(64.0 + static_cast<double>(i / 1024), magnitude);
}

/// `count` elements behind `from` others, which must not matter.
template <class T>
std::vector<T> behind(int64_t from, const std::vector<T>& values) {
    std::vector<T> all(static_cast<size_t>(from), static_cast<T>(77));
    all.insert(all.end(), values.begin(), values.end());
    return all;
}

/// One launcher.
///
/// @param heads  as many as values; empty: the scan without segments
template <class T, class Launch>
void grade_one(const std::string& name,
               const Call& c,
               const Values<T>& values,
               const std::vector<uint8_t>& heads,
               const std::string& heads_text,
               Launch launch) {
    const bool exclusive = c.kind == ScanKind::exclusive;
    const auto n = static_cast<int64_t>(values.x.size());
    std::string text = "n = " + std::to_string(n) +
                       (exclusive ? ", exclusive" : ", inclusive") + values.text +
                       heads_text + (c.in_place ? ", in place" : "");
    for (const auto& [what, from] : {std::pair{"x", c.x_from},
                                     std::pair{"y", c.y_from},
                                     std::pair{"heads", c.heads_from}})
        if (from > 0)
            text += std::string(", ") + what + " from element " + std::to_string(from);
    auto right = wb::reference::scan(values.x, heads, exclusive);
    Grader grade(name, text);
    const std::vector<T> x = behind(c.x_from, values.x);
    const uint8_t* d_heads =
        heads.empty()
            ? nullptr
            : grade.input("heads", behind(c.heads_from, heads)) + c.heads_from;
    const int64_t from = c.in_place ? c.x_from : c.y_from;
    const T* d_x = nullptr;
    T* d_y = nullptr;
    if (c.in_place)
        d_x = d_y = grade.in_out("y", {n + from}, x) + from;
    else
        d_x = grade.input("x", x) + c.x_from;
    if (!c.in_place)
        d_y = from == 0
                  ? grade.output<T>("y", {n})
                  : grade.in_out("y",
                                 {n + from},
                                 std::vector<T>(static_cast<size_t>(n + from), T{77})) +
                        from;
    // What lies before them is not part of them, and must stay.
    right.sums.insert(right.sums.begin(), static_cast<size_t>(from), 77.0);
    grade.run([&](cudaStream_t stream) { launch(d_x, d_heads, d_y, n, stream); });
    grade.expect("y", right.sums, [&](int64_t place) {
        const int64_t i = place - from;
        if (std::is_integral_v<T> || i < 0) return 0.0;
        if (!std::isfinite(right.sums[static_cast<size_t>(place)])) return 0.0;
        return bound_of(i, right.magnitudes[static_cast<size_t>(i)]);
    });
}

/// All versions without segments.
template <class T>
void grade_scan(const Call& c, const Values<T>& values) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Scans<T>::name(false), Scans<T>::plain))
        grade_one(name,
                  c,
                  values,
                  {},
                  "",
                  [&, launcher = launcher](
                      auto* x, auto*, auto* y, int64_t n, cudaStream_t stream) {
                      launcher(x, y, n, c.kind, stream);
                  });
}

/// All versions with segments.
template <class T>
void grade_segments(const Call& c,
                    const Values<T>& values,
                    const std::vector<uint8_t>& heads,
                    const std::string& heads_text) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Scans<T>::name(true), Scans<T>::segmented))
        grade_one(name,
                  c,
                  values,
                  heads,
                  heads_text,
                  [&, launcher = launcher](
                      auto* x, auto* h, auto* y, int64_t n, cudaStream_t stream) {
                      launcher(x, h, y, n, c.kind, stream);
                  });
}

inline Call with(ScanKind kind) {
    Call c;
    c.kind = kind;
    return c;
}

/// n random elements of both types; with a head in `length` elements, unless it is -1.
inline void grade_random(int64_t n,
                         const Call& c = {},
                         int64_t length = -1,
                         uint64_t seed = 1) {
    if (length < 0) {
        grade_scan(c, random_values<int32_t>(n, seed));
        grade_scan(c, random_values<float>(n, seed));
        return;
    }
    const auto heads = random_heads(n, length, seed);
    const std::string text = ", a head in " + std::to_string(length);
    grade_segments(c, random_values<int32_t>(n, seed), heads, text);
    grade_segments(c, random_values<float>(n, seed), heads, text);
}

}  // namespace scan_grading
