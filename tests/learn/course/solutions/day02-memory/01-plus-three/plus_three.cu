#include "plus_three.h"

int plus_three(int x) {
    return x + 3;
}
