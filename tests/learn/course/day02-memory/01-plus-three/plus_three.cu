#include "plus_three.h"

int plus_three(int x) {
    not_solved(__FILE__, __LINE__); // TODO
}
