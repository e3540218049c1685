#include <stdio.h>
#include <stdlib.h>

/// x + 1
int one(int x);

inline int not_solved(const char* file, int line) {
    printf("    wb| not solved yet: write the TODO in %s:%d\n", file, line);
    exit(1);
}
