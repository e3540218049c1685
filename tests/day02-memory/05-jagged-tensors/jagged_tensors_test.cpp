// Grades day02-memory/05-jagged-tensors: offsets, and the way to dense and back.
#include "jagged_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace jagged_grading;

namespace {

void grade_offsets(const std::vector<int32_t>& lengths, bool wide) {
    const auto num_rows = static_cast<int64_t>(lengths.size());
    const std::string text =
        std::to_string(num_rows) + " rows, " + (wide ? "64" : "32") + " bits";
    for_each_version("jagged_offsets", jagged_offsets, [&](auto& name, auto launch) {
        Grader grade(name, text);
        const int32_t* d_lengths =
            grade.input("lengths", lengths, begin_of(lengths.size()));
        const wb::OffsetsOut d_offsets = offsets_output(grade, num_rows + 1, wide);
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(d_lengths, d_offsets, num_rows, d_status, s);
        });
        grade.expect(
            "offsets", as_doubles(wb::reference::jagged_offsets(lengths)), exactly);
        expect_status(grade);
    });
}

/// One conversion; arrays may begin at any element.
struct Conversion {
    HostOffsets offsets;
    int64_t max_length;
    int64_t dim;
    bool wide = false;
    int64_t values_from = 0;
    int64_t dense_from = 0;

    JaggedShape shape() const {
        return {
            static_cast<int64_t>(offsets.size()) - 1, offsets.back(), max_length, dim};
    }
    std::string text() const {
        const auto s = shape();
        return std::to_string(s.num_rows) + " rows, " + std::to_string(s.total) +
               " entries, max_length " + std::to_string(max_length) + ", dim " +
               std::to_string(dim) + (wide ? ", 64" : ", 32") + " bits, from " +
               std::to_string(values_from) + " and " + std::to_string(dense_from);
    }
};

template <class T>
void grade_to_dense(const Conversion& c, const std::vector<T>& values) {
    const auto expected =
        wb::reference::jagged_to_dense(values, c.offsets, c.max_length, c.dim);
    const JaggedShape shape = c.shape();
    for_each_version("jagged_to_dense", jagged_to_dense, [&](auto& name, auto launch) {
        // What all callers do; only the contract's function does it for itself.
        if (c.max_length == 0 && name != "jagged_to_dense") return;
        Grader grade(name, c.text());
        const auto* d_values = upload(grade, "values", values, c.values_from);
        const auto d_offsets = upload_offsets(grade, "offsets", c.offsets, c.wide);
        Output<T> dense(
            grade, "dense", static_cast<int64_t>(expected.size()), c.dense_from);
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(d_values, d_offsets, dense.data, shape, d_status, s);
        });
        dense.expect(expected);
        expect_status(grade);
    });
}

template <class T>
void grade_from_dense(const Conversion& c, const std::vector<T>& dense) {
    const auto expected =
        wb::reference::dense_to_jagged(dense, c.offsets, c.max_length, c.dim);
    const JaggedShape shape = c.shape();
    for_each_version("dense_to_jagged", dense_to_jagged, [&](auto& name, auto launch) {
        Grader grade(name, c.text());
        const auto* d_dense = upload(grade, "dense", dense, c.dense_from);
        const auto d_offsets = upload_offsets(grade, "offsets", c.offsets, c.wide);
        Output<T> values(
            grade, "values", static_cast<int64_t>(expected.size()), c.values_from);
        JaggedStatus* d_status = status_array(grade);
        grade.run([&](cudaStream_t s) {
            launch(d_dense, d_offsets, values.data, shape, d_status, s);
        });
        values.expect(expected);
        expect_status(grade);
    });
}

void grade_to_dense(const Conversion& c, uint64_t seed = 1) {
    grade_to_dense(c, numbers(c.offsets.back() * c.dim, seed));
}

void grade_from_dense(const Conversion& c, uint64_t seed = 1) {
    grade_from_dense(c, numbers(c.shape().num_rows * c.max_length * c.dim, seed));
}

/// Rows of all kinds, sizes and alignments of both arrays.
std::vector<wb::testing::Combination> conversion_cases() {
    auto cases = wb::testing::Covering()
                     .factor("rows", kKinds)
                     .factor("num_rows", {1, 2, 31, 33, 97, 260})
                     .factor("max_length", {0, 1, 7, 20, 45})
                     .factor("dim", {1, 2, 3, 8, 10, 32, 64})
                     .factor("bits", {32, 64})
                     .factor("values from", {0, 1, 2})
                     .factor("dense from", {0, 1, 2})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 8, cases.end());
    return cases;
}

Conversion conversion_of(const wb::testing::Combination& c) {
    return {offsets_of(c["rows"], c["num_rows"], 1),
            c["max_length"],
            c["dim"],
            c["bits"] == 64,
            c["values from"],
            c["dense from"]};
}

}  // namespace

TEST_CASE("offsets: one round of a block") {
    const int64_t num_rows = GENERATE(as<int64_t>(), 1, 2, 31, 32, 33, 255, 256);
    grade_offsets(lengths_of(kMixed, num_rows, 1), GENERATE(false, true));
}

TEST_CASE("offsets: many rows, of all kinds") {
    const int64_t num_rows = GENERATE(as<int64_t>(), 257, 1023, 1024, 1025, 4099);
    const int64_t kind = num_rows % 2 == 0 ? kMixed : kSomeEmpty;
    grade_offsets(lengths_of(kind, num_rows, 2), num_rows % 3 == 0);
}

TEST_CASE("offsets: more blocks than one can add up at once") {
    if (wb::testing::is_watched()) return;
    grade_offsets(lengths_of(kMixed, 1'100'001, 3), true);
}

TEST_CASE("offsets: no rows have one offset") {
    grade_offsets({}, GENERATE(false, true));
}

TEST_CASE("offsets: all rows are empty") {
    grade_offsets(lengths_of(kAllEmpty, 300, 1), GENERATE(false, true));
}

TEST_CASE("offsets: sums beyond 32 bits, and up to the last of them") {
    grade_offsets({2'000'000'000, 0, 2'000'000'000, 2'000'000'000, 5}, true);
    std::vector<int32_t> lengths(at(2100), 1'000'000);  // and over several blocks
    grade_offsets(lengths, false);                      // 2'100'000'000 < 2^31
    lengths.resize(at(5000), 1'000'000);
    grade_offsets(lengths, true);
    grade_offsets({2'147'483'640, 7, 0}, false);
}

TEST_CASE("to dense: few rows") {
    const int64_t num_rows = GENERATE(as<int64_t>(), 1, 2, 3);
    grade_to_dense({offsets_of(kMixed, num_rows, 4), 40, 4, GENERATE(false, true)});
}

TEST_CASE("to dense: rows, sizes, and where arrays begin") {
    static const auto cases = conversion_cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_to_dense(conversion_of(c));
        }
}

TEST_CASE("to dense: many rows, short ones and one long one") {
    grade_to_dense({offsets_of(kMixed, 1009, 5), 3, 2, false});
    grade_to_dense({offsets_of(kFew, 5003, 5), 1, 1, true});
    grade_to_dense({{0, 3000}, 3100, 8, true});
    grade_to_dense({{0, 0, 2500, 2500}, 2600, 8, false});
}

TEST_CASE("from dense: few rows") {
    const int64_t num_rows = GENERATE(as<int64_t>(), 1, 2, 3);
    grade_from_dense({offsets_of(kMixed, num_rows, 4), 40, 4, GENERATE(false, true)});
}

TEST_CASE("from dense: rows, sizes, and where arrays begin") {
    static const auto cases = conversion_cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_from_dense(conversion_of(c));
        }
}

TEST_CASE("from dense: many rows, short ones and one long one") {
    grade_from_dense({offsets_of(kMixed, 63, 5), 40, 8, true});
    grade_from_dense({offsets_of(kMixed, 2003, 5), 3, 2, false});
    grade_from_dense({offsets_of(kFew, 5003, 5), 2, 1, true});
    grade_from_dense({{0, 3000}, 3100, 8, false});
    // With 1024 words in a tile: rows begin with the last word of one.
    grade_from_dense({{0, 1023, 1025, 2047, 2050}, 1030, 8, true});
    HostOffsets last_has_all(at(3000), 0);  // behind as many empty rows
    last_has_all.push_back(1500);
    grade_from_dense({last_has_all, 2, 8, true});
    HostOffsets first_has_all(at(3000), 1500);
    first_has_all[0] = 0;
    grade_from_dense({first_has_all, 2, 8, false});
}

TEST_CASE("to dense and back: one of the arrays begins inside of a word") {
    const auto [values_from, dense_from] =
        GENERATE(table<int, int>({{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 4}, {4, 0}}));
    const Conversion c = {
        offsets_of(kMixed, 9, 8), 25, 8, false, values_from, dense_from};
    grade_to_dense(c);
    grade_from_dense(c);
}

TEST_CASE("to dense and back: wide entries, in rows of more than 128") {
    // Of more elements than a warp, or a block, can have threads.
    const bool wide = GENERATE(false, true);
    const HostOffsets rows = {0, 140, 140, 290, 300, 450};
    for (const int64_t dim : {131, 256, 1032, 1101}) {
        grade_to_dense({rows, 145, dim, wide});
        grade_from_dense({rows, 145, dim, wide});
    }
}

TEST_CASE("to dense and back: a row of more entries than 16 bits count", "[long]") {
    const Conversion c = {{0, 3, 65'540}, 65'539, 1, true};
    grade_to_dense(c);
    grade_from_dense(c);
}

TEST_CASE("to dense and back: more rows than 16 bits count", "[long]") {
    const Conversion c = {offsets_of(kAllEmpty, 65'539, 5), 1, 1};
    Conversion last = c;
    last.offsets.back() = 2;
    grade_to_dense(last);
    grade_from_dense(last);
}

TEST_CASE("to dense and back: any bits, also those of no number") {
    const int64_t dim = GENERATE(as<int64_t>(), 1, 2, 8);
    const Conversion c = {offsets_of(kMixed, 40, 6), 25, dim};
    grade_to_dense(c, odd_bits(c.offsets.back() * dim, 3));
    grade_from_dense(c, odd_bits(c.shape().num_rows * c.max_length * dim, 4));
}

TEST_CASE("jagged tensors are right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2, 3));
    grade_offsets(lengths_of(kMixed, 2500, 7), false);
    const Conversion c = {offsets_of(kMixed, 50, 7), 30, 8};
    grade_to_dense(c);
    grade_from_dense(c);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("offsets: nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] { grade_offsets(lengths_of(kMixed, 300, 1), true); },
        [] { grade_offsets(lengths_of(kMixed, 2500, 2), false); });
    // More rows than one block can add up at once in a few rounds.
    wb::testing::expect_independent(
        [] { grade_offsets(lengths_of(kMixed, 9000, 1), true); },
        [] { grade_offsets(lengths_of(kMixed, 20'000, 2), true); },
        [] { grade_offsets(lengths_of(kMixed, 9000, 3), true); });
}

TEST_CASE("to dense and back: nothing is kept from call to call") {
    const Conversion first = {offsets_of(kMixed, 30, 1), 20, 8};
    const Conversion second = {offsets_of(kSomeEmpty, 70, 2), 45, 3, true};
    wb::testing::expect_independent([&] { grade_to_dense(first); },
                                    [&] { grade_to_dense(second); });
    wb::testing::expect_independent([&] { grade_from_dense(first); },
                                    [&] { grade_from_dense(second); });
}

TEST_CASE("offsets are queued on the caller's stream") {
    for_each_version("jagged_offsets", jagged_offsets, [](auto& name, auto launch) {
        Grader grade(name, "3 rows");
        const int32_t* d_lengths =
            grade.input("lengths", std::vector<int32_t>{1, 2, 3});
        int64_t* d_offsets = grade.output<int64_t>("offsets", {4});
        JaggedStatus* d_status = status_array(grade);
        grade.expect_queued(
            [&](cudaStream_t s) { launch(d_lengths, d_offsets, 3, d_status, s); });
    });
}

TEST_CASE("conversions are queued on the caller's stream") {
    Grader grade("jagged_to_dense", "2 rows");
    const auto* d_in = upload(grade, "in", numbers(100, 1));
    const HostOffsets rows = {0, 3, 5};
    const auto d_offsets = upload_offsets(grade, "offsets", rows, true);
    Output<float> out(grade, "out", 100);
    JaggedStatus* d_status = status_array(grade);
    const JaggedShape shape = {2, 5, 4, 8};
    for_each_version("jagged_to_dense", jagged_to_dense, [&](auto& name, auto launch) {
        grade.is_now(name);
        grade.expect_queued([&](cudaStream_t s) {
            launch(d_in, d_offsets, out.data, shape, d_status, s);
        });
    });
    for_each_version("dense_to_jagged", dense_to_jagged, [&](auto& name, auto launch) {
        grade.is_now(name);
        grade.expect_queued([&](cudaStream_t s) {
            launch(d_in, d_offsets, out.data, shape, d_status, s);
        });
    });
}

TEST_CASE("no rows, or no place in them: nothing is launched") {
    const wb::Offsets none(static_cast<const int64_t*>(nullptr));
    Grader grade("jagged_to_dense", "no rows");
    grade.expect_no_work([&](cudaStream_t s) {
        jagged_to_dense(nullptr, none, nullptr, {0, 0, 5, 8}, nullptr, s);
    });
    grade.is_now("dense_to_jagged");
    grade.expect_no_work([&](cudaStream_t s) {
        dense_to_jagged(nullptr, none, nullptr, {0, 0, 5, 8}, nullptr, s);
    });
    grade.is_now("jagged_to_dense");
    const HostOffsets rows = {0, 3, 5};
    const auto d_offsets = upload_offsets(grade, "offsets", rows, true);
    const auto* d_values = upload(grade, "values", numbers(40, 1));
    JaggedStatus* d_status = status_array(grade);
    grade.expect_no_work([&](cudaStream_t s) {
        jagged_to_dense(d_values, d_offsets, nullptr, {2, 5, 0, 8}, d_status, s);
    });
}
