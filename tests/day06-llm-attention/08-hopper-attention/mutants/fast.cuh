// The second stage's loop, for the .diff files that edit it.
#include "only_bf16.h"

#include "../../solutions/day06-llm-attention/08-hopper-attention/04_overlap.cuh"

static int its_head_dim() {
    return 64;
}

static void attend(const Call& call) {
    using Sizes = OverlapSizes<__nv_bfloat16, 64>;
    launch_tiles<Sizes>(hopper_attention_kernel<OverlapConsumer, Sizes, Source::dense>,
                        Sizes::kThreads,
                        0,
                        call);
}
