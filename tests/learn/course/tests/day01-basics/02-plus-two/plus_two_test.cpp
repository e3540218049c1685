#include "plus_two.h"

#include <string.h>

/// Grades one value as the real grader does.
static int grade(int x) {
    const int got = plus_two(x);
    if (got == x + 2) return 0;
    printf("  wb| plus_two: x = %d\n  wb|   expected %d, got %d\n", x, x + 2, got);
    return 1;
}

int main(int argc, char** argv) {
    const char* test = argc > 1 ? argv[1] : "";
    if (strcmp(test, "adds to small numbers") == 0) return grade(1);
    if (strcmp(test, "adds to large numbers") == 0) return grade(1000000);
    return grade(-1);
}
