// Mutant: reads the keys of the first stage, whichever stage they are in
// Rejected by: many blocks of keys: every stage is used again and again
#include "right.h"

struct Wrong : Right {
    static __device__ int key_stage(int) { return 0; }
};

#include "contract.h"
