// Tokens, caches and angles of any sizes, and calls of every version with them.
#pragma once

#include "rope_and_kv_append.h"

#include <wb/implementations.h>
#include <wb/reference/rope.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/paged_workspace.h>
#include <wb/testing/random.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rope_grading {

using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// How q, k and v lie: three arrays; three with a gap behind each token; slices of one
/// matrix; such slices, and one for k and for v; or slices in another order, v, k, q,
/// with a gap behind each.
enum Layout { apart, padded, packed, shared, backwards };

/// One launch.
struct Call {
    std::vector<std::pair<int64_t, int64_t>> sequences;  ///< first position, new tokens
    int64_t query_heads = 2;
    int64_t kv_heads = 1;
    int64_t head_dim = 16;
    int64_t rotary_dim = 16;
    RopePairs pairs = RopePairs::halves;
    int64_t page_size = 16;
    Layout layout = apart;
    int64_t spare_entries = 1;
    bool shuffled = true;  ///< tokens, and pages
    int64_t spare_angles = 0;

    int64_t tokens() const {
        int64_t count = 0;
        for (const auto& [first, added] : sequences)
            count += added;
        return count;
    }
    std::string text() const {
        return std::to_string(tokens()) + " tokens, Hq" + std::to_string(query_heads) +
               " Hkv" + std::to_string(kv_heads) + " D" + std::to_string(head_dim) +
               ", " + std::to_string(rotary_dim) +
               (pairs == RopePairs::halves ? " in halves" : " of neighbours") +
               ", page " + std::to_string(page_size);
    }
};

/// What a call is given, on the host. Numbers are floats that T holds exactly.
struct Inputs {
    Call call;
    std::vector<float> q, k, v;  ///< [tokens, heads, head_dim]
    std::vector<int32_t> sequences, positions;
    std::vector<float> angles;  ///< [angle_rows, rotary_dim / 2, 2]
    std::vector<int32_t> table;
    std::vector<float> k_scale, v_scale;  ///< of FP8 alone
    int64_t pages_per_sequence = 0;
    int64_t num_pages = 0;

    int64_t batch() const { return static_cast<int64_t>(call.sequences.size()); }
    int64_t tokens() const { return static_cast<int64_t>(sequences.size()); }
    int64_t angle_rows() const {
        return pages_per_sequence * call.page_size + call.spare_angles;
    }
    /// The page of a token, or -1.
    int64_t page(int64_t token) const {
        const int64_t s = sequences[at(token)];
        const int64_t p = positions[at(token)];
        if (s < 0 || s >= batch() || p < 0 || p >= pages_per_sequence * call.page_size)
            return -1;
        const int64_t page = table[at(s * pages_per_sequence + p / call.page_size)];
        return page < num_pages ? page : -1;
    }
};

template <class T>
std::vector<float> random_stored(int64_t count, uint64_t seed) {
    std::vector<float> numbers;
    for (const float x : wb::testing::random_normal(count, seed))
        numbers.push_back(static_cast<float>(static_cast<T>(x)));
    return numbers;
}

inline void shuffle(std::vector<int32_t>& numbers, uint64_t seed) {
    wb::testing::Random random(seed);
    for (auto i = static_cast<int64_t>(numbers.size()) - 1; i > 0; --i)
        std::swap(numbers[at(i)], numbers[at(random.below(i + 1))]);
}

/// Random numbers, also in place of cosines and sines: a kernel takes them as they are.
template <class T>
Inputs random_inputs(const Call& call, uint64_t seed) {
    Inputs in{call, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    const int64_t tokens = call.tokens();
    in.q = random_stored<T>(tokens * call.query_heads * call.head_dim, seed);
    in.k = random_stored<T>(tokens * call.kv_heads * call.head_dim, seed + 1);
    in.v = random_stored<T>(tokens * call.kv_heads * call.head_dim, seed + 2);
    std::vector<int32_t> order;
    std::vector<std::pair<int32_t, int32_t>> places;
    for (int64_t s = 0; s < in.batch(); ++s) {
        const auto& [first, added] = call.sequences[at(s)];
        in.pages_per_sequence =
            std::max(in.pages_per_sequence, (first + added - 1) / call.page_size + 1);
        for (int64_t p = first; p < first + added; ++p) {
            order.push_back(static_cast<int32_t>(places.size()));
            places.emplace_back(static_cast<int32_t>(s), static_cast<int32_t>(p));
        }
    }
    in.pages_per_sequence += call.spare_entries;
    if (call.shuffled) shuffle(order, seed + 3);
    for (const int32_t place : order) {
        in.sequences.push_back(places[at(place)].first);
        in.positions.push_back(places[at(place)].second);
    }
    in.num_pages = in.batch() * in.pages_per_sequence + 3;
    std::vector<int32_t> pages;
    for (int64_t i = 0; i < in.num_pages; ++i)
        pages.push_back(static_cast<int32_t>(i));
    if (call.shuffled) shuffle(pages, seed + 4);
    in.table.assign(at(in.batch() * in.pages_per_sequence), -1);
    std::size_t next = 0;
    for (int64_t s = 0; s < in.batch(); ++s) {
        const auto& [first, added] = call.sequences[at(s)];
        for (int64_t i = 0; added > 0 && i <= (first + added - 1) / call.page_size; ++i)
            in.table[at(s * in.pages_per_sequence + i)] = pages[next++];
    }
    in.angles = wb::testing::random_normal(in.angle_rows() * call.rotary_dim, seed + 5);
    wb::testing::Random random(seed + 6);
    for (int64_t h = 0; h < call.kv_heads; ++h) {
        in.k_scale.push_back(static_cast<float>(0.1 + random.uniform()));
        in.v_scale.push_back(static_cast<float>(0.1 + random.uniform()));
    }
    return in;
}

/// A number of the model's or of the cache's, and how far from it a kernel may be.
struct Wanted {
    std::vector<double> values;
    std::vector<double> bounds;
};

/// Rounds to T, after an error of `off`.
template <class T>
std::pair<double, double> as_stored(double exact, double off) {
    if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
        const double clamped = std::clamp(exact, -448.0, 448.0);  // NaN stays NaN
        if (!std::isfinite(exact)) return {clamped, 0.0};
        // Half the distance of two numbers of FP8: they have four bits, or 2^-9.
        const int exponent = std::max(std::ilogb(std::abs(clamped) + off), -6);
        return {clamped, off + std::ldexp(1.0, exponent - 4)};
    } else {
        if (!std::isfinite(exact)) return {exact, 0.0};
        if (std::abs(exact) > wb::testing::Format<T>::kLargest)
            return {static_cast<double>(
                        static_cast<float>(static_cast<T>(static_cast<float>(exact)))),
                    0.0};
        return {exact, wb::testing::stored_bound<T>(exact, off)};
    }
}

/// A head of q or k after its rotation: exact values, and their errors before rounding.
inline Wanted turned(const Inputs& in, const float* head, int64_t position) {
    const Call& c = in.call;
    Wanted w;
    w.values.assign(head, head + c.head_dim);
    w.bounds.assign(at(c.head_dim), 0.0);
    const int64_t half = c.rotary_dim / 2;
    for (int64_t j = 0; j < half; ++j) {
        const bool split = c.pairs == RopePairs::halves;
        const int64_t first = split ? j : 2 * j;
        const int64_t second = split ? j + half : 2 * j + 1;
        const float* const angle = &in.angles[at((position * half + j) * 2)];
        const auto pair = wb::reference::turned_pair(double{head[first]},
                                                     double{head[second]},
                                                     double{angle[0]},
                                                     double{angle[1]});
        const double relative = wb::testing::gamma(4.0, 0x1p-24);
        w.values[at(first)] = pair.a;
        w.values[at(second)] = pair.b;
        w.bounds[at(first)] = relative * pair.a_size;
        w.bounds[at(second)] = relative * pair.b_size;
    }
    return w;
}

/// All that a call may change, as it should be afterwards.
struct Expected {
    Wanted q, k, v;  ///< [tokens, Hq, D] and two pools
    std::vector<float> k_stale, v_stale;
};

template <class T, class Stored>
Expected expected_of(const Inputs& in, uint64_t seed) {
    const Call& c = in.call;
    const int64_t D = c.head_dim;
    const int64_t pool = in.num_pages * c.kv_heads * c.page_size * D;
    Expected e;
    e.k_stale = random_stored<Stored>(pool, seed + 7);
    e.v_stale = random_stored<Stored>(pool, seed + 8);
    e.q = {{in.q.begin(), in.q.end()}, std::vector<double>(in.q.size())};
    e.k = {{e.k_stale.begin(), e.k_stale.end()}, std::vector<double>(at(pool))};
    e.v = {{e.v_stale.begin(), e.v_stale.end()}, std::vector<double>(at(pool))};
    for (int64_t i = 0; i < in.tokens(); ++i) {
        const int64_t page = in.page(i);
        if (page < 0) continue;
        const int64_t position = in.positions[at(i)];
        for (int64_t h = 0; h < c.query_heads; ++h) {
            const int64_t from = (i * c.query_heads + h) * D;
            const Wanted w = turned(in, &in.q[at(from)], position);
            for (int64_t d = 0; d < c.rotary_dim; ++d) {
                const auto [value, bound] =
                    as_stored<T>(w.values[at(d)], w.bounds[at(d)]);
                e.q.values[at(from + d)] = value;
                e.q.bounds[at(from + d)] = bound;
            }
        }
        for (int64_t h = 0; h < c.kv_heads; ++h) {
            const int64_t from = (i * c.kv_heads + h) * D;
            const int64_t to =
                ((page * c.kv_heads + h) * c.page_size + position % c.page_size) * D;
            const Wanted w = turned(in, &in.k[at(from)], position);
            constexpr bool kScaled = std::is_same_v<Stored, __nv_fp8_e4m3>;
            const double k_scale = kScaled ? double{in.k_scale[at(h)]} : 1.0;
            const double v_scale = kScaled ? double{in.v_scale[at(h)]} : 1.0;
            for (int64_t d = 0; d < D; ++d) {
                const double k = w.values[at(d)] / k_scale;
                const double v = double{in.v[at(from + d)]} / v_scale;
                const double u = kScaled ? 0x1p-22 : 0.0;  // of the division
                std::tie(e.k.values[at(to + d)], e.k.bounds[at(to + d)]) =
                    as_stored<Stored>(
                        k, w.bounds[at(d)] / std::abs(k_scale) + u * std::abs(k));
                std::tie(e.v.values[at(to + d)], e.v.bounds[at(to + d)]) =
                    as_stored<Stored>(v, u * std::abs(v));
            }
        }
    }
    return e;
}

template <class T>
std::vector<T> stored_as(const std::vector<float>& numbers) {
    std::vector<T> result;
    for (const float x : numbers)
        result.push_back(static_cast<T>(x));
    return result;
}

/// Rows of tokens, one slice of the columns of a matrix after the other.
struct Slice {
    const std::vector<float>* numbers;
    int64_t width;
    int64_t column;
};

/// What lies between slices: a number that nobody computes.
constexpr float kGap = 77.0f;

template <class T>
std::vector<T> matrix_of(int64_t tokens,
                         int64_t stride,
                         const std::vector<Slice>& slices) {
    std::vector<float> matrix(at(tokens * stride), kGap);
    for (const Slice& s : slices)
        for (int64_t i = 0; i < tokens; ++i)
            std::copy_n(s.numbers->begin() + i * s.width,
                        s.width,
                        matrix.begin() + i * stride + s.column);
    return stored_as<T>(matrix);
}

/// What workspace.check() must say; of two faults in one call either will do.
struct Report {
    std::string one;
    std::string other = {};

    void expect(const std::string& name,
                const std::string& text,
                const std::string& fault) const {
        const bool is_other = !other.empty() && fault.find(other) != std::string::npos;
        wb::testing::expect_report(name, text, fault, is_other ? other : one);
    }
};

/// Fails if a zero that does not turn has lost its sign: -0 is not 0, which no
/// comparison of numbers tells apart.
///
/// @param turns  of an element: then the formula's sum may have either zero
template <class Turns>
void expect_signs_of_zeros(const std::string& name,
                           const std::string& text,
                           const std::string& array,
                           const std::vector<double>& got,
                           const std::vector<double>& values,
                           Turns turns) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != 0.0 || std::signbit(values[i]) == std::signbit(got[i]) ||
            turns(static_cast<int64_t>(i)))
            continue;
        const char* const zeros[] = {"0", "-0"};
        wb::testing::fail(wb::testing::Kind::wrong_result,
                          name + ", " + text + ": " + array + " has " +
                              zeros[std::signbit(got[i])] + " for " +
                              zeros[std::signbit(values[i])] + ", at element " +
                              std::to_string(i));
    }
}

/// One launcher on these numbers. q, and k and v where they are slices of the same
/// matrix, are compared as a whole, with what lies between.
///
/// @param launcher  a function of the contract, or what is called like one
template <class T, class Stored, class Launcher>
void grade_one(const std::string& name,
               Launcher launcher,
               const Inputs& in,
               const Expected& e,
               const std::string& text,
               const Report& report = {}) {
    const Call& c = in.call;
    const int64_t D = c.head_dim;
    const int64_t Hq = c.query_heads * D;
    const int64_t Hkv = c.kv_heads * D;
    const int64_t n = in.tokens();
    const wb::PagedWorkspace workspace(1);
    Grader grade(name, text);
    const int64_t gap = c.layout == apart ? 0 : 24;
    const bool is_matrix = c.layout != apart && c.layout != padded;
    // Of one matrix: the first column of each, and how many there are.
    int64_t q_column = 0;
    int64_t k_column = Hq;
    int64_t v_column = c.layout == shared ? Hq : Hq + Hkv;
    if (c.layout == backwards) {
        v_column = 0;
        k_column = Hkv + gap;
        q_column = 2 * k_column;
    }
    const int64_t end = std::max(q_column + Hq, v_column + Hkv);
    const int64_t stride = (is_matrix ? end : Hq) + gap;
    std::vector<Slice> slices = {{&in.q, Hq, q_column}};
    RopeAppend<T, Stored> call = {};
    call.q_stride = call.k_stride = call.v_stride = stride;
    if (is_matrix) {
        slices.push_back({&in.k, Hkv, k_column});
        if (c.layout != shared) slices.push_back({&in.v, Hkv, v_column});
    } else {
        call.k_stride = Hkv + gap;
        call.v_stride = Hkv + 2 * gap;
    }
    using wb::testing::Begin;
    const std::vector<T> matrix = matrix_of<T>(n, stride, slices);
    T* const q = grade.in_out<T>("q", {n, stride}, matrix, Begin::vectors);
    call.q = q + q_column;
    if (is_matrix) {
        call.k = q + k_column;
        call.v = q + v_column;
    } else {
        const auto rows = [&](const std::vector<float>& numbers, int64_t apart) {
            return matrix_of<T>(n, apart, {{&numbers, Hkv, 0}});
        };
        call.k = grade.input("k", rows(in.k, call.k_stride), Begin::vectors);
        call.v = grade.input("v", rows(in.v, call.v_stride), Begin::vectors);
    }
    call.sequences = grade.input("sequences", in.sequences, Begin::anywhere);
    call.positions = grade.input("positions", in.positions, Begin::anywhere);
    if (c.rotary_dim > 0) {  // else nobody looks at them
        call.angles = reinterpret_cast<const float2*>(
            grade.input("angles", in.angles, Begin::vectors));
        call.angle_rows = in.angle_rows();
    }
    call.tokens = n;
    call.query_heads = c.query_heads;
    call.rotary_dim = c.rotary_dim;
    call.pairs = c.pairs;
    auto& cache = call.cache;
    cache.batch = in.batch();
    cache.pages_per_sequence = in.pages_per_sequence;
    cache.num_pages = in.num_pages;
    cache.kv_heads = c.kv_heads;
    cache.page_size = c.page_size;
    cache.head_dim = D;
    const auto pool = static_cast<int64_t>(e.k_stale.size());
    cache.k = grade.in_out<Stored>(
        "cache.k", {pool}, stored_as<Stored>(e.k_stale), Begin::vectors);
    cache.v = grade.in_out<Stored>(
        "cache.v", {pool}, stored_as<Stored>(e.v_stale), Begin::vectors);
    cache.block_table = grade.input("cache.block_table", in.table, Begin::anywhere);
    // They play no part, whatever they are.
    std::vector<int32_t> lengths(at(in.batch()), INT32_MAX);
    for (std::size_t i = 0; i < lengths.size(); i += 2)
        lengths[i] = -static_cast<int32_t>(i);
    cache.lengths = grade.input("cache.lengths", lengths);
    if constexpr (std::is_same_v<Stored, __nv_fp8_e4m3>) {
        call.k_scale = grade.input("k_scale", in.k_scale, Begin::anywhere);
        call.v_scale = grade.input("v_scale", in.v_scale, Begin::anywhere);
    }
    grade.run([&](cudaStream_t stream) { launcher(call, workspace, stream); });
    wb::testing::expect_no_counts(name, text, workspace);
    std::string fault;
    try {
        workspace.check(nullptr);
    } catch (const wb::PagedCacheError& error) {
        fault = error.what();
    }
    std::vector<double> rows;
    std::vector<double> bounds(matrix.size());
    for (const T x : matrix)
        rows.push_back(static_cast<double>(static_cast<float>(x)));
    for (int64_t i = 0; i < n * Hq; ++i) {
        const int64_t to = i / Hq * stride + q_column + i % Hq;
        rows[at(to)] = e.q.values[at(i)];
        bounds[at(to)] = e.q.bounds[at(i)];
    }
    grade.expect("cache.k", e.k.values, [&](int64_t i) { return e.k.bounds[at(i)]; });
    grade.expect("cache.v", e.v.values, [&](int64_t i) { return e.v.bounds[at(i)]; });
    grade.expect("q", rows, [&](int64_t i) { return bounds[at(i)]; });
    const auto expect_signs =
        [&](const char* array, const std::vector<double>& values, auto turns) {
            expect_signs_of_zeros(name, text, array, grade.read(array), values, turns);
        };
    const auto turns = [&](int64_t i) { return i % D < c.rotary_dim; };
    expect_signs("cache.k", e.k.values, turns);
    expect_signs("cache.v", e.v.values, [](int64_t) { return false; });
    expect_signs("q", rows, [&](int64_t i) {
        const int64_t column = i % stride - q_column;
        return column >= 0 && column < Hq && turns(column);
    });
    report.expect(name, text, fault);
}

/// The three types, as levels of a test.
enum Types { fp16, bf16, fp8 };

/// All versions for one type. `change` may alter the inputs.
template <class Change>
void grade_types(Types types,
                 const Call& c,
                 uint64_t seed,
                 const std::string& what,
                 Change change,
                 const Report& report = {}) {
    const auto all = [&]<class T, class Stored>(
                         const char* exercise,
                         void (*contract)(const RopeAppend<T, Stored>&,
                                          const wb::PagedWorkspace&,
                                          cudaStream_t)) {
        Inputs in = random_inputs<T>(c, seed);
        change(in);
        const Expected e = expected_of<T, Stored>(in, seed);
        for (const auto& [name, idea, run] : wb::implementations(exercise, contract))
            grade_one<T, Stored>(name, run, in, e, c.text() + what, report);
    };
    if (types == fp16) all("rope_append_fp16", rope_append_fp16);
    if (types == bf16) all("rope_append_bf16", rope_append_bf16);
    if (types == fp8) all("rope_append_fp8", rope_append_fp8);
}

inline void grade(Types types, const Call& c, uint64_t seed = 1) {
    grade_types(types, c, seed, ", seed " + std::to_string(seed), [](Inputs&) {});
}

/// All types, for a test that needs no more of them.
inline Types any_type() {
    return GENERATE(fp16, bf16, fp8);
}

inline RopePairs any_pairs() {
    return GENERATE(RopePairs::halves, RopePairs::neighbours);
}

}  // namespace rope_grading
