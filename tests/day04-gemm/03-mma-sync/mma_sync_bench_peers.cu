// The kernels of the benchmark's comparison of stages: the solution's v4.
#define WB_VERSION_ONLY
#include "../../../solutions/day04-gemm/03-mma-sync/mma_sync_fast.cu"
#include "mma_sync_stages.h"

namespace {

using Bf16 = __nv_bfloat16;

template <int kStages>
void with_stages(const wb::GemmShape& shape,
                 const Bf16* A,
                 const Bf16* B,
                 float* C,
                 cudaStream_t stream) {
    using S = SizesV4<Bf16>;
    wb::launch_kernel(mma_sync_v4_kernel<S, kStages, 2, Bf16>,
                      count_blocks<S>(shape),
                      S::kThreads,
                      kStages * sizeof(Stage<S>),
                      stream,
                      Problem<Bf16>::of(shape, A, B, C),
                      blocks_across<S>(shape));
}

}  // namespace

std::vector<mma_sync_stages::Variant> mma_sync_stages::variants() {
    return {{"2 stages", with_stages<2>},
            {"3 stages, as v4", with_stages<3>},
            {"4 stages", with_stages<4>},
            {"5 stages", with_stages<5>}};
}
