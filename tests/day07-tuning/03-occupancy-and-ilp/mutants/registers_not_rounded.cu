// Mutant: registers are counted by the thread, as if each could be given singly
// Rejected by: how many blocks fit, by each of four limits
#define block_limits right_block_limits
#include "solution.h"
#undef block_limits

// #region bug
Limits block_limits(const Multiprocessor& sm, const Needs& needs) {
    Limits limits = right_block_limits(sm, needs);
    limits.registers = kRegisters / (needs.registers * needs.threads);
    return limits;
}
// #endregion bug
