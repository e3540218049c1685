// Mutant: waits for the values of the round before; a GPU may hang
// Rejected by: other numbers of keys than of queries
#include "../right.h"

struct Wrong : Right {
    static __device__ unsigned value_parity(unsigned parity) { return parity ^ 1; }
};

#include "../contract.h"
