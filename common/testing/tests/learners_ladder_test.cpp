// A learner's file that lists rungs, as a copied solution does: they are right, and the
// contract's function is not.
#include <wb/implementations.h>
#include <wb/testing/catch.h>

namespace {

int twice(int x) {
    return 3 * x;
}
int twice_v1(int x) {
    return 2 * x;
}
int twice_v2(int x) {
    return x + x;
}

WB_RUNG(twice, twice_v1, "a product");
WB_RUNG(twice, twice_v2, "a sum");

/// A shape, and two types of number.
template <class T>
void half_v1(const int&, const T*, const T*, const T*, T*, float*, int) {}

[[maybe_unused]] const bool listed =
    wb::list_version("half", "v1", half_v1<short>, half_v1<int>);

void part(int* x) {
    *x = 7;
}
[[maybe_unused]] const bool part_listed = wb::list_part("part", part);

}  // namespace

TEST_CASE("ladder: in a learner's program the contract's function is graded") {
    const auto found = wb::implementations("twice", twice);
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "twice");
    CHECK(found[0].function(10) == 30);
}

TEST_CASE("ladder: a version that the learner writes is graded, too") {
    const auto found = wb::implementations("half_fp16", half_v1<short>);
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "half_v1");
    CHECK(found[0].function == half_v1<short>);
}

TEST_CASE("ladder: and so is a part of an exercise, if there is one") {
    const auto found = wb::implementations<void(int*)>("part", nullptr);
    REQUIRE(found.size() == 1);
    int x = 0;
    found[0].function(&x);
    CHECK(x == 7);
    const auto none = wb::implementations<void(int*)>("no part", nullptr);
    CHECK(none[0].function == nullptr);
    CHECK(wb::rungs().size() == 3);  // half_v1 of two types, and the part
}
