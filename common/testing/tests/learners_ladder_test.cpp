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

}  // namespace

TEST_CASE("ladder: in a learner's program the contract's function is graded") {
    const auto found = wb::implementations("twice", twice);
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "twice");
    CHECK(found[0].function(10) == 30);
    CHECK(wb::rungs().empty());
}
