#include <wb/errors.h>
#include <wb/model/arena.h>
#include <wb/testing/catch.h>

#include <random>
#include <string>

#include "support.h"

using wb::model::ArenaPlan;
using wb::testing::contains;

namespace {

struct Wanted {
    int64_t bytes;
    int64_t first;
    int64_t last;
};

bool meet_in_time(const Wanted& a, const Wanted& b) {
    return a.first <= b.last && b.first <= a.last;
}

/// All arrays side by side, each rounded up.
int64_t sum_of(const std::vector<Wanted>& arrays) {
    int64_t sum = 0;
    for (const Wanted& array : arrays)
        sum += (array.bytes + 255) / 256 * 256;
    return sum;
}

ArenaPlan plan_of(const std::vector<Wanted>& arrays) {
    ArenaPlan plan;
    for (const Wanted& array : arrays)
        plan.add("array", array.bytes, array.first, array.last);
    plan.place();
    return plan;
}

}  // namespace

TEST_CASE("arrays whose times do not meet share memory") {
    ArenaPlan plan;
    const int first = plan.add("first", 1000, 0, 1);
    const int second = plan.add("second", 600, 1, 2);
    const int third = plan.add("third", 900, 2, 3);
    plan.place();
    CHECK(plan.offset(first) == 0);
    CHECK(plan.offset(third) == 0);
    CHECK(plan.offset(second) == 1024);
    CHECK(plan.bytes() == 1024 + 768);
    CHECK(plan.least() == 1024 + 768);
    CHECK(plan.describe().find("1024 + 768  second  1..2") != std::string::npos);
}

TEST_CASE("an array fits between two that are there") {
    // The long ones are placed first, at 0 and behind each other; the small one comes
    // last, and finds the place of the one that has ended.
    const ArenaPlan plan =
        plan_of({{1024, 0, 9}, {768, 0, 3}, {512, 0, 9}, {256, 5, 9}});
    CHECK(plan.offset(3) == 1024);
    CHECK(plan.bytes() == 1024 + 768 + 512);
}

TEST_CASE("no two arrays that are in use at the same time share a byte") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        std::vector<Wanted> arrays(random() % 40);
        for (Wanted& array : arrays) {
            array.bytes = static_cast<int64_t>(random() % 5000) * (random() % 4 != 0);
            array.first = random() % 20;
            array.last = array.first + random() % 6;
        }
        const ArenaPlan plan = plan_of(arrays);
        REQUIRE(plan.least() <= plan.bytes());
        REQUIRE(plan.bytes() <= sum_of(arrays));
        for (std::size_t a = 0; a < arrays.size(); ++a) {
            const int64_t begin = plan.offset(static_cast<int>(a));
            REQUIRE(begin % 256 == 0);
            REQUIRE(begin >= 0);
            REQUIRE(begin + arrays[a].bytes <= plan.bytes());
            for (std::size_t b = 0; b < a; ++b) {
                const int64_t other = plan.offset(static_cast<int>(b));
                const bool shares =
                    begin < other + arrays[b].bytes && other < begin + arrays[a].bytes;
                REQUIRE((!shares || !meet_in_time(arrays[a], arrays[b])));
            }
        }
    }
}

TEST_CASE("a plan of nothing, and of arrays without bytes") {
    CHECK(plan_of({}).bytes() == 0);
    CHECK(plan_of({}).least() == 0);
    const ArenaPlan plan = plan_of({{0, 0, 0}, {0, 0, 5}});
    CHECK(plan.bytes() == 0);
    CHECK(plan.offset(1) == 0);
}

TEST_CASE("what an arena refuses is named") {
    ArenaPlan plan;
    CHECK_THROWS_WITH(plan.add("x", -1, 0, 0), contains("x in an arena: bytes is -1"));
    CHECK_THROWS_WITH(plan.add("x", 1, -2, 0), contains("first is -2"));
    CHECK_THROWS_WITH(plan.add("x", 1, 3, 2), contains("last is 2"));
    CHECK_THROWS_WITH(plan.add("x", INT64_MAX, 0, 0), contains("must be < 2^62"));
    CHECK_THROWS_AS(plan.offset(0), wb::InvalidArgument);
    const int x = plan.add("x", 1, 0, 0);
    CHECK_THROWS_WITH(plan.offset(x), contains("call place()"));
    plan.place();
    CHECK(plan.offset(x) == 0);
}
