// Mutant: releases blocks that a warpgroup skips before all of its warps have seen them
// Rejected by: warpgroups that need fewer blocks of keys than their tile, in any order
#include "../right.h"

struct Wrong : Right {
    template <class Tiling>
    static __device__ int skip(SharedTiles<Tiling>& shared,
                               const Problem& problem,
                               const Work& work,
                               int group,
                               Ring<Tiling::kStages>& stage) {
        const int row = work.row + group * kGroupRows;
        const int seen = blocks_seen<Tiling>(problem, work, row, kGroupRows);
        for (int block = work.blocks - 1; block >= seen; --block) {
            // A warp that is late, as one on a GPU may be.
            for (int i = 0; i < 3000 && threadIdx.x / 32 % 4 == 3; ++i)
                wb::ptx::mbarrier_try_wait(&shared.work_full[0], 0);
            wb::ptx::mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
            // #region bug
            wb::ptx::mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
            release(&shared.k_empty[stage.stage]);
            release(&shared.v_empty[stage.stage]);
            // #endregion bug
            stage.advance();
        }
        return seen;
    }
};

#include "../contract.h"
