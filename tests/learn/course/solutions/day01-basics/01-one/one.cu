#include "one.h"

int one(int x) {
    // #starter WB_NOT_SOLVED(); // TODO
    // #solution
    return x + 1;
    // #end
}
