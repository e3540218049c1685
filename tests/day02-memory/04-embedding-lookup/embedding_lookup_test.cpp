// Grades day02-memory/04-embedding-lookup: embedding() and embedding_u16().
#include "embedding_lookup.h"

#include <wb/errors.h>
#include <wb/testing/covering.h>
#include <wb/testing/goal.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>

#include "embedding_cases.h"
#include "lookup.h"

using namespace embedding_cases;
using wb::testing::Goal;

TEST_CASE("a few rows of a few columns") {
    const auto s =
        GENERATE(as<Sizes>(), Sizes{1, 1, 1}, Sizes{3, 5, 2}, Sizes{5, 2, 3});
    grade_all<float>(s);
    grade_all<uint16_t>(s);
}

TEST_CASE("rows of 32 to 1024 columns, and odd ones") {
    const int64_t cols = GENERATE(31, 32, 33, 64, 127, 128, 1024, 8200);
    grade_all<float>({5, 7, cols});
    grade_all<uint16_t>({5, 7, cols});
}

TEST_CASE("more rows than a block has warps or threads") {
    const int64_t count = GENERATE(8, 9, 31, 256, 257, 521);
    grade_all<float>({count, 67, 3}, GENERATE(1, 2));
    grade_all<uint16_t>({count, 67, 3});
}

TEST_CASE("edges meet: sizes, indices, and where arrays begin") {
    static const auto cases =
        wb::testing::Covering()
            .factor("count", {1, 7, 8, 9, 33, 65})
            .factor("rows", {1, 2, 31, 64})
            .factor("cols", {1, 2, 3, 4, 6, 8, 12, 31, 32, 33, 64, 130})
            .factor("indices", {"uniform", "one row", "skewed", "rising", "bad"})
            .factor("table from", {0, 1, 2, 4, 8})
            .factor("out from", {0, 1, 2, 4, 8})
            .factor("elements", {"float", "uint16_t"})
            .forbid({"count", "cols"},
                    [](const std::vector<int64_t>& v) { return v[0] * v[1] > 4'000; })
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const Sizes s = {c["count"],
                             c["rows"],
                             c["cols"],
                             static_cast<Spread>(c["indices"]),
                             c["table from"],
                             c["out from"]};
            if (c.words("elements") == "float")
                grade_all<float>(s);
            else
                grade_all<uint16_t>(s);
        }
}

TEST_CASE("an index that is no row is counted, and nothing is written for it") {
    const auto s = GENERATE(as<Sizes>(),
                            Sizes{50, 3, 2, with_bad},
                            Sizes{10, 1, 40, with_bad},
                            Sizes{33, 5, 300, with_bad},
                            Sizes{40, 9, 5, only_bad},
                            Sizes{40, 0, 5, only_bad});
    grade_all<float>(s);
    grade_all<uint16_t>(s);
}

TEST_CASE("bad indices are reported when somebody asks") {
    Grader memory("embedding", "check_indices()");
    unsigned long long* bad = memory.output<unsigned long long>("bad", {1});
    const float* table = memory.input("table", std::vector<float>(6));
    const int64_t* indices = memory.input("indices", Indices{1, 3, -1, 2, 7});
    float* out = memory.output<float>("out", {5, 2});
    CUDA_CHECK(cudaMemset(bad, 0, sizeof *bad));
    embedding(table, out, {indices, 1, 3, 2, bad}, nullptr);
    check_indices(bad, nullptr);  // throws nothing
    embedding(table, out, {indices, 5, 3, 2, bad}, nullptr);
    wb::testing::expect_refused(
        "embedding", "three bad indices", "the number of bad indices is 3", [&] {
            check_indices(bad, nullptr);
        });
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [&] {
            grade_all<float>({4, 3, 5, with_bad});
            grade_all<uint16_t>({2, 4, 8});
        },
        [&] {
            grade_all<float>({9, 7, 4}, 2);
            grade_all<uint16_t>({3, 3, 7, with_bad}, 2);
        });
}

TEST_CASE("many long rows", "[long]") {
    grade_all<float>({1031, 97, 36});
    grade_all<uint16_t>({521, 97, 72});
}

TEST_CASE("more indices, and more rows, than 12 and 16 bits count", "[long]") {
    grade_all<float>({4099, 70'001, 1});
    grade_all<uint16_t>({4099, 70'001, 2});
    grade_all<float>({65'539, 5, 1});
    grade_all<uint16_t>({65'539, 5, 1});
}

TEST_CASE("more columns than 16 bits count", "[long]") {
    grade_all<float>({2, 3, GENERATE(65'541, 65'544)});
    grade_all<uint16_t>({2, 3, GENERATE(65'541, 65'544)});
}

TEST_CASE("zeros of both signs, tiny numbers, infinities and NaNs keep their bits") {
    // Compared as bits: two NaNs of different payload, one of them signalling.
    const std::vector<uint32_t> bits = {0x00000000,
                                        0x80000000,
                                        0x00000001,
                                        0x807FFFFF,
                                        0x7F800000,
                                        0xFF800000,
                                        0x7FC12345,
                                        0xFFA54321,
                                        0x3F800001};
    const int64_t cols = GENERATE(1, 3);
    const int64_t num_rows = static_cast<int64_t>(bits.size()) / cols;
    const Indices indices = make_indices(rising, num_rows, num_rows);
    const std::vector<double> expected(bits.begin(), bits.end());
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding", embedding)) {
        Grader grade(name,
                     "special numbers, as bits, in rows of " + std::to_string(cols));
        const auto* d_table =
            reinterpret_cast<const float*>(grade.input("table", bits));
        auto* d_out =
            reinterpret_cast<float*>(grade.output<uint32_t>("out", {num_rows, cols}));
        const Lookup lookup = {grade.input("indices", indices),
                               num_rows,
                               num_rows,
                               cols,
                               bad_counter(grade)};
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_table, d_out, lookup, stream);
        });
        grade.expect("out", expected, [](int64_t) { return 0.0; });
    }
}

namespace {

/// Queues a launch, and runs nothing.
template <class T>
void queue_one(const std::string& name,
               decltype(Gather<T>::kFunction) launcher,
               const Sizes& s) {
    Grader grade(name, s.text() + ", queued only");
    const T* d_table = grade.output<T>("table", {s.num_rows, s.cols});
    T* d_out = grade.output<T>("out", {s.count, s.cols});
    const Lookup lookup = {grade.input("indices", Indices(at(s.count))),
                           s.count,
                           s.num_rows,
                           s.cols,
                           bad_counter(grade)};
    grade.expect_queued(
        [&](cudaStream_t stream) { launcher(d_table, d_out, lookup, stream); });
}

template <class T>
void queue_all(const Sizes& s) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Gather<T>::kName, Gather<T>::kFunction))
        queue_one<T>(name, launcher, s);
}

}  // namespace

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    queue_all<float>({3, 5, 1});
    queue_all<uint16_t>({9, 5, 3});
    // 65,535 is the most that gridDim.y and gridDim.z can be.
    queue_one<float>("embedding", embedding, {65'536 * 8 + 1, 5, 1});
}

TEST_CASE("a size of zero: nothing is launched") {
    const Sizes s =
        GENERATE(as<Sizes>(), Sizes{0, 3, 4}, Sizes{3, 2, 0}, Sizes{0, 0, 0});
    const Lookup lookup = {nullptr, s.count, s.num_rows, s.cols, nullptr};
    Grader("embedding", s.text()).expect_no_work([&](cudaStream_t stream) {
        embedding(nullptr, nullptr, lookup, stream);
    });
    Grader("embedding_u16", s.text()).expect_no_work([&](cudaStream_t stream) {
        embedding_u16(nullptr, nullptr, lookup, stream);
    });
    grade_one<float>("embedding", embedding, {3, 2, 5}, 1);  // and then it is
    grade_one<uint16_t>("embedding_u16", embedding_u16, {3, 2, 5}, 1);
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    Grader("embedding", "count = 0").expect_no_work([](cudaStream_t stream) {
        embedding(nullptr, nullptr, {nullptr, 0, 1, 1, nullptr}, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 threads are too much for the simulator");
#else
    constexpr int64_t kCols = 1024;
    constexpr int64_t kRows = (int64_t{1} << 21) + 1024;
    constexpr int64_t kCount = kRows * kCols;
    wb::testing::LargeArrays arrays(kCount, kCount);
    if (!arrays.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    arrays.set(kCount - 1, 3.0f);
    arrays.set(5, 5.0f);
    Grader memory("embedding", "indices");
    Indices indices(at(kRows));  // row 0, but for the last but one
    indices[at(kRows - 2)] = kRows - 1;
    const Lookup lookup = {
        memory.input("indices", indices), kRows, kRows, kCols, bad_counter(memory)};
    for (const auto& [name, idea, launcher] :
         wb::implementations("embedding", embedding)) {
        arrays.expect(name,
                      "count rows cols = 2098176 2098176 1024",
                      {5, kCount - kCols - 1, kCount - kCols + 5, kCount - 1},
                      {5.0, 3.0, 5.0, 0.0},
                      [&, launcher = launcher](cudaStream_t stream) {
                          launcher(arrays.x, arrays.y, lookup, stream);
                      });
    }
#endif
}

TEST_CASE("each sector is read once and written once", "[.][goal]") {
    const Goal goal("embedding");
    grade_one<float>("embedding", embedding, {64, 40, 64}, 1);
    grade_one<uint16_t>("embedding_u16", embedding_u16, {64, 40, 64}, 1);
    goal.moves_at_most(1.0);
}
