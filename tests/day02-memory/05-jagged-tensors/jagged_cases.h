/// jagged_cases.h: what the tests of this chapter have in common: rows of all kinds,
/// and arrays that begin anywhere.
#pragma once

#include <wb/implementations.h>
#include <wb/reference/jagged.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "jagged_tensors.h"

namespace jagged_grading {

using wb::JaggedStatus;
using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Everything is copied, nothing is computed.
inline double exactly(int64_t) {
    return 0.0;
}

// --- Rows -------------------------------------------------------------------------

/// How long rows are.
enum Kind : int64_t { kMixed, kSomeEmpty, kAllEmpty, kOneHasAll, kAlike, kFew };
inline const std::initializer_list<const char*> kKinds = {
    "mixed", "some empty", "all empty", "one has all", "all alike", "few entries"};

inline std::vector<int32_t> lengths_of(int64_t kind, int64_t num_rows, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<int32_t> lengths(at(num_rows), 0);
    for (int32_t& length : lengths) {
        const auto any = static_cast<int32_t>(random.below(41));
        if (kind == kMixed) length = any;
        if (kind == kSomeEmpty) length = random.below(3) == 0 ? any : 0;
        if (kind == kAlike) length = 20;
        if (kind == kFew) length = random.below(50) == 0 ? 1 : 0;
    }
    if (kind == kOneHasAll) lengths[at(num_rows / 2)] = 700;
    return lengths;
}

/// Offsets that may also be wrong.
using HostOffsets = std::vector<int64_t>;

inline HostOffsets offsets_of(int64_t kind, int64_t num_rows, uint64_t seed) {
    return wb::reference::jagged_offsets(lengths_of(kind, num_rows, seed));
}

// --- Elements ---------------------------------------------------------------------

/// Numbers that bf16 holds exactly.
inline std::vector<float> numbers(int64_t count, uint64_t seed) {
    std::vector<float> result;
    for (const float x : wb::testing::random_normal(count, seed))
        result.push_back(__bfloat162float(__float2bfloat16(x)));
    return result;
}

/// Bits of zeros of both signs, tiny numbers, infinities, NaNs quiet and signalling.
inline std::vector<uint16_t> odd_bits(int64_t count, uint64_t seed) {
    constexpr uint16_t kOdd[] = {
        0x0000, 0x8000, 0x0001, 0x807F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFA5, 0x3F80};
    std::vector<uint16_t> bits(at(count));
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = kOdd[(i + seed) % std::size(kOdd)];
    return bits;
}

/// As it lies in memory: a number as bf16, bits as they are.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, float>, __nv_bfloat16, T>;

template <class T>
std::vector<Stored<T>> stored(int64_t from, const std::vector<T>& values) {
    std::vector<T> all(at(from), T{7});
    all.insert(all.end(), values.begin(), values.end());
    std::vector<Stored<T>> result;
    for (const T value : all) {
        if constexpr (std::is_same_v<T, float>)
            result.push_back(__float2bfloat16(value));
        else
            result.push_back(value);
    }
    return result;
}

/// An input that begins at element `from` of its memory.
template <class T>
const __nv_bfloat16* upload(Grader& grade,
                            const std::string& name,
                            const std::vector<T>& values,
                            int64_t from = 0) {
    return reinterpret_cast<const __nv_bfloat16*>(
               grade.input(name, stored(from, values))) +
           from;
}

/// An output that begins at element `from` of its memory. What is before it must stay,
/// and something is, if it has no elements.
template <class T>
struct Output {
    Output(Grader& grade, std::string name, int64_t count, int64_t from = 0)
        : grade_(grade), name_(std::move(name)), before_(count == 0 ? from + 1 : from) {
        Stored<T>* memory = nullptr;
        if (before_ == 0)
            memory = grade.output<Stored<T>>(name_, {count});
        else
            memory = grade.in_out(name_,
                                  {before_ + count},
                                  stored(0, std::vector<T>(at(before_ + count), T{7})));
        data = reinterpret_cast<__nv_bfloat16*>(memory) + before_;
    }
    void expect(const std::vector<double>& expected) {
        std::vector<double> all(at(before_), 7.0);
        all.insert(all.end(), expected.begin(), expected.end());
        grade_.expect(name_, all, exactly);
    }
    __nv_bfloat16* data;

 private:
    Grader& grade_;
    std::string name_;
    int64_t before_;
};

// --- Offsets and status -----------------------------------------------------------

inline std::vector<int32_t> narrow(const HostOffsets& offsets) {
    std::vector<int32_t> result;
    for (const int64_t offset : offsets)
        result.push_back(static_cast<int32_t>(offset));
    return result;
}

/// In half of the cases, an array begins at an address that suits no more than its
/// type.
inline wb::testing::Begin begin_of(std::size_t count) {
    return count % 2 == 0 ? wb::testing::Begin::aligned : wb::testing::Begin::anywhere;
}

inline wb::Offsets upload_offsets(Grader& grade,
                                  const std::string& name,
                                  const HostOffsets& offsets,
                                  bool wide) {
    const auto begin = begin_of(offsets.size());
    if (wide) return grade.input(name, offsets, begin);
    return grade.input(name, narrow(offsets), begin);
}

/// @param before  what is there before the call; empty: poison
inline wb::OffsetsOut offsets_output(Grader& grade,
                                     int64_t count,
                                     bool wide,
                                     const HostOffsets& before = {}) {
    const auto begin = begin_of(at(count));
    if (!before.empty()) {
        if (wide) return grade.in_out("offsets", {count}, before, begin);
        return grade.in_out("offsets", {count}, narrow(before), begin);
    }
    if (wide) return grade.output<int64_t>("offsets", {count}, begin);
    return grade.output<int32_t>("offsets", {count}, begin);
}

inline std::vector<double> as_doubles(const HostOffsets& offsets) {
    return {offsets.begin(), offsets.end()};
}

/// What status must hold: words that a grader can compare.
inline std::vector<double> words_of(const JaggedStatus& status) {
    int32_t words[sizeof status / sizeof(int32_t)];
    std::memcpy(words, &status, sizeof status);
    return {std::begin(words), std::end(words)};
}

inline JaggedStatus* status_array(Grader& grade, const JaggedStatus& before = {}) {
    const auto words = words_of(before);
    return reinterpret_cast<JaggedStatus*>(grade.in_out<int32_t>(
        "status", {static_cast<int64_t>(words.size())}, {words.begin(), words.end()}));
}

inline void expect_status(Grader& grade, const JaggedStatus& expected = {}) {
    grade.expect("status", words_of(expected), exactly);
}

inline JaggedStatus fault(wb::JaggedFault fault,
                          wb::JaggedArray array,
                          int64_t place,
                          int64_t value,
                          int64_t bound) {
    return {
        static_cast<int32_t>(fault), static_cast<int32_t>(array), place, value, bound};
}

/// Calls f(name, launcher) for each version of a function.
template <class Function, class F>
void for_each_version(const std::string& exercise, Function* contract, F f) {
    for (const auto& [name, idea, launcher] : wb::implementations(exercise, contract))
        f(name, launcher);
}

}  // namespace jagged_grading
