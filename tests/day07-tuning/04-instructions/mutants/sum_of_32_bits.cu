// Mutant: t + n is shifted at once, although it may need 33 bits
// Rejected by: quotients: small divisors, powers of two and their neighbours
#include "rulers.h"

#define divide right_divide
#include "all_but_one.h"
#undef divide

__device__ uint32_t divide(uint32_t n, const Divider& divider) {
    const uint32_t t = __umulhi(divider.magic, n);
    return (t + n) >> (divider.first_shift + divider.second_shift);
}
