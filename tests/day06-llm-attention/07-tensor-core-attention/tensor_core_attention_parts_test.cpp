// Grades day06-llm-attention/07-tensor-core-attention: the functions of v2, one at a
// time. A program without them, such as a known-wrong kernel with products of its own,
// passes.
#include "grade_types.h"

#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <string>
#include <vector>

using namespace wb::testing;

// All tests of a chapter may be one source.
namespace parts_of_v2 {

inline constexpr int kPartLanes = 32;
inline constexpr int kPartRows = 16;  // of a warp
inline constexpr int kPartKeys = 64;  // of a tile
inline constexpr int kPartDim = 64;

/// Element e of a lane's accumulator of 16x8: "Matrix fragments for mma.m16n8k16" of
/// the PTX ISA.
inline int row_of(int lane, int e) {
    return lane / 4 + (e < 2 ? 0 : 8);
}
inline int column_of(int lane, int e) {
    return lane % 4 * 2 + (e & 1);
}

/// Runs a part, if there is one.
template <class Function, class Run>
void grade_part(const char* name, const std::string& text, Run run) {
    for (const auto& [part, idea, function] :
         wb::implementations<Function>(name, nullptr)) {
        if (function == nullptr) continue;
        Grader grade(part, text);
        run(grade, function);
    }
}

/// What is in `tiles` accumulators side by side, lane by lane, of a matrix of 16 rows.
/// @param at  element of a row and a column
template <class At>
std::vector<double> lane_by_lane(int tiles, At at) {
    std::vector<double> elements;
    for (int n = 0; n < tiles; ++n)
        for (int lane = 0; lane < kPartLanes; ++lane)
            for (int e = 0; e < 4; ++e)
                elements.push_back(at(row_of(lane, e), 8 * n + column_of(lane, e)));
    return elements;
}

/// Whole numbers from -4 to 4: products and sums of them are exact.
inline std::vector<__half> whole_numbers(int count, uint64_t seed) {
    Random random(seed);
    std::vector<__half> numbers;
    for (int i = 0; i < count; ++i)
        numbers.push_back(static_cast<__half>(static_cast<float>(random.below(9)) - 4));
    return numbers;
}

inline double number(const std::vector<__half>& matrix, int row, int column) {
    return static_cast<double>(
        static_cast<float>(matrix[static_cast<size_t>(row * kPartDim + column)]));
}

inline const auto exactly = [](int64_t) { return 0.0; };

}  // namespace parts_of_v2

using namespace parts_of_v2;

TEST_CASE("parts: the row and the column of an accumulator's element", "[first]") {
    grade_part<void(int2*, cudaStream_t)>(
        "fragment_places",
        "{row, column} of element e of a lane",
        [](Grader& grade, auto* function) {
            auto* places = grade.output<int>("places", {kPartLanes, 4, 2});
            grade.run(
                [&](cudaStream_t s) { function(reinterpret_cast<int2*>(places), s); });
            std::vector<double> expected;
            for (int lane = 0; lane < kPartLanes; ++lane)
                for (int e = 0; e < 4; ++e) {
                    expected.push_back(row_of(lane, e));
                    expected.push_back(column_of(lane, e));
                }
            grade.expect("places", expected, exactly);
        });
}

TEST_CASE("parts: two accumulators as a factor", "[first]") {
    grade_part<void(const float*, const float*, uint32_t*, cudaStream_t)>(
        "as_factor",
        "left has 0, 1, 2, ... lane by lane, right has 128, 129, ...",
        [](Grader& grade, auto* function) {
            std::vector<float> left;
            std::vector<float> right;
            for (int i = 0; i < kPartLanes * 4; ++i) {
                left.push_back(static_cast<float>(i));
                right.push_back(static_cast<float>(128 + i));
            }
            const auto* d_left = grade.input("left", left);
            const auto* d_right = grade.input("right", right);
            // Two numbers in each of four registers.
            auto* a = grade.output<__half>("a", {kPartLanes, 4, 2}, Begin::vectors);
            grade.run([&](cudaStream_t s) {
                function(d_left, d_right, reinterpret_cast<uint32_t*>(a), s);
            });
            // Rows 0 to 7, 8 to 15, and the same of the right half.
            std::vector<double> expected;
            for (size_t lane = 0; lane < kPartLanes; ++lane)
                for (size_t i = 0; i < 4; ++i)
                    for (size_t e = 0; e < 2; ++e)
                        expected.push_back(
                            (i < 2 ? left : right)[4 * lane + i % 2 * 2 + e]);
            grade.expect("a", expected, exactly);
        });
}

TEST_CASE("parts: scores of 16 queries and 64 keys", "[first]") {
    grade_part<void(const __half*, const __half*, float*, cudaStream_t)>(
        "score_keys", "whole numbers, seed 1", [](Grader& grade, auto* function) {
            const auto q = whole_numbers(kPartRows * kPartDim, 1);
            const auto k = whole_numbers(kPartKeys * kPartDim, 2);
            const auto* d_q = grade.input("q", q);
            const auto* d_k = grade.input("k", k);
            auto* scores = grade.output<float>("s", {kPartKeys / 8, kPartLanes, 4});
            grade.run([&](cudaStream_t s) { function(d_q, d_k, scores, s); });
            grade.expect("s",
                         lane_by_lane(kPartKeys / 8,
                                      [&](int row, int key) {
                                          double sum = 0.0;
                                          for (int d = 0; d < kPartDim; ++d)
                                              sum +=
                                                  number(q, row, d) * number(k, key, d);
                                          return sum;
                                      }),
                         exactly);
        });
}

TEST_CASE("parts: what 64 values give to 16 rows", "[first]") {
    grade_part<void(const float*, const __half*, float*, cudaStream_t)>(
        "add_values", "whole numbers, seed 3", [](Grader& grade, auto* function) {
            const auto matrix =
                whole_numbers(kPartRows * kPartDim, 3);  // kPartKeys is kPartDim
            const auto v = whole_numbers(kPartKeys * kPartDim, 4);
            const auto held = lane_by_lane(kPartKeys / 8, [&](int row, int key) {
                return number(matrix, row, key);
            });
            const auto* d_weights =
                grade.input("weights", std::vector<float>(held.begin(), held.end()));
            const auto* d_v = grade.input("v", v);
            auto* o = grade.output<float>("o", {kPartDim / 8, kPartLanes, 4});
            grade.run([&](cudaStream_t s) { function(d_weights, d_v, o, s); });
            grade.expect("o",
                         lane_by_lane(kPartDim / 8,
                                      [&](int row, int d) {
                                          double sum = 0.0;
                                          for (int key = 0; key < kPartKeys; ++key)
                                              sum += number(matrix, row, key) *
                                                     number(v, key, d);
                                          return sum;
                                      }),
                         exactly);
        });
}
