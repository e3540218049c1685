// Mutant: multiplies a weight of 0 with what lies behind the last value
// Rejected by: a NaN stays in its own sequence
#include "right.h"

struct Wrong : Right {
    template <class Tiling, Source kSource>
    static __device__ void values(SharedTiles<Tiling>& shared,
                                  Ring<Tiling::kStages> ring,
                                  const Work&,
                                  int) {
        wb::ptx::mbarrier_wait(&shared.v_full[ring.stage], ring.parity);
    }
};

#include "contract.h"
