#include "plus_two.h"

int plus_two(int x) {
    not_solved(__FILE__, __LINE__); // TODO
}
