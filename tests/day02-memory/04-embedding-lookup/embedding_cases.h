// What the tests of this chapter share: indices of several kinds, arrays that begin
// anywhere, and launches of the functions that gather.
#pragma once

#include "embedding_lookup.h"

#include <wb/implementations.h>
#include <wb/reference/embedding.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/stored_types.h>

#include <string>
#include <vector>

namespace embedding_cases {

using wb::testing::Grader;
using Indices = std::vector<int64_t>;

/// What the counter of bad indices holds before a call, which adds to it.
constexpr unsigned long long kBadBefore = 5;

/// What an array holds where nothing may be written.
constexpr float kUntouched = 7.0f;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// How indices are spread over the rows of a table.
enum Spread { uniform, one_row, skewed, rising, with_bad, only_bad };

/// Indices that are no rows: below, above, and such that their lower 32 bits are one.
inline int64_t bad_index(int64_t i, int64_t num_rows) {
    const int64_t bad[] = {-1,
                           num_rows,
                           int64_t{1} << 32,
                           INT64_MIN,
                           INT64_MAX,
                           -(int64_t{1} << 32),
                           num_rows + 1};
    return bad[at(i) % std::size(bad)];
}

/// @param num_rows  > 0, unless all are bad
inline Indices make_indices(Spread spread,
                            int64_t count,
                            int64_t num_rows,
                            uint64_t seed = 1) {
    wb::testing::Random random(seed);
    Indices indices;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t any = num_rows > 0 ? random.below(num_rows) : 0;
        switch (spread) {
            case uniform:
                indices.push_back(any);
                break;
            case one_row:
                indices.push_back(num_rows - 1);
                break;
            case skewed:  // half of all are one row
                indices.push_back(random.below(2) == 0 ? num_rows / 2 : any);
                break;
            case rising:
                indices.push_back(i % num_rows);
                break;
            case with_bad:
                indices.push_back(i % 3 == 1 ? bad_index(i / 3, num_rows) : any);
                break;
            case only_bad:
                indices.push_back(bad_index(i, num_rows));
                break;
        }
    }
    return indices;
}

inline std::string in_words(Spread spread) {
    const char* const spreads[] = {
        "uniform", "one row", "skewed", "rising", "some bad", "all bad"};
    return std::string("indices ") + spreads[spread];
}

/// One gather; the arrays may begin at any element of their memory.
struct Sizes {
    int64_t count, num_rows, cols;
    Spread spread = uniform;
    int64_t table_from = 0;
    int64_t out_from = 0;

    std::string numbers() const {
        return "count rows cols = " + std::to_string(count) + " " +
               std::to_string(num_rows) + " " + std::to_string(cols);
    }
    std::string text() const {
        std::string text = numbers() + ", " + in_words(spread);
        if (table_from > 0)
            text += ", table from element " + std::to_string(table_from);
        if (out_from > 0) text += ", out from element " + std::to_string(out_from);
        return text;
    }
};

/// How the contract's function for a type of element is called, and values for it.
template <class T>
struct Gather;

template <>
struct Gather<float> {
    static constexpr const char* kName = "embedding";
    static constexpr auto* kFunction = &embedding;
    static std::vector<float> values(int64_t count, uint64_t seed) {
        return wb::testing::random_normal(count, seed);
    }
};

template <>
struct Gather<uint16_t> {
    static constexpr const char* kName = "embedding_u16";
    static constexpr auto* kFunction = &embedding_u16;
    static std::vector<uint16_t> values(int64_t count, uint64_t seed) {
        wb::testing::Random random(seed);
        std::vector<uint16_t> result;
        for (int64_t i = 0; i < count; ++i)
            result.push_back(static_cast<uint16_t>(random.bits()));
        return result;
    }
};

/// An input with some elements before it, which belong to nobody.
template <class T>
const T* input_from(Grader& grade,
                    const std::string& name,
                    int64_t from,
                    const std::vector<T>& values) {
    std::vector<T> all(at(from), static_cast<T>(kUntouched));
    all.insert(all.end(), values.begin(), values.end());
    return grade.input(name, all) + from;
}

/// Indices or offsets: in half of the cases at an address that suits no more than one.
inline const int64_t* input_indices(Grader& grade,
                                    const std::string& name,
                                    const Indices& indices) {
    return grade.input(name,
                       indices,
                       indices.size() % 2 == 0 ? wb::testing::Begin::aligned
                                               : wb::testing::Begin::anywhere);
}

/// The counter of bad indices, and what the grader expects of it.
inline unsigned long long* bad_counter(Grader& grade) {
    return grade.in_out("bad", {1}, std::vector<unsigned long long>{kBadBefore});
}
inline void expect_bad(Grader& grade, int64_t bad) {
    grade.expect("bad",
                 {static_cast<double>(kBadBefore) + static_cast<double>(bad)},
                 [](int64_t) { return 0.0; });
}

/// One launcher, which must copy every bit to its place, and nothing for a bad index.
template <class T>
void grade_one(const std::string& name,
               decltype(Gather<T>::kFunction) launcher,
               const Sizes& s,
               uint64_t seed) {
    Grader grade(name, s.text() + ", seed " + std::to_string(seed));
    const auto table = Gather<T>::values(s.num_rows * s.cols, seed);
    const Indices indices = make_indices(s.spread, s.count, s.num_rows, seed);
    std::vector<double> expected(at(s.count * s.cols), double{kUntouched});
    const int64_t bad =
        wb::reference::embedding(table, s.num_rows, s.cols, indices, expected);
    const T* d_table = input_from(grade, "table", s.table_from, table);
    T* d_out = nullptr;
    if (s.out_from == 0 && bad == 0) {
        d_out = grade.output<T>("out", {s.count, s.cols});
    } else {  // part of it must stay as it is
        expected.insert(expected.begin(), at(s.out_from), double{kUntouched});
        wb::testing::Shape shape = {s.count, s.cols};
        if (s.out_from > 0) shape = {static_cast<int64_t>(expected.size())};
        const std::vector<T> before(expected.size(), static_cast<T>(kUntouched));
        d_out = grade.in_out("out", shape, before) + s.out_from;
    }
    const Lookup lookup = {input_indices(grade, "indices", indices),
                           s.count,
                           s.num_rows,
                           s.cols,
                           bad_counter(grade)};
    grade.run([&](cudaStream_t stream) { launcher(d_table, d_out, lookup, stream); });
    grade.expect("out", expected, [](int64_t) { return 0.0; });
    expect_bad(grade, bad);
}

/// All versions for elements of one type.
template <class T>
void grade_all(const Sizes& s, uint64_t seed = 1) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Gather<T>::kName, Gather<T>::kFunction))
        grade_one<T>(name, launcher, s, seed);
}

}  // namespace embedding_cases
