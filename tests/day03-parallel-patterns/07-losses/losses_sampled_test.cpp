// Grades day03-parallel-patterns/07-losses: items drawn at random, and the softmax loss
// with them as negatives.
#include "sampled_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace losses_cases;

namespace {

void grade_queries(const Sampled& p, const std::string& what = "", int64_t from = 0) {
    grade_sampled(p, what, from);
    if (p.queries() > 0) grade_sampled_backward(p, what, 1.5f, from);
}

std::vector<wb::testing::Combination> edges_of_sampled() {
    auto cases = wb::testing::Covering()
                     .factor("queries", {1, 3, 4, 5, 8, 9, 33})
                     .factor("negatives", {0, 1, 2, 4, 31, 32, 33, 64, 100, 255, 261})
                     .factor("real", {"all", "all but one", "half", "none"})
                     .factor("log_q", {"none", "some"})
                     .factor("from", {0, 1, 4})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 6, cases.end());
    return cases;
}

int64_t real_of(int64_t queries, int64_t kind) {
    const int64_t real[] = {queries, queries - 1, queries / 2, 0};
    return real[kind];
}

/// One query, without accidental hits, and its logits.
Sampled one_query(float positive, const Floats& negative) {
    Sampled p;
    p.positive = {positive};
    p.negative = negative;
    p.positive_ids = {1000};
    for (size_t c = 0; c < negative.size(); ++c)
        p.negative_ids.push_back(static_cast<int32_t>(c));
    p.offsets = {0, 1};
    return p;
}

void grade_draw(uint64_t seed, uint64_t step, int64_t count, int32_t items) {
    std::vector<double> expected;
    for (int64_t i = 0; i < count; ++i)
        expected.push_back(
            wb::reference::draw_negative(seed, step, static_cast<uint64_t>(i), items));
    for (const auto& [name, idea, call] : versions("draw_negatives", &draw_negatives)) {
        Grader grade(name,
                     "seed " + std::to_string(seed) + ", step " + std::to_string(step) +
                         ", count " + std::to_string(count) + ", items " +
                         std::to_string(items));
        int32_t* d_ids = grade.output<int32_t>("ids", {count});
        grade.run([&, call = call](cudaStream_t s) {
            call(seed, step, d_ids, count, items, s);
        });
        grade.expect("ids", expected, [](int64_t) { return 0.0; });
    }
}

}  // namespace

TEST_CASE("draw: the generator is the published one") {
    using Words = std::vector<uint32_t>;
    CHECK(wb::reference::philox({0, 0, 0, 0}, 0) ==
          Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(wb::reference::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                                0x299f31d0a4093822) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    grade_draw(0, 0, 1, 1 << 30);
}

TEST_CASE("draw: from a seed and a step, the same items") {
    const uint64_t seed = GENERATE(as<uint64_t>(), 0, 7, 0xFEDCBA9876543210);
    const uint64_t step = GENERATE(as<uint64_t>(), 0, 1, 0x123456789ABCDEF);
    grade_draw(seed, step, 300, 1'000'000'007);
    grade_draw(seed, step, 257, 3);
}

TEST_CASE("draw: more than 2^16 items") {
    if (wb::testing::is_watched()) return;
    const ContractAlone alone;
    grade_draw(5, 6, 65'541, 1'000'000'007);
}

TEST_CASE("draw: the fewest and the most items there can be") {
    grade_draw(3, 4, GENERATE(as<int64_t>(), 1, 31, 33, 1021), 1);
    grade_draw(3, 4, 1500, 2'147'483'647);
}

TEST_CASE("sampled: edges meet") {
    static const auto cases = edges_of_sampled();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const int64_t queries = c["queries"];
            grade_queries(random_sampled({queries,
                                          real_of(queries, c["real"]),
                                          c["negatives"],
                                          c["log_q"] == 1},
                                         1),
                          "",
                          c["from"]);
        }
}

TEST_CASE("sampled: many negatives, and sizes around those of blocks") {
    const int64_t negatives = GENERATE(as<int64_t>(), 1023, 1024, 1028, 2051);
    grade_queries(random_sampled({6, 5, negatives, true}, 2));
}

TEST_CASE("sampled: many queries, or more than 2^16 negatives", "[long]") {
    const ContractAlone alone;  // the simulator needs a while for so many
    Sampled tall = random_sampled({4101, 4099, 3, true}, 9);
    tall.offsets.insert(tall.offsets.begin() + 1, 5000, 0);  // users without queries
    grade_queries(tall);
    Sampled wide = random_sampled({2, 2, 65'541, true}, 9);
    wide.negative.back() = 15.0f;  // the last one of the second query decides
    grade_queries(wide);
}

TEST_CASE("sampled: more queries than few multiprocessors need") {
    // Fewer threads may share a query then.
    const wb::testing::FewMultiprocessors one(1);
    const int64_t queries = GENERATE(as<int64_t>(), 252, 253, 291);
    grade_sampled(random_sampled({queries, queries - 3, 140, true}, 11), "");
    grade_sampled(random_sampled({queries, queries / 2, 33}, 12), "");
}

TEST_CASE("sampled: log_q of the positive items alone, and of the negative ones") {
    Sampled p = random_sampled({5, 4, 40, true}, 10);
    GENERATE(0, 1) == 0 ? p.positive_log_q.clear() : p.negative_log_q.clear();
    grade_queries(p,
                  p.positive_log_q.empty() ? ", negative alone" : ", positive alone");
}

TEST_CASE("sampled: the largest logit stands last, or nearly") {
    const size_t negatives = GENERATE(as<size_t>(), 1100, 2051);
    Floats negative(negatives, 0.5f);
    negative[negatives - GENERATE(as<size_t>(), 1, 5, 33)] = 300.0f;
    grade_queries(one_query(2.0f, negative), ", one of 300");
}

TEST_CASE("sampled: no queries: the mean is 0, and nothing else is written") {
    Sampled p = random_sampled({0, 0, 5}, 1);
    grade_sampled(p, "");
    p.offsets = {0};
    grade_sampled(p, ", no users");
    SampledInput in{};
    in.negatives = 5;
    Grader("sampled_softmax_backward", "no queries")
        .expect_no_work([&](cudaStream_t s) {
            sampled_softmax_backward(in, nullptr, nullptr, nullptr, nullptr, s);
        });
}

TEST_CASE("sampled: logits of any size, and losses that are tiny keep their digits") {
    const float gap = GENERATE(0.0f, 9.0f, 20.0f, 60.0f, 200.0f);
    const float offset = GENERATE(0.0f, 100.0f, -100.0f, 1e4f, -1e4f);
    for (const float sign : {1.0f, -1.0f}) {
        Floats negative(70, offset);
        negative[1] = offset - 3.0f;
        negative[69] = offset + 0.5f;
        grade_queries(one_query(offset + sign * gap, negative), ", far apart");
    }
}

TEST_CASE("sampled: infinities and NaN, as the formula says") {
    const float number = GENERATE(kInfinity, -kInfinity, kNan);
    const int64_t place = GENERATE(as<int64_t>(), 0, 1, 39);
    Floats negative(40, 0.5f);
    negative[at(place)] = number;
    grade_queries(one_query(1.0f, negative), ", one " + std::to_string(number));
    grade_queries(one_query(number, Floats(40, 0.5f)),
                  ", positive " + std::to_string(number));
    grade_queries(one_query(1.0f, Floats(40, number)),
                  ", all " + std::to_string(number));
}

TEST_CASE("sampled: the largest logit is an accidental hit, a NaN, or all are hits") {
    Sampled p = random_sampled({5, 5, 40}, 3);
    for (size_t r = 0; r < 5; ++r)
        for (size_t c = 0; c < 40; ++c)
            if (p.negative_ids[c] == p.positive_ids[r])
                p.negative[r * 40 + c] = r == 2 ? kNan : 5000.0f;
    grade_queries(p, ", large hits");
    p.positive_ids = {1, 2, 3, 4, 5};
    std::fill(p.negative_ids.begin(), p.negative_ids.end(), 3);
    grade_queries(p, ", one query with nothing but hits");
}

TEST_CASE("sampled: a last offset that cannot be counts as the nearest") {
    Sampled p = random_sampled({6, 6, 9}, 4);
    p.offsets.back() =
        GENERATE(as<int64_t>(), -1, 7, int64_t{1} << 33, -(int64_t{1} << 33));
    grade_queries(p, ", last offset " + std::to_string(p.offsets.back()));
}

TEST_CASE("sampled: the gradient of the loss scales the gradient") {
    const float grad_loss = GENERATE(0.0f, -2.0f, 65536.0f, 1e-6f);
    grade_sampled_backward(random_sampled({7, 4, 20, true}, 5), "", grad_loss);
}

TEST_CASE("sampled: right whatever order the threads run in") {
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    grade_queries(random_sampled({9, 7, 300, true}, 6));
    wb::testing::shuffle_threads(0);
}

TEST_CASE("sampled: nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] {
            grade_queries(random_sampled({5, 4, 40, true}, 7));
        },
        [] {
            grade_queries(random_sampled({9, 9, 33}, 8));
        },
        [] {
            grade_queries(random_sampled({5, 4, 40, true}, 9));
        });
}
