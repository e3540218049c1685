// A program with a part of the C++ runtime is graded as any other.
#include <wb/testing/catch.h>

namespace std {
int part_of_the_runtime();
}

TEST_CASE("it is called") {
    CHECK(std::part_of_the_runtime() == 1);
}
