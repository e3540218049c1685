// A program with the C++ runtime in itself, or with what one of its libraries has.
#include <wb/testing/catch.h>

#include <sstream>

TEST_CASE("the runtime works") {
    std::ostringstream out;
    out << 1.5;
    CHECK(out.str() == "1.5");
}
