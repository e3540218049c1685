// Mutant: 65,536 registers, divided by the number of threads
// Rejected by: a budget is used up to the last register and the last byte
#define budget right_budget
#include "solution.h"
#undef budget

Budget budget(const Multiprocessor& sm, int threads, int blocks) {
    Budget result = right_budget(sm, threads, blocks);
    result.registers = std::min(kRegisters / (threads * blocks), kRegistersOfAThread);
    return result;
}
