// The kernels of the benchmark's sweep.
#include <wb/hopper_gemm/split_k.h>

#include "wgmma_tma_sweep.h"

namespace {

using namespace wb::hopper_gemm;
using Bf16 = __nv_bfloat16;

constexpr Tiling kTwoBuffers = {.block_rows = 128,
                                .block_columns = 256,
                                .stages = 4,
                                .consumers = 2,
                                .cluster_rows = 2,
                                .store_buffers = 2,
                                .producer_registers = 24,
                                .consumer_registers = 240};
constexpr Tiling kOneBuffer = {.block_rows = 128,
                               .block_columns = 256,
                               .stages = 4,
                               .consumers = 2,
                               .cluster_rows = 2,
                               .store_buffers = 1,
                               .producer_registers = 24,
                               .consumer_registers = 240};
constexpr Tiling kThreeStages = {.block_rows = 128,
                                 .block_columns = 256,
                                 .stages = 3,
                                 .consumers = 2,
                                 .cluster_rows = 2,
                                 .store_buffers = 4,
                                 .producer_registers = 24,
                                 .consumer_registers = 240};
constexpr Tiling kAlone = {.block_rows = 128,
                           .block_columns = 256,
                           .stages = 4,
                           .consumers = 2,
                           .store_buffers = 2,
                           .producer_registers = 24,
                           .consumer_registers = 240};
constexpr Tiling kSmall = {.block_rows = 128,
                           .block_columns = 128,
                           .stages = 6,
                           .consumers = 2,
                           .cluster_rows = 2,
                           .store_buffers = 2,
                           .producer_registers = 24,
                           .consumer_registers = 240};
constexpr Tiling kTall = {.block_rows = 256,
                          .block_columns = 128,
                          .stages = 4,
                          .consumers = 2,
                          .cluster_columns = 2,
                          .store_buffers = 2,
                          .producer_registers = 24,
                          .consumer_registers = 240};

template <Tiling kTiling, int kBand, bool kPersistent>
void whole(const wb::GemmShape& shape,
           const Bf16* A,
           const Bf16* B,
           Bf16* C,
           cudaStream_t stream) {
    launch<TileSizes<Bf16, Bf16, LayoutB::rows_of_k, kTiling>, PlainEpilogue>(
        Product<Bf16, Bf16>::of(shape, A, B, C, stream),
        {},
        {.persistent = kPersistent, .band = kBand});
}

template <Tiling kTiling, int kParts>
void in_parts(const wb::GemmShape& shape,
              const Bf16* A,
              const Bf16* B,
              Bf16* C,
              cudaStream_t stream) {
    using S = TileSizes<Bf16, Bf16, LayoutB::rows_of_k, kTiling>;
    const auto product = Product<Bf16, Bf16>::of(shape, A, B, C, stream);
    const int steps = problem_of<S>(product, 1).steps;
    launch_parts<S, PlainEpilogue>(product, {}, 8, Parts::of(steps, kParts));
}

}  // namespace

std::vector<wgmma_tma_sweep::Variant> wgmma_tma_sweep::variants() {
    return {{"128 x 256, bands of 8", whole<kTwoBuffers, 8, true>},
            {"bands of 1", whole<kTwoBuffers, 1, true>},
            {"bands of 2", whole<kTwoBuffers, 2, true>},
            {"bands of 4", whole<kTwoBuffers, 4, true>},
            {"bands of 6", whole<kTwoBuffers, 6, true>},
            {"bands of 11", whole<kTwoBuffers, 11, true>},
            {"bands of 16", whole<kTwoBuffers, 16, true>},
            {"not persistent", whole<kTwoBuffers, 8, false>},
            {"one buffer of C", whole<kOneBuffer, 8, true>},
            {"three stages, four buffers of C", whole<kThreeStages, 8, true>},
            {"no cluster, bands of 8", whole<kAlone, 8, true>},
            {"no cluster, bands of 16", whole<kAlone, 16, true>},
            {"256 x 128, shares A, bands of 4", whole<kTall, 4, true>},
            {"256 x 128, shares A, bands of 8", whole<kTall, 8, true>},
            {"2 parts", in_parts<kTwoBuffers, 2>},
            {"4 parts", in_parts<kTwoBuffers, 4>},
            {"8 parts", in_parts<kTwoBuffers, 8>},
            {"128 x 128", whole<kSmall, 8, true>},
            {"128 x 128, 2 parts", in_parts<kSmall, 2>},
            {"128 x 128, 4 parts", in_parts<kSmall, 4>},
            {"128 x 128, 8 parts", in_parts<kSmall, 8>}};
}
