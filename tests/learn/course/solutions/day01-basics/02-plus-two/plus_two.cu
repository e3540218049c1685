#include "plus_two.h"

int plus_two(int x) {
    return x + 2;
}
