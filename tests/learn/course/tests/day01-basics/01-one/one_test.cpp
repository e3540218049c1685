#include "one.h"

#include <string.h>

/// Grades one value as the real grader does.
static int grade(int x) {
    const int got = one(x);
    if (got == x + 1) return 0;
    printf("  wb| one: x = %d\n  wb|   expected %d, got %d\n", x, x + 1, got);
    return 1;
}

int main(int argc, char** argv) {
    const char* test = argc > 1 ? argv[1] : "";
    if (strcmp(test, "adds to small numbers") == 0) return grade(1);
    if (strcmp(test, "adds to large numbers") == 0) return grade(1000000);
    return grade(-1);
}
