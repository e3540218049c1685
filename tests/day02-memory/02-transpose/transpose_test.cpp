// Grades day02-memory/02-transpose: transpose() and transpose_u16().
#include "transpose.h"

#include <wb/testing/covering.h>
#include <wb/testing/goal.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>

#include <cstring>

#include "transpose_cases.h"

using wb::testing::Goal;
using wb::testing::Grader;

TEST_CASE("one matrix, wide or high") {
    const auto s =
        GENERATE(as<Sizes>(), Sizes{1, 2, 3}, Sizes{1, 3, 2}, Sizes{1, 70, 1});
    grade_all<float>(s);
    grade_all<uint16_t>(s);
}

TEST_CASE("several matrices, each by itself") {
    const auto s =
        GENERATE(as<Sizes>(), Sizes{3, 2, 5}, Sizes{2, 5, 3}, Sizes{5, 4, 4});
    grade_all<float>(s, GENERATE(1, 2));
    grade_all<uint16_t>(s);
}

TEST_CASE("nothing is kept from call to call") {
    wb::testing::expect_independent(
        [&] {
            grade_all<float>({2, 3, 5});
            grade_all<uint16_t>({2, 4, 6});
        },
        [&] {
            grade_all<float>({3, 7, 2}, 2);
            grade_all<uint16_t>({1, 3, 7}, 2);
        });
}

TEST_CASE("31, 32 and 33 rows and columns") {
    const int64_t rows = GENERATE(31, 32, 33);
    const int64_t cols = GENERATE(31, 32, 33);
    grade_all<float>({1, rows, cols});
    grade_all<uint16_t>({1, rows, cols});
}

namespace {

template <class T>
void grade_edges(const wb::testing::Combination& c) {
    grade_all<T>({c["batch"], c["rows"], c["cols"], c["in from"], c["out from"]});
}

}  // namespace

TEST_CASE("edges meet: sizes, and where arrays begin") {
    const std::initializer_list<int64_t> sides = {1, 2, 5, 31, 32, 33, 63, 64, 65, 130};
    static const auto cases =
        wb::testing::Covering()
            .factor("batch", {1, 2, 3})
            .factor("rows", sides)
            .factor("cols", sides)
            .factor("in from", {0, 1, 2, 3})
            .factor("out from", {0, 1, 2, 3})
            .factor("elements", {"float", "uint16_t"})
            .forbid({"batch", "rows", "cols"},
                    [](const std::vector<int64_t>& v) {
                        return v[0] * v[1] * v[2] > 10'000;  // takes long
                    })
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            if (c.words("elements") == "float")
                grade_edges<float>(c);
            else
                grade_edges<uint16_t>(c);
        }
}

TEST_CASE("primes along every dimension") {
    const auto s = GENERATE(as<Sizes>(), Sizes{3, 67, 131}, Sizes{2, 127, 61});
    grade_all<float>(s, GENERATE(1, 2));
    grade_all<uint16_t>(s);
}

TEST_CASE("a single row, a single column, and matrices of one element") {
    const auto s = GENERATE(as<Sizes>(),
                            Sizes{1, 1, 1},
                            Sizes{1, 1, 1031},
                            Sizes{1, 1031, 1},
                            Sizes{2, 3, 515},
                            Sizes{2, 515, 3},
                            Sizes{67, 1, 1});
    grade_all<float>(s);
    grade_all<uint16_t>(s);
}

TEST_CASE("more than 4096 rows, columns, or matrices", "[long]") {
    const auto s = GENERATE(as<Sizes>(),
                            Sizes{1, 4099, 3},
                            Sizes{1, 3, 4099},
                            Sizes{1, 4098, 2},
                            Sizes{1, 2, 4098},
                            Sizes{4099, 1, 2},
                            Sizes{1, 65'541, 3},  // 16 bits do not count them
                            Sizes{1, 2, 65'542});
    grade_all<float>(s);
    grade_all<uint16_t>(s);
}

TEST_CASE("arrays that begin in the middle of a word") {
    grade_all<uint16_t>(GENERATE(
        as<Sizes>(), Sizes{1, 2, 2, 1, 0}, Sizes{1, 2, 2, 0, 1}, Sizes{1, 2, 2, 1, 1}));
}

TEST_CASE("sizes of which two elements fill a word, and sizes of which not") {
    // Even and odd rows and columns, and arrays that begin in the middle of a word.
    const auto s = GENERATE(as<Sizes>(),
                            Sizes{3, 66, 34},
                            Sizes{3, 66, 35},
                            Sizes{3, 65, 34},
                            Sizes{2, 66, 70, 1, 0},
                            Sizes{2, 66, 70, 0, 1},
                            Sizes{2, 66, 70, 2, 2},
                            Sizes{3, 32, 32},
                            Sizes{2, 64, 64});
    grade_all<uint16_t>(s);
}

TEST_CASE("a large matrix that no tile divides", "[long]") {
    grade_all<float>({1, 257, 1031});
    grade_all<uint16_t>({1, 258, 1030});
}

TEST_CASE("zeros of both signs, tiny numbers, infinities and NaNs keep their bits") {
    // Compared as bits: two NaNs of different payload, one of them signalling.
    const std::vector<uint32_t> bits = {0x00000000,
                                        0x80000000,
                                        0x00000001,
                                        0x807FFFFF,
                                        0x00800000,
                                        0x7F7FFFFF,
                                        0x7F800000,
                                        0xFF800000,
                                        0x7FC12345,
                                        0xFFA54321,
                                        0x3F800000,
                                        0x3F800001};
    const int64_t rows = 3, cols = 4;
    const auto expected = wb::reference::transpose(bits, 1, rows, cols);
    for (const auto& [name, idea, launcher] :
         wb::implementations("transpose", transpose)) {
        Grader grade(name, "rows = 3, cols = 4, special numbers, as bits");
        const auto* d_in = reinterpret_cast<const float*>(grade.input("in", bits));
        auto* d_out =
            reinterpret_cast<float*>(grade.output<uint32_t>("out", {1, cols, rows}));
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_in, d_out, 1, rows, cols, stream);
        });
        grade.expect("out", expected, [](int64_t) { return 0.0; });
    }
}

namespace {

/// Queues a launch of all versions, and runs none.
template <class T>
void queue_all(const Sizes& s) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Contract<T>::kName, Contract<T>::kFunction)) {
        Grader grade(name, s.text() + ", queued only");
        const std::vector<T> zeros(static_cast<size_t>(s.count()));
        const T* d_in = grade.input("in", zeros);
        T* d_out = grade.output<T>("out", {s.count()});
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_in, d_out, s.batch, s.rows, s.cols, stream);
        });
    }
}

}  // namespace

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    const Sizes s = GENERATE(as<Sizes>(), Sizes{2, 34, 66}, Sizes{1, 33, 7});
    queue_all<float>(s);
    queue_all<uint16_t>(s);
}

TEST_CASE("more tiles than a grid is high are queued like any others") {
    // 65,535 is the most that gridDim.y and gridDim.z can be.
    queue_all<float>({65'536, 1, 1});
    constexpr int64_t kRows = 32 * 65'536;
    Grader grade("transpose", Sizes{1, kRows, 1}.text() + ", queued only");
    const float* d_in = grade.output<float>("in", {kRows});  // nothing is read
    float* d_out = grade.output<float>("out", {kRows});
    grade.expect_queued(
        [&](cudaStream_t stream) { transpose(d_in, d_out, 1, kRows, 1, stream); });
}

TEST_CASE("a size of zero: nothing is launched") {
    const Sizes s = GENERATE(
        as<Sizes>(), Sizes{0, 3, 4}, Sizes{2, 0, 4}, Sizes{2, 3, 0}, Sizes{0, 0, 0});
    Grader("transpose", s.text()).expect_no_work([&](cudaStream_t stream) {
        transpose(nullptr, nullptr, s.batch, s.rows, s.cols, stream);
    });
    Grader("transpose_u16", s.text()).expect_no_work([&](cudaStream_t stream) {
        transpose_u16(nullptr, nullptr, s.batch, s.rows, s.cols, stream);
    });
    // And then it is: past a tile of 64, and from the middle of a word on.
    grade_one<float>("transpose", transpose, {1, 70, 1}, 1);
    grade_one<uint16_t>("transpose_u16", transpose_u16, {1, 2, 2, 1, 1}, 1);
}

TEST_CASE("more than 2^31 elements, along each dimension", "[large][serial]") {
    Grader("transpose", "batch = 0").expect_no_work([](cudaStream_t stream) {
        transpose(nullptr, nullptr, 0, 1, 1, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 threads are too much for the simulator");
#else
    constexpr int64_t kMany = (int64_t{1} << 31) + (int64_t{1} << 20);
    constexpr int64_t kSide = 46'349;  // squared, more than 2^31
    static_assert(kSide * kSide <= kMany && kMany % 2048 == 0, "they fit");
    wb::testing::LargeArrays arrays(kMany, kMany);
    if (!arrays.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    const int64_t inside = 46'340 * kSide + 5;
    arrays.set(kMany - 1, 3.0f);
    arrays.set(kSide * kSide - 1, 5.0f);
    arrays.set(inside, 7.0f);
    const auto expect = [&](const std::string& name,
                            decltype(&transpose) launcher,
                            const Sizes& s,
                            const std::vector<int64_t>& places,
                            const std::vector<double>& values) {
        arrays.expect(name, s.text(), places, values, [&](cudaStream_t stream) {
            launcher(arrays.x, arrays.y, s.batch, s.rows, s.cols, stream);
        });
    };
    for (const auto& [name, idea, launcher] :
         wb::implementations("transpose", transpose)) {
        expect(name,
               launcher,
               {1, kSide, kSide},
               {0, 5 * kSide + 46'340, kSide * kSide - 1},
               {0.0, 7.0, 5.0});
        expect(name, launcher, {kMany / 2048, 32, 64}, {0, kMany - 1}, {0.0, 3.0});
    }
    // A tile has only 32 elements here, so that there are very many.
    const std::vector<int64_t> places = {0, inside, kMany - 1};
    expect("transpose", transpose, {1, 1, kMany}, places, {0.0, 7.0, 3.0});
    expect("transpose", transpose, {1, kMany, 1}, places, {0.0, 7.0, 3.0});
#endif
}

namespace {

/// Counts what the contract's function moves; all rows of the matrices begin with a
/// sector.
template <class T>
void count_sectors() {
    const Goal goal(Contract<T>::kName);
    grade_one<T>(Contract<T>::kName, Contract<T>::kFunction, {2, 64, 96}, 1);
    goal.moves_at_most(1.0);
}

}  // namespace

TEST_CASE("each sector is read once and written once", "[.][goal]") {
    count_sectors<float>();
    count_sectors<uint16_t>();
}

TEST_CASE("no bank conflicts", "[.][goal][fast]") {
    const Goal goal("transpose");
    grade_one<float>("transpose", transpose, {1, 96, 64}, 1);
    goal.conflicts_at_most(1.0);
}
