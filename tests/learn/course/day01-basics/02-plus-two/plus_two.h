#include <cstdio>
#include <cstdlib>

/// x + 2
int plus_two(int x);

inline int not_solved(const char* file, int line) {
    std::printf("    wb| not solved yet: write the TODO in %s:%d\n", file, line);
    std::exit(1);
}
