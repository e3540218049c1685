// Mutant: puts o where the other warpgroup's q is, which may still be read
// Rejected by: right whatever order the threads run in
#include "../right.h"

struct Wrong : Right {
    static constexpr bool kTmaStore = true;
    template <class Tiling, Source kSource>
    static __device__ void finish(SharedTiles<Tiling>& shared,
                                  const Problem& problem,
                                  const Work& work,
                                  int group,
                                  int q_stage,
                                  const float (&o)[Tiling::kDim / 2],
                                  const RowSums& rows) {
        const int other = 1 - group;
        Work same_rows = work;
        same_rows.row += (group - other) * kGroupRows;
        store_rows_tma<Tiling>(
            shared, problem, same_rows, other, kGroupBarrier + group, q_stage, o, rows);
    }
};

#include "../contract.h"
