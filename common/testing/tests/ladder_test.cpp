#include <wb/implementations.h>
#include <wb/testing/catch.h>

#include <string>
#include <type_traits>

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

struct Shape {};
struct Half {};
struct Bfloat16 {};

/// Says in lse which type it has been called for.
template <class T>
void halves_v1(
    const Shape&, const T*, const T*, const T*, T*, float* lse, const char*) {
    *lse = std::is_same_v<T, Half> ? 16.0f : -16.0f;
}
void halves(
    const Shape&, const Half*, const Half*, const Half*, Half*, float*, const char*) {}

[[maybe_unused]] const bool listed =
    wb::list_rung("halves", "v1", "two types", halves_v1<Half>, halves_v1<Bfloat16>);
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

TEST_CASE("ladder: a rung for two types of number is one of two exercises") {
    for (const std::string type : {"fp16", "bf16"}) {
        const auto found = wb::implementations("halves_" + type, halves);
        REQUIRE(found.size() == 1);
        CHECK(found[0].name == "halves_v1");
        CHECK(found[0].idea == "two types");
    }
    float lse = 0.0f;
    const auto fp16 = wb::implementations("halves_fp16", halves)[0].function;
    fp16({}, nullptr, nullptr, nullptr, nullptr, &lse, nullptr);
    CHECK(lse == 16.0f);
    const auto bf16 = wb::implementations("halves_bf16", halves_v1<Bfloat16>)[0];
    bf16.function({}, nullptr, nullptr, nullptr, nullptr, &lse, nullptr);
    CHECK(lse == -16.0f);
}
