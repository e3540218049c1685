// Grades day02-memory/05-jagged-tensors: offsets and lengths that are wrong, which only
// the device can see. Nothing may be written, nor read where they point.
#include "jagged_cases.h"

#include <wb/errors.h>

using namespace jagged_grading;
using wb::JaggedArray;
using wb::JaggedFault;

namespace {

constexpr int64_t kTotal = 60;
constexpr int64_t kDim = 8;
constexpr PairShape kPair = {4, kTotal, kTotal, kDim};
const HostOffsets kGood = {0, 20, 20, 45, 60};

/// Offsets with one mistake, and what status must say.
struct Wrong {
    const char* what;
    HostOffsets offsets;
    JaggedFault fault;
    int64_t place;
    int64_t value;
    int64_t bound;

    JaggedStatus status(JaggedArray array) const {
        return jagged_grading::fault(fault, array, place, value, bound);
    }
};

const std::vector<Wrong>& mistakes() {
    static const std::vector<Wrong> all = {
        {"the first is not 0", {3, 20, 20, 45, 60}, JaggedFault::first, 0, 3, 0},
        {"the first is negative", {-3, 20, 20, 45, 60}, JaggedFault::first, 0, -3, 0},
        {"one falls", {0, 20, 19, 45, 60}, JaggedFault::falls, 2, 19, 20},
        {"one is negative", {0, -5, 20, 45, 60}, JaggedFault::falls, 1, -5, 0},
        {"one is far too large",
         {0, 20, 2'000'000'000, 45, 60},
         JaggedFault::falls,
         3,
         45,
         2'000'000'000},
        {"the last is too large", {0, 20, 20, 45, 61}, JaggedFault::last, 4, 61, 60},
        {"the last is too small", {0, 20, 20, 45, 59}, JaggedFault::last, 4, 59, 60},
        {"the last falls", {0, 20, 20, 60, 45}, JaggedFault::falls, 4, 45, 60},
    };
    return all;
}

/// The conversions write nothing, and leave `after` in status.
void grade_conversions(const std::string& what,
                       const HostOffsets& offsets,
                       const JaggedStatus& before,
                       const JaggedStatus& after,
                       bool wide,
                       int64_t max_length = 25,
                       int64_t dim = kDim) {
    const std::string text = what + ", max_length " + std::to_string(max_length) +
                             ", dim " + std::to_string(dim) +
                             (wide ? ", 64 bits" : ", 32 bits");
    const JaggedShape shape = {4, kTotal, max_length, dim};
    const auto grade_one =
        [&](const std::string& name, auto launch, int64_t read, int64_t written) {
            Grader grade(name, text);
            const auto* d_in = upload(grade, "in", numbers(read * dim, 1));
            const auto d_offsets = upload_offsets(grade, "offsets", offsets, wide);
            const std::vector<float> sevens(at(written * dim), 7.0f);
            auto* d_out = grade.in_out("out", {written * dim}, stored(0, sevens));
            JaggedStatus* d_status = status_array(grade, before);
            grade.run([&](cudaStream_t s) {
                launch(d_in, d_offsets, d_out, shape, d_status, s);
            });
            grade.expect("out", {sevens.begin(), sevens.end()}, exactly);
            expect_status(grade, after);
        };
    const int64_t dense = shape.num_rows * shape.max_length;
    for_each_version("jagged_to_dense", jagged_to_dense, [&](auto& name, auto launch) {
        grade_one(name, launch, kTotal, dense);
    });
    for_each_version("dense_to_jagged", dense_to_jagged, [&](auto& name, auto launch) {
        grade_one(name, launch, dense, kTotal);
    });
}

/// The same of concat and split.
void grade_pairs(const std::string& what,
                 const HostOffsets& a_offsets,
                 const HostOffsets& b_offsets,
                 const JaggedStatus& before,
                 const JaggedStatus& after,
                 bool wide) {
    const std::string text = what + (wide ? ", 64 bits" : ", 32 bits");
    const std::vector<float> sevens(at(2 * kTotal * kDim), 7.0f);
    const std::vector<float> half(at(kTotal * kDim), 7.0f);
    for_each_version("jagged_concat", jagged_concat, [&](auto& name, auto launch) {
        Grader grade(name, text);
        const auto* d_a = upload(grade, "a", numbers(kTotal * kDim, 1));
        const auto* d_b = upload(grade, "b", numbers(kTotal * kDim, 2));
        const auto d_a_offsets = upload_offsets(grade, "a_offsets", a_offsets, wide);
        const auto d_b_offsets = upload_offsets(grade, "b_offsets", b_offsets, wide);
        auto* d_values = grade.in_out("values", {2 * kTotal * kDim}, stored(0, sevens));
        const HostOffsets old(5, 77);
        const auto d_offsets = offsets_output(grade, 5, wide, old);
        JaggedStatus* d_status = status_array(grade, before);
        grade.run([&](cudaStream_t s) {
            launch(d_a,
                   d_a_offsets,
                   d_b,
                   d_b_offsets,
                   d_values,
                   d_offsets,
                   kPair,
                   d_status,
                   s);
        });
        grade.expect("values", {sevens.begin(), sevens.end()}, exactly);
        grade.expect("offsets", as_doubles(old), exactly);
        expect_status(grade, after);
    });
    for_each_version("jagged_split", jagged_split, [&](auto& name, auto launch) {
        Grader grade(name, text);
        const auto* d_values = upload(grade, "values", numbers(2 * kTotal * kDim, 1));
        const auto d_a_offsets = upload_offsets(grade, "a_offsets", a_offsets, wide);
        const auto d_b_offsets = upload_offsets(grade, "b_offsets", b_offsets, wide);
        auto* d_a = grade.in_out("a", {kTotal * kDim}, stored(0, half));
        auto* d_b = grade.in_out("b", {kTotal * kDim}, stored(0, half));
        JaggedStatus* d_status = status_array(grade, before);
        grade.run([&](cudaStream_t s) {
            launch(d_values, d_a_offsets, d_b_offsets, d_a, d_b, kPair, d_status, s);
        });
        grade.expect("a", {half.begin(), half.end()}, exactly);
        grade.expect("b", {half.begin(), half.end()}, exactly);
        expect_status(grade, after);
    });
}

/// Offsets from these lengths, with a fault.
void grade_offsets(const std::vector<int32_t>& lengths,
                   const HostOffsets& expected,
                   const JaggedStatus& before,
                   const JaggedStatus& after,
                   bool wide) {
    const auto num_rows = static_cast<int64_t>(lengths.size());
    for_each_version("jagged_offsets", jagged_offsets, [&](auto& name, auto launch) {
        Grader grade(name, wide ? "64 bits" : "32 bits");
        const int32_t* d_lengths = grade.input("lengths", lengths);
        const auto d_offsets = offsets_output(grade, num_rows + 1, wide);
        JaggedStatus* d_status = status_array(grade, before);
        grade.run([&](cudaStream_t s) {
            launch(d_lengths, d_offsets, num_rows, d_status, s);
        });
        grade.expect("offsets", as_doubles(expected), exactly);
        expect_status(grade, after);
    });
}

/// What the host says of a fault that a call has noted.
std::string said(const std::vector<int32_t>& lengths, const HostOffsets& offsets) {
    Grader memory(lengths.empty() ? "jagged_to_dense" : "jagged_offsets",
                  "faults in words");
    const wb::JaggedCheck check;
    const auto num_rows = static_cast<int64_t>(offsets.size()) - 1;
    if (!lengths.empty()) {
        int32_t* d_offsets =
            memory.output<int32_t>("sums", {static_cast<int64_t>(lengths.size()) + 1});
        jagged_offsets(memory.input("lengths", lengths),
                       d_offsets,
                       static_cast<int64_t>(lengths.size()),
                       check.status(),
                       nullptr);
    } else {
        jagged_to_dense(upload(memory, "values", numbers(kTotal * kDim, 1)),
                        upload_offsets(memory, "offsets", offsets, true),
                        memory.output<__nv_bfloat16>("dense", {num_rows * 8 * kDim}),
                        {num_rows, kTotal, 8, kDim},
                        check.status(),
                        nullptr);
    }
    std::string words = "nothing";
    try {
        check.check(nullptr);
    } catch (const wb::JaggedError& error) {
        words = error.what();
    }
    check.check(nullptr);  // it is forgotten
    return words;
}

}  // namespace

TEST_CASE("to dense and back: wrong offsets write nothing and are noted") {
    const bool wide = GENERATE(false, true);
    for (const Wrong& wrong : mistakes()) {
        const auto status = wrong.status(JaggedArray::offsets);
        grade_conversions(wrong.what, wrong.offsets, {}, status, wide);
        grade_conversions(wrong.what, wrong.offsets, {}, status, wide, 1);
    }
    HostOffsets beyond_32_bits = kGood;
    beyond_32_bits[1] = (int64_t{1} << 32) + 20;
    if (wide) {
        const auto status =
            fault(JaggedFault::falls, JaggedArray::offsets, 2, 20, beyond_32_bits[1]);
        grade_conversions("beyond 32 bits", beyond_32_bits, {}, status, wide);
        // The first and the last one, whose lower 32 bits are right.
        constexpr int64_t kFar = int64_t{1} << 32;
        grade_conversions("the first is -2^32",
                          {-kFar, 20, 20, 45, 60},
                          {},
                          fault(JaggedFault::first, JaggedArray::offsets, 0, -kFar, 0),
                          wide);
        grade_conversions(
            "the last is 60 + 2^32",
            {0, 20, 20, 45, 60 + kFar},
            {},
            fault(JaggedFault::last, JaggedArray::offsets, 4, 60 + kFar, 60),
            wide);
    }
}

TEST_CASE("concat and split: wrong offsets of a or b write nothing and are noted") {
    const bool wide = GENERATE(false, true);
    for (const Wrong& wrong : mistakes()) {
        const std::string what = wrong.what;
        grade_pairs(what + ", of a",
                    wrong.offsets,
                    kGood,
                    {},
                    wrong.status(JaggedArray::a_offsets),
                    wide);
        grade_pairs(what + ", of b",
                    kGood,
                    wrong.offsets,
                    {},
                    wrong.status(JaggedArray::b_offsets),
                    wide);
    }
}

TEST_CASE("wrong offsets are noted also where there are no entries") {
    const bool wide = GENERATE(false, true);
    const HostOffsets wrong = {0, 0, 5, 0, 0};
    const HostOffsets right(5, 0);
    const HostOffsets old(5, 77);
    const auto falls = [](JaggedArray array) {
        return fault(JaggedFault::falls, array, 3, 0, 5);
    };
    // values has no elements, and so has the result of split
    for_each_version("dense_to_jagged", dense_to_jagged, [&](auto& name, auto launch) {
        Grader grade(name, wide ? "no entries, 64 bits" : "no entries, 32 bits");
        const auto* d_dense = upload(grade, "dense", numbers(4 * 2 * kDim, 1));
        const auto d_offsets = upload_offsets(grade, "offsets", wrong, wide);
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(d_dense, d_offsets, nullptr, {4, 0, 2, kDim}, d_status, s);
        });
        expect_status(grade, falls(JaggedArray::offsets));
    });
    for_each_version("jagged_to_dense", jagged_to_dense, [&](auto& name, auto launch) {
        Grader grade(name, wide ? "no entries, 64 bits" : "no entries, 32 bits");
        const auto d_offsets = upload_offsets(grade, "offsets", wrong, wide);
        const std::vector<float> sevens(4 * 2 * kDim, 7.0f);
        auto* d_dense = grade.in_out("dense", {4 * 2 * kDim}, stored(0, sevens));
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(nullptr, d_offsets, d_dense, {4, 0, 2, kDim}, d_status, s);
        });
        grade.expect("dense", {sevens.begin(), sevens.end()}, exactly);
        expect_status(grade, falls(JaggedArray::offsets));
    });
    for (const bool is_a : {true, false}) {
        const auto noted =
            falls(is_a ? JaggedArray::a_offsets : JaggedArray::b_offsets);
        for_each_version("jagged_split", jagged_split, [&](auto& name, auto launch) {
            Grader grade(name, is_a ? "no entries, a is wrong" : "no entries, b is");
            const auto d_a = upload_offsets(grade, "a", is_a ? wrong : right, wide);
            const auto d_b = upload_offsets(grade, "b", is_a ? right : wrong, wide);
            JaggedStatus* d_status = status_array(grade);
            grade.run([&](cudaStream_t s) {
                launch(
                    nullptr, d_a, d_b, nullptr, nullptr, {4, 0, 0, kDim}, d_status, s);
            });
            expect_status(grade, noted);
        });
        for_each_version("jagged_concat", jagged_concat, [&](auto& name, auto launch) {
            Grader grade(name, is_a ? "no entries, a is wrong" : "no entries, b is");
            const auto d_a = upload_offsets(grade, "a", is_a ? wrong : right, wide);
            const auto d_b = upload_offsets(grade, "b", is_a ? right : wrong, wide);
            const auto d_offsets = offsets_output(grade, 5, wide, old);
            JaggedStatus* d_status = status_array(grade);
            const PairShape shape = {4, 0, 0, kDim};
            grade.run([&](cudaStream_t s) {
                launch(
                    nullptr, d_a, nullptr, d_b, nullptr, d_offsets, shape, d_status, s);
            });
            grade.expect("offsets", as_doubles(old), exactly);
            expect_status(grade, noted);
        });
    }
}

TEST_CASE("wrong offsets far from the first block are noted") {
    HostOffsets offsets(1001, 0);
    for (std::size_t r = 900; r < offsets.size(); ++r)
        offsets[r] = 5;
    offsets[950] = 4;
    for_each_version("dense_to_jagged", dense_to_jagged, [&](auto& name, auto launch) {
        Grader grade(name, "offset 950 of 1001 falls");
        const auto* d_in = upload(grade, "in", numbers(1000 * kDim, 1));
        const auto d_offsets = upload_offsets(grade, "offsets", offsets, false);
        const std::vector<float> sevens(at(5 * kDim), 7.0f);
        auto* d_out = grade.in_out("out", {5 * kDim}, stored(0, sevens));
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(d_in, d_offsets, d_out, {1000, 5, 1, kDim}, d_status, s);
        });
        grade.expect("out", {sevens.begin(), sevens.end()}, exactly);
        expect_status(grade,
                      fault(JaggedFault::falls, JaggedArray::offsets, 950, 4, 5));
    });
}

TEST_CASE("a fault that is in status already: nothing is written, and it stays") {
    const bool wide = GENERATE(false, true);
    const auto earlier = fault(JaggedFault::negative, JaggedArray::offsets, 1, -2, 0);
    for (const int64_t max_length : {1, 2, 8, 25, 64})
        grade_conversions(
            "an earlier fault", kGood, earlier, earlier, wide, max_length);
    for (const int64_t dim : {1, 2, 33})
        grade_conversions("an earlier fault", kGood, earlier, earlier, wide, 25, dim);
    grade_conversions(
        "an earlier fault and another", {1, 20, 20, 45, 60}, earlier, earlier, wide);
    grade_pairs("an earlier fault", kGood, kGood, earlier, earlier, wide);
    grade_offsets({1, 2}, {0, 1, 3}, earlier, earlier, wide);
    grade_offsets({1, -2}, {0, 1, 1}, earlier, earlier, wide);
}

TEST_CASE("offsets: a negative length is noted and counts as 0") {
    const bool wide = GENERATE(false, true);
    const auto negative = [](int64_t place, int64_t value) {
        return fault(JaggedFault::negative, JaggedArray::offsets, place, value, 0);
    };
    grade_offsets({3, -1, 4}, {0, 3, 3, 7}, {}, negative(1, -1), wide);
    std::vector<int32_t> many(3000, 1);
    many[2500] = std::numeric_limits<int32_t>::min();
    HostOffsets expected = {0};
    for (const int32_t length : many)
        expected.push_back(expected.back() + (length > 0 ? 1 : 0));
    grade_offsets(many, expected, {}, negative(2500, many[2500]), wide);
}

TEST_CASE("offsets: a sum that 32 bits cannot hold is noted") {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const std::vector<int32_t> lengths = {2'000'000'000, 147'483'647, 1};
    const auto too_much =
        fault(JaggedFault::sum, JaggedArray::offsets, 2, kMost + 1, kMost);
    grade_offsets(lengths, {0, 2'000'000'000, kMost, kMost}, {}, too_much, false);
    grade_offsets(lengths, {0, 2'000'000'000, kMost, kMost + 1}, {}, {}, true);
}

TEST_CASE("faults in words: which offset, and which value") {
    const auto expect = [](const std::string& got, const std::string& wanted) {
        CHECK(got == "jagged tensor: " + wanted);
    };
    expect(said({}, {3, 60}), "offsets[0] is 3, but the first offset must be 0");
    expect(said({}, {0, 30, 20, 60}),
           "offsets[2] is 20, but offsets[1] is 30: offsets must not fall");
    expect(said({}, {0, 30, 61}), "offsets[2] is 61, but there are 60 entries");
    expect(said({5, -7}, {}), "lengths[1] is -7, but must be >= 0");
    expect(said({2'000'000'000, 2'000'000'000}, {}),
           "lengths[1]: the sum up to here is 4000000000, but an offset holds "
           "2147483647 at most");
    CHECK(said({}, {0, 30, 60}) == "nothing");
}
