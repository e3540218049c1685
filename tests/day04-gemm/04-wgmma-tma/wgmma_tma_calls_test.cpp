// Grades day04-gemm/04-wgmma-tma: arguments, streams, neighbours in memory.
#include "grading.h"

#include <wb/check.h>
#include <wb/testing/fail.h>

#include <algorithm>
#include <cstring>

using namespace wgmma_tma_grading;

namespace {

/// Right arguments of one of the functions: A and B of 16 x 32 and 32 x 24 numbers, C
/// of 16 x 24. A test changes one of them.
template <class T>
struct Arguments {
    using CType = typename Format<T>::CType;
    const T* A;
    const T* B;
    CType* C;
    const float* scale_a;
    const float* scale_b;
    wb::GemmShape shape;
};

inline void call(const Arguments<__nv_bfloat16>& a) {
    wgmma_tma_bf16(a.shape, a.A, a.B, a.C, nullptr);
}
inline void call(const Arguments<__half>& a) {
    wgmma_tma_fp16(a.shape, a.A, a.B, a.C, nullptr);
}
inline void call(const Arguments<__nv_fp8_e4m3>& a) {
    wgmma_tma_fp8(a.shape, a.A, a.B, a.scale_a, a.scale_b, a.C, nullptr);
}

/// Another pointer of the same type, some bytes further.
template <class Pointer>
Pointer past(Pointer pointer, int64_t bytes) {
    return reinterpret_cast<Pointer>(reinterpret_cast<intptr_t>(pointer) + bytes);
}

template <class T>
class Refusals {
 public:
    Refusals() {
        float* const d = memory_.output<float>("d", {4096});
        const bool is_fp8 = sizeof(T) == 1;
        right_ = {reinterpret_cast<const T*>(d),
                  reinterpret_cast<const T*>(d + 1024),
                  reinterpret_cast<typename Format<T>::CType*>(d + 2048),
                  d + 3072,
                  d + 3200,
                  {16, 24, 32, false, is_fp8, 32, is_fp8 ? 32 : 24, 24}};
    }

    /// The call with one change is refused, and the message has these words.
    template <class Change>
    void refuse(const std::string& part, Change change) {
        Arguments<T> a = right_;
        change(a);
        wb::testing::expect_refused(Format<T>::kFunction, part, part, [&] { call(a); });
    }
    const Arguments<T>& right() const { return right_; }

 private:
    Grader memory_{Format<T>::kFunction, "wrong arguments"};
    Arguments<T> right_;
};

template <class T>
void refuse_wrong_arguments() {
    Refusals<T> r;
    const int64_t huge = int64_t{1} << 61;
    constexpr bool kIsFp8 = sizeof(T) == 1;
    r.refuse("shape.M is -8", [](auto& a) { a.shape.M = -8; });
    r.refuse("shape.N is -8", [](auto& a) { a.shape.N = -8; });
    r.refuse("shape.K is -1", [](auto& a) { a.shape.K = -1; });
    r.refuse("shape.M is 12", [](auto& a) { a.shape.M = 12; });
    r.refuse("shape.N is 20", [](auto& a) { a.shape.N = 20; });
    r.refuse("shape.lda is 24", [](auto& a) { a.shape.lda = 24; });
    r.refuse("shape.ldb is 16", [](auto& a) { a.shape.ldb = 16; });
    r.refuse("shape.ldc is 16", [](auto& a) { a.shape.ldc = 16; });
    r.refuse("shape.lda is 36", [](auto& a) { a.shape.lda = 36; });
    r.refuse("shape.ldb is 36", [](auto& a) { a.shape.ldb = 36; });
    r.refuse("shape.ldc is 28", [](auto& a) { a.shape.ldc = 28; });
    const int64_t limit = (int64_t{1} << 40) / int64_t{sizeof(T)};
    r.refuse(
        "rows * lda * bytes = 16 * 2305843009213693952 * " + std::to_string(sizeof(T)),
        [&](auto& a) { a.shape.lda = huge; });
    r.refuse("rows * ldb * bytes = " + std::string(kIsFp8 ? "24" : "32") +
                 " * 2305843009213693952 * " + std::to_string(sizeof(T)),
             [&](auto& a) { a.shape.ldb = huge; });
    r.refuse("rows * ldc * bytes = 16 * 2305843009213693952 * 2",
             [&](auto& a) { a.shape.ldc = huge; });
    // With K = 1 B is one row: its leading dimension may be anything, but for the TMA
    // unit.
    if (!kIsFp8)
        r.refuse("shape.ldb is " + std::to_string(limit), [&](auto& a) {
            a.shape.K = 1;
            a.shape.ldb = limit;
        });
    r.refuse("shape.M is 2147483648", [](auto& a) { a.shape.M = int64_t{1} << 31; });
    r.refuse("shape.transpose_a is 1", [](auto& a) { a.shape.transpose_a = true; });
    if (kIsFp8)
        r.refuse("shape.transpose_b is 0", [](auto& a) {
            a.shape.transpose_b = false;
            a.shape.ldb = 32;
        });
    r.refuse("A is a null pointer", [](auto& a) { a.A = nullptr; });
    r.refuse("B is a null pointer", [](auto& a) { a.B = nullptr; });
    r.refuse("C is a null pointer", [](auto& a) { a.C = nullptr; });
    alignas(16) float host[1024] = {};
    r.refuse("A is a host pointer",
             [&](auto& a) { a.A = reinterpret_cast<const T*>(host); });
    r.refuse("B is a host pointer",
             [&](auto& a) { a.B = reinterpret_cast<const T*>(host); });
    r.refuse("C is a host pointer",
             [&](auto& a) { a.C = reinterpret_cast<decltype(a.C)>(host); });
    r.refuse("A: address % 16 is 8", [](auto& a) { a.A = past(a.A, 8); });
    r.refuse("B: address % 16 is 8", [](auto& a) { a.B = past(a.B, 8); });
    r.refuse("C: address % 16 is 8", [](auto& a) { a.C = past(a.C, 8); });
    // C's first element on A's last one, and A's first one on C's last.
    const int64_t a_bytes = 16 * 32 * int64_t{sizeof(T)};
    const int64_t b_bytes = 24 * 32 * int64_t{sizeof(T)};
    const int64_t c_bytes = 16 * 24 * 2;
    const auto last_unit = [](int64_t bytes) { return bytes - 16; };
    r.refuse("C - A in bytes is", [&](auto& a) {
        a.C = reinterpret_cast<decltype(a.C)>(
            const_cast<T*>(past(a.A, last_unit(a_bytes))));
    });
    r.refuse("C - A in bytes is -", [&](auto& a) {
        a.A = reinterpret_cast<const T*>(past(a.C, last_unit(c_bytes)));
    });
    r.refuse("C - B in bytes is", [&](auto& a) {
        a.C = reinterpret_cast<decltype(a.C)>(
            const_cast<T*>(past(a.B, last_unit(b_bytes))));
    });
    r.refuse("C - B in bytes is -", [&](auto& a) {
        a.B = reinterpret_cast<const T*>(past(a.C, last_unit(c_bytes)));
    });
}

/// C may begin right behind the last element of A, and B right behind that of C.
template <class T>
void grade_neighbours() {
    const Call c{16, 24, 32, sizeof(T) == 1};
    const Factors f = whole_numbers(c);
    const Problem<T> p(c, f, true);
    using CType = typename Format<T>::CType;
    const int64_t units_a = c.M * c.K * int64_t{sizeof(T)} / 2;
    const int64_t units_c = c.M * c.N;
    const int64_t units_b = c.K * c.N * int64_t{sizeof(T)} / 2;
    // As elements of C's type, which the factors need not be: their bits count.
    std::vector<CType> memory(static_cast<size_t>(units_a + units_c + units_b));
    std::memcpy(static_cast<void*>(memory.data()), p.a.data(), p.a.size() * sizeof(T));
    std::memcpy(static_cast<void*>(memory.data() + units_a + units_c),
                p.b.data(),
                p.b.size() * sizeof(T));
    std::vector<double> all;
    for (const CType x : memory)
        all.push_back(static_cast<double>(static_cast<float>(x)));
    std::copy(p.expected.c.begin(), p.expected.c.end(), all.begin() + units_a);
    for_each_version<T>([&](const std::string& name, auto launcher) {
        Grader grade(name, "C between A and B, without a gap");
        const float* const d_scale_a = grade.input("scale_a", f.scale_a);
        const float* const d_scale_b = grade.input("scale_b", f.scale_b);
        CType* const d =
            grade.in_out("A, C and B", {units_a + units_c + units_b}, memory);
        grade.run([&](cudaStream_t stream) {
            launcher(c.template shape<T>(),
                     reinterpret_cast<const T*>(d),
                     reinterpret_cast<const T*>(d + units_a + units_c),
                     d_scale_a,
                     d_scale_b,
                     d + units_a,
                     stream);
        });
        grade.expect("A, C and B", all, [](int64_t) { return 0.0; });
    });
}

template <class T>
void grade_nothing() {
    Grader grade(Format<T>::kFunction, "M = 0, or N = 0");
    grade.expect_no_work([](cudaStream_t stream) {
        for (const Call& c :
             {Call{0, 8, 16, true}, Call{8, 0, 16, true}, Call{0, 0, 0, true}}) {
            const wb::GemmShape shape = c.shape<T>();
            if constexpr (std::is_same_v<T, __half>)
                wgmma_tma_fp16(shape, nullptr, nullptr, nullptr, stream);
            else if constexpr (std::is_same_v<T, __nv_bfloat16>)
                wgmma_tma_bf16(shape, nullptr, nullptr, nullptr, stream);
            else
                wgmma_tma_fp8(
                    shape, nullptr, nullptr, nullptr, nullptr, nullptr, stream);
        }
    });
}

}  // namespace

TEST_CASE("wrong arguments are refused by name") {
    refuse_wrong_arguments<__half>();
    refuse_wrong_arguments<__nv_bfloat16>();
    refuse_wrong_arguments<__nv_fp8_e4m3>();
}

TEST_CASE("wrong scales are refused by name") {
    Refusals<__nv_fp8_e4m3> r;
    r.refuse("scale_a is a null pointer", [](auto& a) { a.scale_a = nullptr; });
    r.refuse("scale_b is a null pointer", [](auto& a) { a.scale_b = nullptr; });
    alignas(8) float host[64] = {};
    r.refuse("scale_a is a host pointer", [&](auto& a) { a.scale_a = host; });
    r.refuse("scale_b is a host pointer", [&](auto& a) { a.scale_b = host; });
    r.refuse("scale_a is not aligned", [](auto& a) { a.scale_a = past(a.scale_a, 2); });
    r.refuse("scale_b is not aligned", [](auto& a) { a.scale_b = past(a.scale_b, 4); });
    r.refuse("C - scale_a in bytes is", [](auto& a) {
        a.C = reinterpret_cast<__nv_bfloat16*>(const_cast<float*>(a.scale_a));
    });
    r.refuse("C - scale_b in bytes is", [](auto& a) {
        a.C = reinterpret_cast<__nv_bfloat16*>(const_cast<float*>(a.scale_b));
    });
}

TEST_CASE("matrices without a gap between them are allowed") {
    grade_neighbours<__half>();
    grade_neighbours<__nv_bfloat16>();
    grade_neighbours<__nv_fp8_e4m3>();
}

TEST_CASE("nothing to do: nothing is launched") {
    grade_whole({8, 8, 1});
    grade_nothing<__half>();
    grade_nothing<__nv_bfloat16>();
    grade_nothing<__nv_fp8_e4m3>();
}

TEST_CASE("without K, A and B may be anything") {
    Grader grade("wgmma_tma_bf16", "K = 0, no A and no B");
    __nv_bfloat16* const d_c = grade.output<__nv_bfloat16>("C", {8, 16});
    grade.run([&](cudaStream_t stream) {
        wgmma_tma_bf16(
            {8, 16, 0, false, false, 0, 16, 16}, nullptr, nullptr, d_c, stream);
    });
    grade.expect("C", std::vector<double>(8 * 16, 0.0), [](int64_t) { return 0.0; });
}
