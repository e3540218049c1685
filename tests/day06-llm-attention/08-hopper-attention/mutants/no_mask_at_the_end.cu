// Mutant: takes the zeros past the last key for keys
// Rejected by: other numbers of keys than of queries
#include "right.h"

struct Wrong : Right {
    template <int kKeys>
    static __device__ void mask(float (&)[kKeys / 2], int, const Limits&) {}
};

#include "contract.h"
