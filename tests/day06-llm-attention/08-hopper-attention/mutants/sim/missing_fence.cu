// Mutant: starts wgmma without a fence; a GPU may get away with it
// Rejected by: other numbers of keys than of queries
#include "../right.h"

struct Wrong : Right {
    static __device__ void fence() {}
};

#include "../contract.h"
