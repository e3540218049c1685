// Mutant: multiplies a weight of 0 with what lies behind the last value
// Rejected by: a NaN stays in its own sequence
#include "right.h"

struct Wrong : Right {
    template <class Tiling, Source kSource>
    static __device__ void clear(SharedTiles<Tiling>&,
                                 const Work&,
                                 Ring<Tiling::kStages>) {}
};

#include "contract.h"
