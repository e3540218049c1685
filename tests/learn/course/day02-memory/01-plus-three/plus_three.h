#include <stdio.h>
#include <stdlib.h>

#define WB_NOT_SOLVED() not_solved(__FILE__, __LINE__)

/// x + 3
int plus_three(int x);

[[noreturn]] void not_solved(const char* file, int line);
[[noreturn]] void skip(const char* why);
