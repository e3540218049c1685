// Mutant: lets each row see one key too many
// Rejected by: causal: the last query sees the last key, however many there are
#include "right.h"

struct Wrong : Right {
    static __device__ Limits limits(const Problem& problem,
                                    const Work& work,
                                    int group) {
        Limits limits = limits_of(problem, work, group);
        for (int& limit : limits.row)
            limit = min(limit + 1, work.keys);
        return limits;
    }
};

#include "contract.h"
