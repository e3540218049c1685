// Grades day04-gemm/02-wmma: arguments, streams, large matrices.
#include "grading.h"

#include <wb/check.h>
#include <wb/testing/fail.h>
#include <wb/testing/large.h>
#include <wb/testing/refuses.h>

#include <algorithm>
#include <cstring>

using namespace wmma_grading;

namespace {

/// Right arguments of one of the functions: A and B of 4 x 8 and 8 x 6 numbers, C of 4
/// x 6. A test changes one of them.
template <class T>
struct Arguments {
    const T* A;
    const T* B;
    float* C;
    wb::GemmShape shape = {4, 6, 8, false, false, 8, 6, 6};
};

template <class T>
void refuse_wrong_arguments() {
    Grader memory(Format<T>::kFunction, "wrong arguments");
    float* const d = memory.output<float>("d", {512});
    const Arguments<T> right = {
        reinterpret_cast<const T*>(d), reinterpret_cast<const T*>(d + 128), d + 256};
    const auto refuse = [&](const std::string& part, auto change) {
        Arguments<T> a = right;
        change(a);
        wb::testing::expect_refused(Format<T>::kFunction, part, part, [&] {
            Format<T>::kContract(a.shape, a.A, a.B, a.C, nullptr);
        });
    };
    wb::testing::expect_older_gpu_refused(Format<T>::kFunction, [&] {
        Format<T>::kContract(right.shape, right.A, right.B, right.C, nullptr);
    });
    constexpr int64_t kHuge = int64_t{1} << 61;
    const std::string size = std::to_string(sizeof(T));
    refuse("shape.M is -1", [](auto& a) { a.shape.M = -1; });
    refuse("shape.N is -1", [](auto& a) { a.shape.N = -1; });
    refuse("shape.K is -1", [](auto& a) { a.shape.K = -1; });
    refuse("shape.lda is 7", [](auto& a) { a.shape.lda = 7; });
    refuse("shape.ldb is 5", [](auto& a) { a.shape.ldb = 5; });
    refuse("shape.ldc is 5", [](auto& a) { a.shape.ldc = 5; });
    refuse("rows * lda * bytes = 4 * 2305843009213693952 * " + size,
           [](auto& a) { a.shape.lda = kHuge; });
    refuse("rows * ldb * bytes = 8 * 2305843009213693952 * " + size,
           [](auto& a) { a.shape.ldb = kHuge; });
    refuse("rows * ldc * bytes = 4 * 2305843009213693952 * 4",
           [](auto& a) { a.shape.ldc = kHuge; });
    refuse("shape.M is 2147483648", [](auto& a) { a.shape.M = int64_t{1} << 31; });
    refuse("shape.transpose_a is 1", [](auto& a) { a.shape.transpose_a = true; });
    refuse("shape.transpose_b is 1", [](auto& a) { a.shape.transpose_b = true; });
    refuse("A is a null pointer", [](auto& a) { a.A = nullptr; });
    refuse("B is a null pointer", [](auto& a) { a.B = nullptr; });
    refuse("C is a null pointer", [](auto& a) { a.C = nullptr; });
    float host[64] = {};
    const auto* host_factor = reinterpret_cast<const T*>(host);
    refuse("A is a host pointer", [&](auto& a) { a.A = host_factor; });
    refuse("B is a host pointer", [&](auto& a) { a.B = host_factor; });
    refuse("C is a host pointer", [&](auto& a) { a.C = host; });
    const auto odd = [](auto* pointer) {
        using Pointer = decltype(pointer);
        return reinterpret_cast<Pointer>(reinterpret_cast<uintptr_t>(pointer) + 1);
    };
    refuse("A is not aligned", [&](auto& a) { a.A = odd(a.A); });
    refuse("B is not aligned", [&](auto& a) { a.B = odd(a.B); });
    refuse("C is not aligned", [&](auto& a) { a.C = odd(a.C); });
    // C's first element on A's last one, and A's first one on C's last; A's rows and
    // C's are further apart than they are long.
    const int64_t a_last = 3 * 10 + 7;  // element, with lda = 10
    refuse("C - A in bytes is", [&](auto& a) {
        a.shape.lda = 10;
        a.C = const_cast<float*>(reinterpret_cast<const float*>(
            a.A + a_last / (4 / sizeof(T)) * (4 / sizeof(T))));
    });
    refuse("C - A in bytes is -", [&](auto& a) {
        a.shape.ldc = 9;
        a.A = reinterpret_cast<const T*>(a.C + 3 * 9 + 5);
    });
    refuse("C - B in bytes is", [&](auto& a) {
        a.C = const_cast<float*>(reinterpret_cast<const float*>(a.B + 46));
    });
    refuse("C - B in bytes is -",
           [&](auto& a) { a.B = reinterpret_cast<const T*>(a.C + 3 * 6 + 5); });
}

/// C may begin right behind the last element of A, and B right behind that of C.
template <class T>
void grade_neighbours() {
    const Call c{3, 5, 4};
    const int64_t a_floats = c.M * c.K * int64_t{sizeof(T)} / 4;
    const std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    std::vector<float> b;
    for (int i = 0; i < 20; ++i)
        b.push_back(static_cast<float>(i % 7 - 3));
    const auto expected = expected_of(
        c, {rounded_by(Format<T>::round, a), rounded_by(Format<T>::round, b)}, true);
    Grader grade(Format<T>::kFunction, "C between A and B, without a gap");
    const int64_t c_floats = c.M * c.N;
    const int64_t b_floats = c.K * c.N * int64_t{sizeof(T)} / 4;
    // As floats, which the factors need not be: their bits are what counts.
    std::vector<float> memory(static_cast<size_t>(a_floats + c_floats + b_floats));
    const auto stored_a = laid_out<T>(a, c.M, c.K, c.K, 0, 0.0f);
    const auto stored_b = laid_out<T>(b, c.K, c.N, c.N, 0, 0.0f);
    std::memcpy(memory.data(), stored_a.data(), stored_a.size() * sizeof(T));
    std::memcpy(memory.data() + a_floats + c_floats,
                stored_b.data(),
                stored_b.size() * sizeof(T));
    std::vector<double> all(memory.begin(), memory.end());
    std::copy(expected.c.begin(), expected.c.end(), all.begin() + a_floats);
    float* const d =
        grade.in_out("A, C and B", {a_floats + c_floats + b_floats}, memory);
    grade.run([&](cudaStream_t stream) {
        Format<T>::kContract(c.shape(),
                             reinterpret_cast<const T*>(d),
                             reinterpret_cast<const T*>(d + a_floats + c_floats),
                             d + a_floats,
                             stream);
    });
    grade.expect("A, C and B", all, [](int64_t) { return 0.0; });
}

template <class T>
void grade_nothing() {
    Grader grade(Format<T>::kFunction, "M = 0, or N = 0");
    grade.expect_no_work([](cudaStream_t stream) {
        const T* const none = nullptr;
        for (const Call& c : {Call{0, 7, 5}, Call{7, 0, 5}, Call{0, 0, 0}})
            Format<T>::kContract(c.shape(), none, none, nullptr, stream);
    });
}

}  // namespace

TEST_CASE("wrong arguments are refused by name") {
    refuse_wrong_arguments<__half>();
    refuse_wrong_arguments<__nv_bfloat16>();
    refuse_wrong_arguments<float>();
}

TEST_CASE("matrices without a gap between them are allowed") {
    grade_neighbours<__half>();
    grade_neighbours<__nv_bfloat16>();
    grade_neighbours<float>();
}

TEST_CASE("nothing to do: nothing is launched") {
    grade_type<__half>({1, 1, 1}, {{2.0f}, {3.0f}}, "", true);
    grade_nothing<__half>();
    grade_nothing<__nv_bfloat16>();
    grade_nothing<float>();
}

TEST_CASE("C of more than 2^31 elements", "[large][serial]") {
    grade_type<float>({1, 1, 1}, {{2.0f}, {3.0f}}, "", true);
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    // 2^16 + 16 rows and 2^15 + 16 columns; A and B are zeros but for single rows and
    // columns of ones. x has both of them.
    constexpr int64_t kM = (int64_t{1} << 16) + 16;
    constexpr int64_t kN = (int64_t{1} << 15) + 16;
    constexpr int64_t kK = 8;
    wb::testing::LargeArrays large(kM * kK + kK * kN, kM * kN);
    if (!large.has_memory()) WB_SKIP("needs 10 GB of free GPU memory");
    const float* const d_b = large.x + kM * kK;
    const std::vector<int64_t> rows = {0, (int64_t{1} << 16) + 3, kM - 1};
    for (const int64_t m : rows)
        large.set(m * kK + 2, static_cast<float>(m % 1024 + 1));
    for (const int64_t n : {int64_t{0}, kN - 1})
        large.set(kM * kK + 2 * kN + n, 2.0f);
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : rows)
        for (const int64_t n : {int64_t{0}, int64_t{1}, kN - 1}) {
            places.push_back(m * kN + n);
            expected.push_back(n == 1 ? 0.0 : 2.0 * static_cast<double>(m % 1024 + 1));
        }
    for (const auto& [name, idea, launcher] :
         wb::implementations("wmma_tf32", wmma_tf32))
        large.expect(name, "2^31 sums and more", places, expected, [&](auto stream) {
            launcher(Call{kM, kN, kK}.shape(), large.x, d_b, large.y, stream);
        });
#endif
}

TEST_CASE("rows of A that are 2^31 elements apart", "[large][serial]") {
    grade_type<float>({1, 1, 1}, {{2.0f}, {3.0f}}, "", true);
#ifdef SIMT_CPU
    WB_SKIP("2^31 numbers are too much for the simulator");
#else
    constexpr int64_t kApart = (int64_t{1} << 31) + 8;
    constexpr int64_t kK = 16;
    constexpr int64_t kN = 16;
    wb::testing::LargeArrays large(kApart + kK + kK * kN, 2 * kN);
    if (!large.has_memory()) WB_SKIP("needs 10 GB of free GPU memory");
    const float* const d_b = large.x + kApart + kK;
    const Call c{2, kN, kK, kApart - kK};
    large.set(3, 5.0f);
    large.set(kApart + 4, 7.0f);
    large.set(kApart + kK + 3 * kN + 1, 2.0f);
    large.set(kApart + kK + 4 * kN + 2, 3.0f);
    for (const auto& [name, idea, launcher] :
         wb::implementations("wmma_tf32", wmma_tf32))
        large.expect(
            name,
            "lda = 2^31 + 8",
            {1, 2, kN + 1, kN + 2},
            {10, 0, 0, 21},
            [&](auto stream) { launcher(c.shape(), large.x, d_b, large.y, stream); });
#endif
}
