// Grades day04-gemm/04-wgmma-tma: matrices of more elements than 32 bits count.
#include "grading.h"

#include <wb/check.h>
#include <wb/testing/fail.h>
#include <wb/testing/large.h>

using namespace wgmma_tma_grading;

namespace {

#ifndef SIMT_CPU
/// *element = value.
void set(__nv_bfloat16* element, float value) {
    const auto rounded = static_cast<__nv_bfloat16>(value);
    CUDA_CHECK(cudaMemcpy(element, &rounded, sizeof rounded, cudaMemcpyHostToDevice));
}

/// The float whose upper half is this bf16, and whose lower one is 0: what two
/// neighbours are, of which the first is 0.
double upper(float value) {
    return double{round_to<__nv_bfloat16>(value)};
}
#endif

/// In the simulator, a case must grade something before it is skipped.
void grade_little() {
    const Call c{8, 8, 1};
    grade_type<__nv_bfloat16>(c, whole_numbers(c), ", whole numbers", true);
}

}  // namespace

TEST_CASE("C of more than 2^31 elements", "[large][serial]") {
    grade_little();
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    // A and B are 0 but for column 2 of some rows of A, and row 2 of some columns of B.
    constexpr int64_t kM = (int64_t{1} << 16) + 16;
    constexpr int64_t kN = (int64_t{1} << 15) + 16;
    constexpr int64_t kK = 8;
    wb::testing::LargeArrays large((kM * kK + kK * kN) / 2, kM * kN / 2);
    if (!large.has_memory()) WB_SKIP("needs 6 GB of free GPU memory");
    auto* const d_a = reinterpret_cast<__nv_bfloat16*>(large.x);
    __nv_bfloat16* const d_b = d_a + kM * kK;
    const std::vector<int64_t> rows = {0, (int64_t{1} << 16) + 3, kM - 1};
    const std::vector<int64_t> columns = {3, 4095, kN - 1};
    for (const int64_t m : rows)
        set(d_a + m * kK + 2, static_cast<float>(m % 8 + 1));
    for (const int64_t n : columns)
        set(d_b + 2 * kN + n, 2.0f);
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : rows) {
        for (const int64_t n : columns) {
            places.push_back((m * kN + n) / 2);
            expected.push_back(upper(2.0f * static_cast<float>(m % 8 + 1)));
        }
        places.push_back((m * kN + 5) / 2);
        expected.push_back(0.0);
    }
    const Call c{kM, kN, kK};
    for (const auto& [name, idea, launcher] :
         wb::implementations("wgmma_tma_bf16", wgmma_tma_bf16))
        large.expect(name, "2^31 sums and more", places, expected, [&](auto stream) {
            launcher(c.shape<__nv_bfloat16>(),
                     d_a,
                     d_b,
                     reinterpret_cast<__nv_bfloat16*>(large.y),
                     stream);
        });
#endif
}

TEST_CASE("rows of A, of B and of C that are 2^29 elements apart", "[large][serial]") {
    grade_little();
#ifdef SIMT_CPU
    WB_SKIP("2^31 numbers are too much for the simulator");
#else
    // With 8 rows, the last one begins behind 2^31 elements.
    constexpr int64_t kApart = (int64_t{1} << 29) + 8;
    constexpr int64_t kSize = 8;
    constexpr int64_t kElements = (kSize - 1) * kApart + kSize;
    wb::testing::LargeArrays large(kElements, kElements / 2);
    if (!large.has_memory()) WB_SKIP("needs 24 GB of free GPU memory");
    auto* const d_a = reinterpret_cast<__nv_bfloat16*>(large.x);
    __nv_bfloat16* const d_b = d_a + kElements;
    constexpr int64_t kLast = (kSize - 1) * kApart;
    set(d_a + 3, 5.0f);
    set(d_a + kLast + 7, 7.0f);
    set(d_b + 3 * kApart + 1, 2.0f);
    set(d_b + kLast + 7, 3.0f);
    for (const auto& [name, idea, launcher] :
         wb::implementations("wgmma_tma_bf16", wgmma_tma_bf16))
        large.expect(
            name,
            "leading dimensions of 2^29 + 8",
            {0, 3, kLast / 2, (kLast + 7) / 2},
            {upper(10.0f), 0.0, 0.0, upper(21.0f)},
            [&](auto stream) {
                launcher({kSize, kSize, kSize, false, false, kApart, kApart, kApart},
                         d_a,
                         d_b,
                         reinterpret_cast<__nv_bfloat16*>(large.y),
                         stream);
            });
#endif
}
