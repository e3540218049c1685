// Mutant: what is left over in the four quarters is put together for one more warp
// Rejected by: how many blocks fit, by each of four limits
#define block_limits right_block_limits
#include "solution.h"
#undef block_limits

Limits block_limits(const Multiprocessor& sm, const Needs& needs) {
    Limits limits = right_block_limits(sm, needs);
    const int64_t of_a_warp =
        round_up(int64_t{needs.registers} * wb::kWarpSize, kRegisterUnit);
    const int warps = wb::ceil_div(needs.threads, wb::kWarpSize);
    limits.registers = static_cast<int>(kRegisters / of_a_warp) / warps;
    return limits;
}
