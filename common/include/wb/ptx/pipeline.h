/// wb/ptx/pipeline.h: where a warp is in a ring of stages that mbarriers guard.
#pragma once
#include <cuda_runtime.h>

namespace wb::ptx {

// #region pipeline-state
/// A place in a ring of kStages stages, and the parity of the phase that its full
/// barriers complete in this round, and its empty barriers when this round is over. A
/// producer waits for an empty barrier with the opposite parity, that of the round
/// before: in the first round that counts as complete.
template <int kStages>
struct PipelineState {
    int stage = 0;  ///< [0, kStages)
    unsigned parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == kStages) {
            stage = 0;
            parity ^= 1;
        }
    }
};
// #endregion pipeline-state

}  // namespace wb::ptx
