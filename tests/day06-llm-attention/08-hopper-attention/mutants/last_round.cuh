// v5, for the .diff files that edit its last round.
#include "only_bf16.h"

#include "../../solutions/day06-llm-attention/08-hopper-attention/05_persistent.cuh"

static int its_head_dim() {
    return 64;
}

static void attend(const Call& call) {
    using Sizes = TileSizes<__nv_bfloat16, tiling_v5<64, Source::dense>()>;
    launch_persistent<PersistentConsumer, Sizes, Source::dense>(call);
}
