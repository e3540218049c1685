// Grades day06-llm-attention/02-flash-attention: how often shared memory is read, in
// counters.
#include "flash_attention.h"

#include <wb/testing/attention.h>
#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>

using namespace wb::testing;

namespace {

/// Loads of a warp from shared memory since the goal began; 0 on a GPU, where no goal
/// is counted.
uint64_t shared_loads() {
#ifdef SIMT_CPU
    return simt::check::counters("").shared_load.requests;
#else
    return 0;
#endif
}

}  // namespace

TEST_CASE("what is read from shared memory serves eight rows or eight keys",
          "[.][goal][fast]") {
    // A block of 128 queries for which all tiles are whole. With one multiprocessor, it
    // need not become several smaller ones.
    const FewMultiprocessors few(1);
    constexpr int64_t kQueries = 128;
    constexpr int64_t kKeys = 128;
    for (const int64_t D : {32, 64}) {
        const auto shape = plain_attention(1, 1, kQueries, kKeys, D);
        const auto inputs = random_attention(shape, 1);
        const auto expected = expect_attention(shape, inputs);
        const Goal goal("flash_attention");
        Grader grade("flash_attention", describe(shape));
        const float* q = grade.input("q", inputs.q);
        const float* k = grade.input("k", inputs.k);
        const float* v = grade.input("v", inputs.v);
        float* o = grade.output<float>("o", {kQueries, D});
        grade.run([&](cudaStream_t stream) {
            flash_attention(shape, q, k, v, o, nullptr, stream);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<size_t>(i)];
        });
        // First product, of 8 x 8 scores a thread: 16 loads for four columns. Second,
        // of 8 rows x D / 8 columns a thread: 8 loads for the weights of four keys, and
        // D / 32 for the values of each.
        constexpr int64_t kTiles = kQueries * kKeys / (32 * 64);  // 64 scores a lane
        const auto allowed =
            static_cast<uint64_t>(kTiles * (16 * D / 4 + 64 / 4 * (8 + 4 * D / 32)));
        goal.require(
            shared_loads() <= allowed,
            std::to_string(shared_loads()) + " loads of a warp from shared memory, " +
                std::to_string(allowed) + " would do with D = " + std::to_string(D));
    }
}
