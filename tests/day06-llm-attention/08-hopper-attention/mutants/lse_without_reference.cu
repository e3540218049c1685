// Mutant: forgets the reference in the log-sum-exp
// Rejected by: other numbers of keys than of queries
#include "right.h"

struct Wrong : Right {
    static __device__ void adjust(RowSums& rows) {
        for (float& reference : rows.reference)
            reference = 0.0f;
    }
};

#include "contract.h"
