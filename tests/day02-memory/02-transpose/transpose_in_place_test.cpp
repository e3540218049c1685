// Grades day02-memory/02-transpose: transpose_in_place(), and what all refuse.
#include "transpose.h"

#include <wb/testing/covering.h>
#include <wb/testing/goal.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>

#include <limits>

#include "transpose_cases.h"

namespace {

using wb::testing::Goal;
using wb::testing::Grader;

/// One launcher, on matrices that begin at any element of their memory.
void grade_in_place(const std::string& name,
                    decltype(&transpose_in_place) launcher,
                    int64_t batch,
                    int64_t n,
                    uint64_t seed = 1,
                    int64_t from = 0) {
    Grader grade(name,
                 "batch n = " + std::to_string(batch) + " " + std::to_string(n) +
                     ", from element " + std::to_string(from) + ", seed " +
                     std::to_string(seed));
    const auto values = wb::testing::random_normal(batch * n * n, seed);
    std::vector<float> before(static_cast<size_t>(from), 7.0f);
    before.insert(before.end(), values.begin(), values.end());
    auto expected = wb::reference::transpose(values, batch, n, n);
    expected.insert(expected.begin(), static_cast<size_t>(from), 7.0);
    const wb::testing::Shape shape =
        from == 0 ? wb::testing::Shape{batch, n, n}
                  : wb::testing::Shape{static_cast<int64_t>(expected.size())};
    float* d_matrix = grade.in_out("matrix", shape, before);
    grade.run(
        [&](cudaStream_t stream) { launcher(d_matrix + from, batch, n, stream); });
    grade.expect("matrix", expected, [](int64_t) { return 0.0; });
}

void grade_in_place(int64_t batch, int64_t n, uint64_t seed = 1, int64_t from = 0) {
    for (const auto& [name, idea, launcher] :
         wb::implementations("transpose_in_place", transpose_in_place))
        grade_in_place(name, launcher, batch, n, seed, from);
}

}  // namespace

TEST_CASE("in place: a square of one tile") {
    grade_in_place(1, GENERATE(1, 2, 3, 31, 32));
}

TEST_CASE("in place: tiles above and below the diagonal") {
    grade_in_place(1, GENERATE(33, 64, 65, 130), GENERATE(1, 2));
}

TEST_CASE("in place: edges meet") {
    static const auto cases = wb::testing::Covering()
                                  .factor("batch", {1, 2, 3, 7})
                                  .factor("n", {1, 2, 31, 32, 33, 63, 64, 65, 97})
                                  .factor("from", {0, 1, 2, 3})
                                  .forbid({"batch", "n"},
                                          [](const std::vector<int64_t>& v) {
                                              return v[0] * v[1] * v[1] > 13'000;
                                          })
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_in_place(c["batch"], c["n"], 1, c["from"]);
        }
}

TEST_CASE("in place: many matrices, and one that is large", "[long]") {
    grade_in_place(4099, 2);
    grade_in_place(1, 1057);  // 4099 would take the simulator too long
    grade_in_place(2, 289);
}

TEST_CASE("in place: nothing is kept from call to call") {
    wb::testing::expect_independent([] { grade_in_place(2, 5); },
                                    [] { grade_in_place(1, 33, 2); });
    // Matrices that no array of a few thousand elements holds, and two of one size.
    wb::testing::expect_independent([] { grade_in_place(1, 130); },
                                    [] { grade_in_place(2, 97, 2); },
                                    [] { grade_in_place(1, 130, 3); });
}

TEST_CASE("in place: every bit is kept") {
    const std::vector<uint32_t> bits = {0x80000000,
                                        0x7FC12345,
                                        0x00000001,
                                        0xFFA54321,
                                        0x00000000,
                                        0x7F800000,
                                        0x807FFFFF,
                                        0xFF800000,
                                        0x3F800001};
    const auto expected = wb::reference::transpose(bits, 1, 3, 3);
    for (const auto& [name, idea, launcher] :
         wb::implementations("transpose_in_place", transpose_in_place)) {
        Grader grade(name, "n = 3, special numbers, as bits");
        uint32_t* d_bits = grade.in_out("matrix", {1, 3, 3}, bits);
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(reinterpret_cast<float*>(d_bits), 1, 3, stream);
        });
        grade.expect("matrix", expected, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("in place: all work is queued on the caller's stream") {
    // 65,535 is the most that gridDim.y and gridDim.z can be.
    const int64_t batch = GENERATE(2, 65'536);
    for (const auto& [name, idea, launcher] :
         wb::implementations("transpose_in_place", transpose_in_place)) {
        Grader grade(name, "batch n = " + std::to_string(batch) + " 3, queued only");
        float* d_matrix = grade.output<float>("matrix", {batch * 3 * 3});
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            launcher(d_matrix, batch, 3, stream);
        });
    }
}

TEST_CASE("in place: a size of zero: nothing is launched") {
    const auto [batch, n] = GENERATE(table<int64_t, int64_t>({{0, 3}, {2, 0}, {0, 0}}));
    Grader grade("transpose_in_place",
                 "batch n = " + std::to_string(batch) + " " + std::to_string(n));
    grade.expect_no_work([&, batch = batch, n = n](cudaStream_t stream) {
        transpose_in_place(nullptr, batch, n, stream);
    });
    grade_in_place("transpose_in_place", transpose_in_place, 1, 2);  // and then it is
}

TEST_CASE("in place: more than 2^31 elements", "[large][serial]") {
    Grader("transpose_in_place", "n = 0").expect_no_work([](cudaStream_t stream) {
        transpose_in_place(nullptr, 1, 0, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 threads are too much for the simulator");
#else
    constexpr int64_t kSide = 46'349;  // squared, more than 2^31
    constexpr int64_t kCount = kSide * kSide;
    constexpr int64_t kPlace = 46'340 * kSide + 5;
    wb::testing::LargeArrays arrays(kCount, kCount);
    if (!arrays.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    arrays.set(kPlace, 7.0f);
    arrays.set(kCount - 1, 5.0f);
    for (const auto& [name, idea, launcher] :
         wb::implementations("transpose_in_place", transpose_in_place)) {
        arrays.expect(name,
                      "n = " + std::to_string(kSide),
                      {0, kPlace, 5 * kSide + 46'340, kCount - 1},
                      {0.0, 0.0, 7.0, 5.0},
                      [&, launcher = launcher](cudaStream_t stream) {
                          CUDA_CHECK(cudaMemcpyAsync(arrays.y,
                                                     arrays.x,
                                                     kCount * sizeof(float),
                                                     cudaMemcpyDeviceToDevice,
                                                     stream));
                          launcher(arrays.y, 1, kSide, stream);
                      });
    }
#endif
}

TEST_CASE("in place: each sector is read once and written once", "[.][goal]") {
    const Goal goal("transpose_in_place");
    grade_in_place("transpose_in_place", transpose_in_place, 2, 96);
    goal.moves_at_most(1.0);
}

TEST_CASE("in place: no bank conflicts", "[.][goal][fast]") {
    const Goal goal("transpose_in_place");
    grade_in_place("transpose_in_place", transpose_in_place, 1, 96);
    goal.conflicts_at_most(1.0);
}

TEST_CASE("wrong arguments are refused by name") {
    Grader memory("transpose", "wrong arguments");
    float* d = memory.output<float>("d", {64});
    auto* d16 = reinterpret_cast<uint16_t*>(d);
    float host[8] = {};
    float* null = nullptr;
    const auto refused = [](const char* part, auto... arguments) {
        wb::testing::expect_refused(
            "transpose", part, part, [&] { transpose(arguments..., nullptr); });
    };
    refused("batch is -1", d, d + 32, -1, 2, 2);
    refused("rows is -1", d, d + 32, 1, -1, 2);
    refused("cols is -1", d, d + 32, 1, 2, -1);
    refused("in is a null pointer", null, d, 1, 2, 2);
    refused("out is a null pointer", d, null, 1, 2, 2);
    refused("in is a host pointer", host, d, 1, 2, 2);
    refused("out is a host pointer", d, host, 1, 2, 2);
    auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 2);
    refused("in is not aligned", odd, d + 32, 1, 2, 2);
    refused("out is not aligned", d + 32, odd, 1, 2, 2);
    const auto refused_u16 = [](const char* part, auto... arguments) {
        wb::testing::expect_refused(
            "transpose_u16", part, part, [&] { transpose_u16(arguments..., nullptr); });
    };
    refused_u16("rows is -1", d16, d16 + 32, 1, -1, 2);
    refused_u16("in is a null pointer", static_cast<uint16_t*>(nullptr), d16, 1, 2, 2);
    refused_u16("out is not aligned",
                d16,
                reinterpret_cast<uint16_t*>(reinterpret_cast<char*>(d16) + 65),
                1,
                2,
                2);
    const auto refused_here = [](const char* part, auto... arguments) {
        wb::testing::expect_refused("transpose_in_place", part, part, [&] {
            transpose_in_place(arguments..., nullptr);
        });
    };
    refused_here("batch is -1", d, -1, 2);
    refused_here("n is -1", d, 1, -1);
    refused_here("matrix is a null pointer", null, 1, 2);
    refused_here("matrix is a host pointer", host, 1, 2);
    refused_here("matrix is not aligned", odd, 1, 2);
}

TEST_CASE("arrays that overlap are refused, neighbours are not") {
    using wb::testing::expect_refused;
    constexpr int64_t kRows = 3, kCols = 4, kCount = 2 * kRows * kCols;
    Grader memory("transpose", "arrays that overlap");
    float* d = memory.output<float>("d", {2 * kCount});
    for (const int64_t by : {int64_t{0}, int64_t{1}, kCount - 1}) {
        const std::string apart = "out - in in bytes is " + std::to_string(4 * by);
        expect_refused("transpose", apart, apart + ", but", [&] {
            transpose(d, d + by, 2, kRows, kCols, nullptr);
        });
        const std::string before = "out - in in bytes is " + std::to_string(-2 * by);
        expect_refused("transpose_u16", before, before + ", but", [&] {
            auto* d16 = reinterpret_cast<uint16_t*>(d);
            transpose_u16(d16 + by, d16, 2, kRows, kCols, nullptr);
        });
    }
    // One behind the other, without a gap: in whatever order.
    for (const bool in_first : {true, false}) {
        Grader grade("transpose",
                     in_first ? "out begins where in ends" : "in behind out");
        const auto values = wb::testing::random_normal(kCount, 1);
        const auto wanted = wb::reference::transpose(values, 2, kRows, kCols);
        std::vector<float> before(2 * kCount, 7.0f);
        const int64_t in_at = in_first ? 0 : kCount;
        std::copy(values.begin(), values.end(), before.begin() + in_at);
        std::vector<double> expected(before.begin(), before.end());
        std::copy(wanted.begin(), wanted.end(), expected.begin() + (kCount - in_at));
        float* both = grade.in_out("in and out", {2 * kCount}, before);
        grade.run([&](cudaStream_t stream) {
            transpose(both + in_at, both + kCount - in_at, 2, kRows, kCols, stream);
        });
        grade.expect("in and out", expected, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("sizes that overflow, and more tiles than a grid has blocks, are refused") {
    using wb::testing::expect_refused;
    Grader memory("transpose", "huge sizes");
    float* d = memory.output<float>("d", {8});
    auto* d16 = reinterpret_cast<uint16_t*>(d);
    // 2^66 elements: multiplied in 64 bits, that is 0.
    const int64_t k = int64_t{1} << 22;
    const char* overflows = "does not fit into 64 bits";
    expect_refused("transpose", "2^22 each", overflows, [&] {
        transpose(d, d + 4, k, k, k, nullptr);
    });
    expect_refused("transpose_u16", "2^22 each", overflows, [&] {
        transpose_u16(d16, d16 + 4, k, k, k, nullptr);
    });
    expect_refused("transpose_in_place", "2^22 each", overflows, [&] {
        transpose_in_place(d, k, k, nullptr);
    });
    // A tile for each matrix: one too many for a grid.
    const int64_t many = int64_t{1} << 31;
    const char* too_many = "tiles is 2147483648, but";
    expect_refused("transpose", "2^31 matrices", too_many, [&] {
        transpose(d, d + 4, many, 1, 1, nullptr);
    });
    expect_refused("transpose", "2^21 x 2^20", too_many, [&] {
        transpose(d, d + 4, 1, int64_t{1} << 21, int64_t{1} << 20, nullptr);
    });
    expect_refused("transpose_in_place", "2^31 matrices", too_many, [&] {
        transpose_in_place(d, many, 1, nullptr);
    });
}
