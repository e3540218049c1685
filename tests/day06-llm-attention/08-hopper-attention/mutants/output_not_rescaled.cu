// Mutant: never rescales o when the reference of a row moves
// Rejected by: the largest score in the first or the last block
#include "right.h"

struct Wrong : Right {
    template <int kCount>
    static __device__ void rescale_output(float (&)[kCount], const float (&)[2]) {}
};

#include "contract.h"
