#include <wb/ladder.h>
#include <wb/testing/catch.h>

namespace {

int answer(int x) {
    return x;
}
int answer_v1(int x) {
    return x + 1;
}
int answer_v2(int x) {
    return x + 2;
}
int other_v1(int x) {
    return -x;
}
int other(int x) {
    return x;
}

WB_RUNG(answer, answer_v1, "one more");
WB_RUNG(other, other_v1, "the opposite");
WB_RUNG(answer, answer_v2, "two more");

}  // namespace

TEST_CASE("ladder: an exercise has its own rungs, in the order of the source") {
    const auto found = wb::implementations("answer", answer);
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "answer_v1");
    CHECK(found[0].idea == "one more");
    CHECK(found[0].function(10) == 11);
    CHECK(found[1].name == "answer_v2");
    CHECK(found[1].function(10) == 12);
    REQUIRE(wb::implementations("other", other).size() == 1);
    CHECK(wb::implementations("other", other)[0].function(10) == -10);
}

TEST_CASE("ladder: without rungs there is the contract's function") {
    const auto found = wb::implementations("unknown", answer);
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "unknown");
    CHECK(found[0].function(10) == 10);
}
