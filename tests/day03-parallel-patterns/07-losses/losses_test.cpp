// Grades day03-parallel-patterns/07-losses: arguments, how work is queued, long arrays.
#include "sampled_cases.h"

#include <wb/testing/large.h>

using namespace losses_cases;
using wb::testing::expect_refused;

namespace {

constexpr int64_t kHuge = int64_t{1} << 61;

/// Device memory for all arrays, in parts that do not overlap.
struct Memory {
    Grader grade{"all losses", "arguments"};
    float* a = grade.output<float>("a", {256});
    float* b = a + 64;
    float* c = a + 128;
    float* d = a + 192;
    int32_t* ids = grade.output<int32_t>("ids", {64});
    int64_t* offsets = grade.output<int64_t>("offsets", {8});
    float* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(a) + 2);
    float* null = nullptr;
    float host[8] = {};

    /// Four queries with three negatives each; the outputs have room in c and d.
    SampledInput sampled() const {
        return {a, a + 8, ids, ids + 8, b, b + 8, offsets, 2, 4, 3};
    }
};

}  // namespace

TEST_CASE("l2: wrong arguments are refused by name") {
    Memory m;
    const auto refuse = [](const char* part, auto... arguments) {
        expect_refused(
            "l2_normalize", part, part, [&] { l2_normalize(arguments..., nullptr); });
    };
    refuse("rows is -1", m.a, m.b, m.c, L2Shape{-1, 4, kEps});
    refuse("rows is 2147483648", m.a, m.b, m.c, L2Shape{int64_t{1} << 31, 1, kEps});
    refuse("columns is -2", m.a, m.b, m.c, L2Shape{0, -2, kEps});
    refuse("2 * 2305843009213693952 * 4", m.a, m.b, m.c, L2Shape{2, kHuge, kEps});
    refuse("eps is 0", m.a, m.b, m.c, L2Shape{2, 4, 0.0f});
    refuse("eps is -3", m.a, m.b, m.c, L2Shape{0, 4, -3.0f});
    refuse("eps is -0.25, but must be > 0", m.a, m.b, m.c, L2Shape{0, 4, -0.25f});
    refuse("eps is nan", m.a, m.b, m.c, L2Shape{2, 4, kNan});
    refuse("x is a null pointer", m.null, m.b, m.c, L2Shape{2, 4, kEps});
    refuse("y is a host pointer", m.a, m.host, m.c, L2Shape{2, 4, kEps});
    refuse("norms is not aligned", m.a, m.b, m.odd, L2Shape{2, 4, kEps});
    refuse("y - x in bytes is 0", m.a, m.a, m.c, L2Shape{2, 4, kEps});
    refuse("y - x in bytes is 28", m.a, m.a + 7, m.c, L2Shape{2, 4, kEps});
    refuse("norms - x in bytes is 28", m.a, m.b, m.a + 7, L2Shape{2, 4, kEps});
    refuse("norms - y in bytes is -4", m.a, m.b, m.b - 1, L2Shape{2, 4, kEps});
}

TEST_CASE("l2 backward: wrong arguments are refused by name") {
    Memory m;
    const auto refuse = [](const char* part, auto... arguments) {
        expect_refused("l2_normalize_backward", part, part, [&] {
            l2_normalize_backward(arguments..., nullptr);
        });
    };
    refuse("rows is -1", m.a, m.b, m.c, m.d, L2Shape{-1, 4, kEps});
    refuse("columns is -1", m.a, m.b, m.c, m.d, L2Shape{4, -1, kEps});
    refuse("eps is inf", m.a, m.b, m.c, m.d, L2Shape{2, 4, kInfinity});
    refuse("dy is a null pointer", m.null, m.b, m.c, m.d, L2Shape{2, 4, kEps});
    refuse("y is a host pointer", m.a, m.host, m.c, m.d, L2Shape{2, 4, kEps});
    refuse("norms is not aligned", m.a, m.b, m.odd, m.d, L2Shape{2, 4, kEps});
    refuse("dx is a null pointer", m.a, m.b, m.c, m.null, L2Shape{2, 4, kEps});
    refuse("dx - dy in bytes is 28", m.a, m.b, m.c, m.a + 7, L2Shape{2, 4, kEps});
    refuse("dx - y in bytes is 0", m.a, m.b, m.c, m.b, L2Shape{2, 4, kEps});
    refuse("dx - norms in bytes is 4", m.a, m.b, m.c, m.c + 1, L2Shape{2, 4, kEps});
}

TEST_CASE("bce: wrong arguments are refused by name") {
    Memory m;
    const auto refuse = [&](const char* part, const BceInput& in, float* loss) {
        expect_refused(
            "bce_with_logits", part, part, [&] { bce_with_logits(in, loss, nullptr); });
    };
    refuse("n is -1", {m.a, m.b, nullptr, 1.0f, -1}, m.d);
    refuse("2305843009213693952 * 4", {m.a, m.b, nullptr, 1.0f, kHuge}, m.d);
    refuse("pos_weight is -2", {m.a, m.b, nullptr, -2.0f, 4}, m.d);
    refuse("pos_weight is nan", {m.a, m.b, nullptr, kNan, 0}, m.d);
    refuse("logits is a null pointer", {nullptr, m.b, nullptr, 1.0f, 4}, m.d);
    refuse("targets is a host pointer", {m.a, m.host, nullptr, 1.0f, 4}, m.d);
    refuse("weights is not aligned", {m.a, m.b, m.odd, 1.0f, 4}, m.d);
    refuse("loss is a null pointer", {m.a, m.b, nullptr, 1.0f, 0}, nullptr);
    refuse("loss - logits in bytes is 12", {m.a, m.b, nullptr, 1.0f, 4}, m.a + 3);
    refuse("loss - weights in bytes is 0", {m.a, m.b, m.c, 1.0f, 4}, m.c);
    const auto refuse_backward =
        [&](const char* part, const BceInput& in, const float* grad, float* dlogits) {
            expect_refused("bce_with_logits_backward", part, part, [&] {
                bce_with_logits_backward(in, grad, dlogits, nullptr);
            });
        };
    refuse_backward("n is -1", {m.a, m.b, nullptr, 1.0f, -1}, m.c, m.d);
    refuse_backward("grad_loss is a host", {m.a, m.b, nullptr, 1.0f, 4}, m.host, m.d);
    refuse_backward("dlogits is a null", {m.a, m.b, nullptr, 1.0f, 4}, m.c, m.null);
    refuse_backward("dlogits - targets in bytes is -12",
                    {m.a, m.b, nullptr, 1.0f, 4},
                    m.c,
                    m.b - 3);
    refuse_backward(
        "dlogits - grad_loss in bytes is 0", {m.a, m.b, nullptr, 1.0f, 4}, m.d, m.d);
}

TEST_CASE("draw: wrong arguments are refused by name") {
    Memory m;
    const auto refuse =
        [](const char* part, int32_t* ids, int64_t count, int32_t items) {
            expect_refused("draw_negatives", part, part, [&] {
                draw_negatives(1, 2, ids, count, items, nullptr);
            });
        };
    refuse("count is -1", m.ids, -1, 5);
    refuse("items is 0", m.ids, 4, 0);
    refuse("2305843009213693952 * 4", m.ids, kHuge, 5);
    refuse("ids is a null pointer", nullptr, 4, 5);
    Grader("draw_negatives", "count = 0").expect_no_work([](cudaStream_t s) {
        draw_negatives(1, 2, nullptr, 0, 5, s);
    });
}

TEST_CASE("sampled: wrong arguments are refused by name") {
    Memory m;
    const auto refuse = [&](const char* part, auto change) {
        SampledInput in = m.sampled();
        float* losses = m.c;
        float* loss = m.d;
        change(in, losses, loss);
        expect_refused("sampled_softmax", part, part, [&] {
            sampled_softmax(in, losses, loss, nullptr);
        });
        if (loss != m.d || losses != m.c) return;
        expect_refused("sampled_softmax_backward", part, part, [&] {
            sampled_softmax_backward(in, losses, loss, m.d + 8, m.d + 16, nullptr);
        });
    };
    using In = SampledInput;
    using F = float*;
    refuse("queries is -1", [](In& in, F&, F&) { in.queries = -1; });
    refuse("queries is 21474", [](In& in, F&, F&) { in.queries = int64_t{1} << 31; });
    refuse("negatives is -1", [](In& in, F&, F&) { in.negatives = -1; });
    refuse("batch is -1", [](In& in, F&, F&) { in.batch = -1; });
    refuse("batch is 2147483648", [](In& in, F&, F&) { in.batch = int64_t{1} << 31; });
    refuse("4 * 2305843009213693952 * 4", [](In& in, F&, F&) { in.negatives = kHuge; });
    refuse("positive is a null", [](In& in, F&, F&) { in.positive = nullptr; });
    refuse("negative is a host", [&](In& in, F&, F&) { in.negative = m.host; });
    refuse("positive_ids is a null", [](In& in, F&, F&) { in.positive_ids = nullptr; });
    refuse("negative_ids is a null", [](In& in, F&, F&) { in.negative_ids = nullptr; });
    refuse("positive_log_q is not", [&](In& in, F&, F&) { in.positive_log_q = m.odd; });
    refuse("negative_log_q is a h",
           [&](In& in, F&, F&) { in.negative_log_q = m.host; });
    refuse("offsets is a null", [](In& in, F&, F&) { in.offsets = nullptr; });
    refuse("losses - positive in bytes is 12",
           [&](In&, F& losses, F&) { losses = m.a + 3; });
    refuse("loss is a null pointer", [](In&, F&, F& loss) { loss = nullptr; });
    refuse("loss - losses in bytes is 12", [&](In&, F&, F& loss) { loss = m.c + 3; });
    const auto refuse_backward =
        [&](const char* part, float* positive, float* negative) {
            expect_refused("sampled_softmax_backward", part, part, [&] {
                sampled_softmax_backward(
                    m.sampled(), m.c, m.c + 8, positive, negative, nullptr);
            });
        };
    refuse_backward("dpositive is a null pointer", m.null, m.d);
    refuse_backward("dnegative is a host pointer", m.d, m.host);
    refuse_backward("dnegative - negative in bytes is 0", m.d, m.a + 8);
    refuse_backward("dpositive - losses in bytes is -4", m.c - 1, m.d);
    refuse_backward("dnegative - grad_loss in bytes is -12", m.d, m.c + 5);
    refuse_backward("dnegative - dpositive in bytes is 12", m.d, m.d + 3);
}

TEST_CASE("all work is queued on the caller's stream, and nobody waits for it") {
    Memory m;
    const auto queued = [](const char* name,
                           const std::function<void(cudaStream_t)>& f) {
        Grader(name, "queued only").expect_queued(f);
    };
    queued("l2_normalize", [&](cudaStream_t s) {
        l2_normalize(m.a, m.b, m.c, {4, 16, kEps}, s);
    });
    queued("l2_normalize_backward", [&](cudaStream_t s) {
        l2_normalize_backward(m.a, m.b, m.c, m.d, {4, 16, kEps}, s);
    });
    const BceInput in = {m.a, m.b, nullptr, 1.0f, 60};
    queued("bce_with_logits", [&](cudaStream_t s) { bce_with_logits(in, m.c, s); });
    queued("bce_with_logits_backward",
           [&](cudaStream_t s) { bce_with_logits_backward(in, m.c, m.d, s); });
    queued("draw_negatives",
           [&](cudaStream_t s) { draw_negatives(1, 2, m.ids, 60, 9, s); });
    queued("sampled_softmax",
           [&](cudaStream_t s) { sampled_softmax(m.sampled(), m.c, m.d, s); });
    queued("sampled_softmax_backward", [&](cudaStream_t s) {
        sampled_softmax_backward(m.sampled(), m.c, m.c + 8, m.d, m.d + 8, s);
    });
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    Grader("draw_negatives", "count = 0").expect_no_work([](cudaStream_t s) {
        draw_negatives(0, 0, nullptr, 0, 1, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    constexpr int64_t kWide = int64_t{1} << 20;
    constexpr int64_t kQueries = 2050;
    constexpr int64_t kCount = kQueries * kWide;
    wb::testing::LargeArrays large(kCount, kCount);
    if (!large.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    Grader memory("all losses", "long arrays");
    constexpr int64_t kRows = kCount / 1024;
    float* const d_rows = memory.output<float>("rows", {kRows});
    large.set(kCount - 1024, 3.0f);
    large.set(kCount - 1, 4.0f);
    large.expect("l2_normalize",
                 "rows of 1024",
                 {0, kCount - 1024, kCount - 1},
                 {0.0, 0.6, 0.8},
                 [&](cudaStream_t s) {
                     l2_normalize(large.x, large.y, d_rows, {kRows, 1024, kEps}, s);
                 });
    large.set(kCount - 1024, 0.0f);
    large.set(kCount - 1, 1.0f);
    const float* const d_n = memory.input("n", Floats{static_cast<float>(kCount)});
    large.expect("bce_with_logits_backward",
                 "targets are the logits",
                 {0, int64_t{1} << 31, kCount - 1},
                 {0.5, 0.5, -wb::reference::sigmoid(-1.0)},
                 [&](cudaStream_t s) {
                     bce_with_logits_backward(
                         {large.x, large.x, nullptr, 1.0f, kCount}, d_n, large.y, s);
                 });
    // All weights are 1 but for the last one, e, of a sum that is said to be 2^20 + 1;
    // grad_loss is so large that no gradient is small.
    const auto zeros = std::vector<int32_t>(kWide, 0);
    const float loss = std::log1p(static_cast<float>(kWide));
    const SampledInput in = {memory.input("positive", Floats(kQueries, 0.0f)),
                             large.x,
                             memory.input("ids", std::vector<int32_t>(kQueries, 1)),
                             memory.input("drawn", zeros),
                             nullptr,
                             nullptr,
                             memory.input("offsets", std::vector<int64_t>{0, kQueries}),
                             1,
                             kQueries,
                             kWide};
    const float* const d_losses = memory.input("losses", Floats(kQueries, loss));
    const float* const d_grad =
        memory.input("grad", Floats{static_cast<float>(kQueries * kWide) / 16.0f});
    const double weight = kWide / 16.0 / std::exp(double{loss});
    large.expect("sampled_softmax_backward",
                 "2050 queries with 2^20 negatives",
                 {0, kCount - 2, kCount - 1},
                 {weight, weight, weight * std::exp(1.0)},
                 [&](cudaStream_t s) {
                     sampled_softmax_backward(in, d_losses, d_grad, d_rows, large.y, s);
                 });
#endif
}
