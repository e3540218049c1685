// Mutant: reads the keys of the first stage, whichever stage they are in
// Rejected by: numbers of rows and keys around the tiles' sizes
#include "right.h"

struct Wrong : Right {
    static __device__ int key_stage(int) { return 0; }
};

#include "contract.h"
