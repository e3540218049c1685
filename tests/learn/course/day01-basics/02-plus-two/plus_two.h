#include <stdio.h>
#include <stdlib.h>

#define WB_NOT_SOLVED() not_solved(__FILE__, __LINE__)

/// x + 2
int plus_two(int x);

[[noreturn]] void not_solved(const char* file, int line);
[[noreturn]] void skip(const char* why);
