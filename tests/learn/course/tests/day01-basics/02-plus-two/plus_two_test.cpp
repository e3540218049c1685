#include "plus_two.h"

#include <string>

/// Grades one value as the real grader does.
static int grade(int x) {
    const int got = plus_two(x);
    if (got == x + 2) return 0;
    std::printf("  wb| plus_two: x = %d\n  wb|   expected %d, got %d\n", x, x + 2, got);
    return 1;
}

int main(int argc, char** argv) {
    const std::string test = argc > 1 ? argv[1] : "";
    if (test == "adds to small numbers") return grade(1);
    if (test == "adds to large numbers") return grade(1000000);
    return grade(-1);
}
