/// transpose_cases.h: what the tests of transpose() and transpose_u16() have in common.
#pragma once

#include <wb/implementations.h>
#include <wb/reference/transpose.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <string>
#include <vector>

#include "transpose.h"

/// The contract's function for elements of one type, and numbers for it.
template <class T>
struct Contract;

template <>
struct Contract<float> {
    static constexpr const char* kName = "transpose";
    static constexpr auto* kFunction = &transpose;
    static std::vector<float> values(int64_t count, uint64_t seed) {
        return wb::testing::random_normal(count, seed);
    }
};

template <>
struct Contract<uint16_t> {
    static constexpr const char* kName = "transpose_u16";
    static constexpr auto* kFunction = &transpose_u16;
    static std::vector<uint16_t> values(int64_t count, uint64_t seed) {
        wb::testing::Random random(seed);
        std::vector<uint16_t> result;
        for (int64_t i = 0; i < count; ++i)
            result.push_back(static_cast<uint16_t>(random.bits()));
        return result;
    }
};

/// One problem; the arrays may begin at any element of their memory.
struct Sizes {
    int64_t batch, rows, cols;
    int64_t in_from = 0;
    int64_t out_from = 0;

    int64_t count() const { return batch * rows * cols; }
    std::string text() const {
        std::string text = "batch rows cols = " + std::to_string(batch) + " " +
                           std::to_string(rows) + " " + std::to_string(cols);
        if (in_from > 0) text += ", in from element " + std::to_string(in_from);
        if (out_from > 0) text += ", out from element " + std::to_string(out_from);
        return text;
    }
};

/// One launcher, which must copy every bit to its place.
template <class T>
void grade_one(const std::string& name,
               decltype(Contract<T>::kFunction) launcher,
               const Sizes& s,
               uint64_t seed) {
    wb::testing::Grader grade(name, s.text() + ", seed " + std::to_string(seed));
    const auto values = Contract<T>::values(s.count(), seed);
    std::vector<T> in(static_cast<size_t>(s.in_from), T{7});
    in.insert(in.end(), values.begin(), values.end());
    auto expected = wb::reference::transpose(values, s.batch, s.rows, s.cols);
    const T* d_in = grade.input("in", in) + s.in_from;
    T* d_out = nullptr;
    if (s.out_from == 0) {
        d_out = grade.output<T>("out", {s.batch, s.cols, s.rows});
    } else {  // what lies before it is not part of it, and must stay
        expected.insert(expected.begin(), static_cast<size_t>(s.out_from), 7.0);
        d_out = grade.in_out("out",
                             {static_cast<int64_t>(expected.size())},
                             std::vector<T>(expected.size(), T{7})) +
                s.out_from;
    }
    grade.run([&](cudaStream_t stream) {
        launcher(d_in, d_out, s.batch, s.rows, s.cols, stream);
    });
    grade.expect("out", expected, [](int64_t) { return 0.0; });
}

/// All versions for elements of one type.
template <class T>
void grade_all(const Sizes& s, uint64_t seed = 1) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Contract<T>::kName, Contract<T>::kFunction))
        grade_one<T>(name, launcher, s, seed);
}
