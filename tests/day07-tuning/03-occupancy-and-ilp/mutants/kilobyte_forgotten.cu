// Mutant: blocks get what they ask for of shared memory, and lose nothing
// Rejected by: how many blocks fit, by each of four limits
#define block_limits right_block_limits
#include "solution.h"
#undef block_limits

Limits block_limits(const Multiprocessor& sm, const Needs& needs) {
    Multiprocessor generous = sm;
    generous.shared_reserved = 0;
    return right_block_limits(generous, needs);
}
