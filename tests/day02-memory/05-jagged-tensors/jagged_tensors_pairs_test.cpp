// Grades day02-memory/05-jagged-tensors: two jagged tensors made one, and taken apart.
#include "jagged_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace jagged_grading;

namespace {

/// Two jagged tensors; the three arrays of values may begin at any element.
struct Pair {
    HostOffsets a_offsets;
    HostOffsets b_offsets;
    int64_t dim;
    bool wide = false;
    int64_t a_from = 0;
    int64_t b_from = 0;
    int64_t values_from = 0;

    PairShape shape() const {
        return {static_cast<int64_t>(a_offsets.size()) - 1,
                a_offsets.back(),
                b_offsets.back(),
                dim};
    }
    HostOffsets offsets() const {
        HostOffsets sums;
        for (std::size_t r = 0; r < a_offsets.size(); ++r)
            sums.push_back(a_offsets[r] + b_offsets[r]);
        return sums;
    }
    std::string text() const {
        const auto s = shape();
        return std::to_string(s.num_rows) + " rows, " + std::to_string(s.a_total) +
               " and " + std::to_string(s.b_total) + " entries, dim " +
               std::to_string(dim) + (wide ? ", 64" : ", 32") + " bits, from " +
               std::to_string(a_from) + ", " + std::to_string(b_from) + " and " +
               std::to_string(values_from);
    }
};

template <class T>
void grade_concat(const Pair& p, const std::vector<T>& a, const std::vector<T>& b) {
    const auto expected =
        wb::reference::jagged_concat(a, p.a_offsets, b, p.b_offsets, p.dim);
    const PairShape shape = p.shape();
    for_each_version("jagged_concat", jagged_concat, [&](auto& name, auto launch) {
        Grader grade(name, p.text());
        const auto* d_a = upload(grade, "a", a, p.a_from);
        const auto* d_b = upload(grade, "b", b, p.b_from);
        const auto d_a_offsets =
            upload_offsets(grade, "a_offsets", p.a_offsets, p.wide);
        const auto d_b_offsets =
            upload_offsets(grade, "b_offsets", p.b_offsets, p.wide);
        Output<T> values(
            grade, "values", static_cast<int64_t>(expected.size()), p.values_from);
        // In and out: an output must depend on the numbers, which offsets do not.
        const HostOffsets old(at(shape.num_rows + 1), -7);
        const auto d_offsets = offsets_output(grade, shape.num_rows + 1, p.wide, old);
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(d_a,
                   d_a_offsets,
                   d_b,
                   d_b_offsets,
                   values.data,
                   d_offsets,
                   shape,
                   d_status,
                   s);
        });
        values.expect(expected);
        grade.expect("offsets", as_doubles(p.offsets()), exactly);
        expect_status(grade);
    });
}

template <class T>
void grade_split(const Pair& p, const std::vector<T>& values) {
    const auto expected =
        wb::reference::jagged_split(values, p.a_offsets, p.b_offsets, p.dim);
    const PairShape shape = p.shape();
    for_each_version("jagged_split", jagged_split, [&](auto& name, auto launch) {
        Grader grade(name, p.text());
        const auto* d_values = upload(grade, "values", values, p.values_from);
        const auto d_a_offsets =
            upload_offsets(grade, "a_offsets", p.a_offsets, p.wide);
        const auto d_b_offsets =
            upload_offsets(grade, "b_offsets", p.b_offsets, p.wide);
        Output<T> a(grade, "a", shape.a_total * p.dim, p.a_from);
        Output<T> b(grade, "b", shape.b_total * p.dim, p.b_from);
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(
                d_values, d_a_offsets, d_b_offsets, a.data, b.data, shape, d_status, s);
        });
        a.expect(expected.a);
        b.expect(expected.b);
        expect_status(grade);
    });
}

void grade_concat(const Pair& p) {
    const auto shape = p.shape();
    grade_concat(
        p, numbers(shape.a_total * p.dim, 1), numbers(shape.b_total * p.dim, 2));
}

void grade_split(const Pair& p) {
    const auto shape = p.shape();
    grade_split(p, numbers((shape.a_total + shape.b_total) * p.dim, 3));
}

/// Rows of all kinds in both tensors, sizes and alignments.
std::vector<wb::testing::Combination> pair_cases() {
    auto cases = wb::testing::Covering()
                     .factor("a", kKinds)
                     .factor("b", kKinds)
                     .factor("num_rows", {1, 2, 33, 260})
                     .factor("dim", {1, 2, 3, 8, 10, 64})
                     .factor("bits", {32, 64})
                     .factor("a from", {0, 1})
                     .factor("b from", {0, 2})
                     .factor("values from", {0, 1, 2})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 8, cases.end());
    return cases;
}

Pair pair_of(const wb::testing::Combination& c) {
    return {offsets_of(c["a"], c["num_rows"], 1),
            offsets_of(c["b"], c["num_rows"], 2),
            c["dim"],
            c["bits"] == 64,
            c["a from"],
            c["b from"],
            c["values from"]};
}

}  // namespace

TEST_CASE("concat: few rows") {
    const int64_t num_rows = GENERATE(as<int64_t>(), 1, 2, 3);
    grade_concat({offsets_of(kMixed, num_rows, 1), offsets_of(kMixed, num_rows, 2), 4});
}

TEST_CASE("concat: rows of two kinds, sizes, and where arrays begin") {
    static const auto cases = pair_cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_concat(pair_of(c));
        }
}

TEST_CASE("concat: many rows, and long ones") {
    grade_concat(
        {offsets_of(kMixed, 500, 1), offsets_of(kSomeEmpty, 500, 2), 2, false});
    grade_concat({offsets_of(kFew, 5003, 1), offsets_of(kFew, 5003, 2), 2, true});
    grade_concat({{0, 0, 2000}, {0, 1500, 1500}, 8, true});
    // With 1024 words in a tile: the second row begins with the last word of one.
    grade_concat({{0, 1000, 1007}, {0, 23, 40}, 8, false});
}

TEST_CASE("split: few rows") {
    const int64_t num_rows = GENERATE(as<int64_t>(), 1, 2, 3);
    grade_split({offsets_of(kMixed, num_rows, 1), offsets_of(kMixed, num_rows, 2), 4});
}

TEST_CASE("split: rows of two kinds, sizes, and where arrays begin") {
    static const auto cases = pair_cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_split(pair_of(c));
        }
}

TEST_CASE("split: many rows, and long ones") {
    grade_split({offsets_of(kMixed, 500, 1), offsets_of(kSomeEmpty, 500, 2), 2, false});
    grade_split({offsets_of(kFew, 5003, 1), offsets_of(kFew, 5003, 2), 2, true});
    grade_split({{0, 0, 2000}, {0, 1500, 1500}, 8, false});
    // With 1024 words in a tile: the second row begins with the last word of one.
    grade_split({{0, 1000, 1007}, {0, 23, 40}, 8, true});
}

TEST_CASE("concat and split: one of the arrays begins inside of a word") {
    const int from = GENERATE(1, 2, 4);
    for (const int which : {0, 1, 2}) {
        const Pair p = {offsets_of(kMixed, 9, 8),
                        offsets_of(kMixed, 9, 9),
                        8,
                        false,
                        which == 0 ? from : 0,
                        which == 1 ? from : 0,
                        which == 2 ? from : 0};
        grade_concat(p);
        grade_split(p);
    }
}

TEST_CASE("concat and split: wide entries, in rows of more than 128") {
    // Of more elements than a warp, or a block, can have threads.
    const bool wide = GENERATE(false, true);
    for (const int64_t dim : {131, 256, 1032, 1101}) {
        const Pair p = {{0, 140, 140, 290, 300}, {0, 5, 150, 290, 440}, dim, wide};
        grade_concat(p);
        grade_split(p);
    }
}

TEST_CASE("concat and split: rows of more entries than 16 bits count", "[long]") {
    const Pair p = {{0, 3, 65'540}, {0, 65'537, 65'540}, 1};
    grade_concat(p);
    grade_split(p);
}

TEST_CASE("concat and split: more rows than 16 bits count", "[long]") {
    Pair p = {HostOffsets(65'540, 0), HostOffsets(65'540, 0), 1};
    p.a_offsets.back() = 1;
    p.b_offsets.back() = 2;
    grade_concat(p);
    grade_split(p);
}

TEST_CASE("concat and split: any bits, also those of no number") {
    const int64_t dim = GENERATE(as<int64_t>(), 1, 2, 8);
    const Pair p = {offsets_of(kMixed, 20, 6), offsets_of(kMixed, 20, 7), dim};
    const auto shape = p.shape();
    grade_concat(p, odd_bits(shape.a_total * dim, 3), odd_bits(shape.b_total * dim, 4));
    grade_split(p, odd_bits((shape.a_total + shape.b_total) * dim, 5));
}

TEST_CASE("concat and split are right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2, 3));
    const Pair p = {offsets_of(kMixed, 50, 7), offsets_of(kMixed, 50, 8), 8};
    grade_concat(p);
    grade_split(p);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("concat and split: nothing is kept from call to call") {
    const Pair first = {offsets_of(kMixed, 20, 1), offsets_of(kMixed, 20, 2), 8};
    const Pair second = {
        offsets_of(kMixed, 70, 3), offsets_of(kSomeEmpty, 70, 4), 3, true};
    wb::testing::expect_independent([&] { grade_concat(first); },
                                    [&] { grade_concat(second); });
    wb::testing::expect_independent([&] { grade_split(first); },
                                    [&] { grade_split(second); });
}

TEST_CASE("concat and split are queued on the caller's stream") {
    Grader grade("jagged_concat", "2 rows");
    const auto* d_in = upload(grade, "in", numbers(100, 1));
    const HostOffsets rows = {0, 3, 5};
    const auto d_offsets = upload_offsets(grade, "rows", rows, true);
    Output<float> a(grade, "a", 100);
    Output<float> b(grade, "b", 100);
    const auto d_sums = offsets_output(grade, 3, true);
    JaggedStatus* d_status = status_array(grade);
    const PairShape shape = {2, 5, 5, 8};
    for_each_version("jagged_concat", jagged_concat, [&](auto& name, auto launch) {
        grade.is_now(name);
        grade.expect_queued([&](cudaStream_t s) {
            launch(
                d_in, d_offsets, d_in, d_offsets, a.data, d_sums, shape, d_status, s);
        });
    });
    for_each_version("jagged_split", jagged_split, [&](auto& name, auto launch) {
        grade.is_now(name);
        grade.expect_queued([&](cudaStream_t s) {
            launch(d_in, d_offsets, d_offsets, a.data, b.data, shape, d_status, s);
        });
    });
}

TEST_CASE("concat and split: no rows launch nothing") {
    const wb::Offsets none(static_cast<const int64_t*>(nullptr));
    const wb::OffsetsOut no_sums(static_cast<int64_t*>(nullptr));
    const PairShape shape = {0, 0, 0, 8};
    Grader grade("jagged_concat", "no rows");
    grade.expect_no_work([&](cudaStream_t s) {
        jagged_concat(
            nullptr, none, nullptr, none, nullptr, no_sums, shape, nullptr, s);
    });
    grade.is_now("jagged_split");
    grade.expect_no_work([&](cudaStream_t s) {
        jagged_split(nullptr, none, none, nullptr, nullptr, shape, nullptr, s);
    });
}
