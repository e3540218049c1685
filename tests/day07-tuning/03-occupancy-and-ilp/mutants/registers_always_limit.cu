// Mutant: of equal limits, the last one is named
// Rejected by: the smallest limit has a name
#define occupancy right_occupancy
#include "solution.h"
#undef occupancy

Occupancy occupancy(const Multiprocessor& sm, const Needs& needs) {
    Occupancy result = right_occupancy(sm, needs);
    const Limits limits = block_limits(sm, needs);
    if (limits.registers == result.blocks) result.limiter = Limiter::registers;
    return result;
}
