// A test program without Catch2: runs the case that it is told, or lists all.
#include <cstdio>
#include <cstring>

int answer();

struct Case {
    const char* name;
    bool is_serial;
} cases[] = {
#define TEST_CASE(name, ...) {name, sizeof("" __VA_ARGS__) > 1},
TEST_CASE("adds, and says so")
TEST_CASE("a name that is so long that it "
          "takes two lines",
          "[serial]")
#undef TEST_CASE
};
#define TEST_CASE(...)
TEST_CASE("a goal", "[.][goal]")

int main(int argc, char** argv) {
    for (const Case& one : cases) {
        if (argc == 2 && !std::strcmp(argv[1], "--wb-list")) std::puts(one.name);
        if (argc == 2 && !std::strcmp(argv[1], "--wb-list-serial") && one.is_serial)
            std::puts(one.name);
    }
    return argc > 2 && answer() != 42;
}
