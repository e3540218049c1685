// Times day06-llm-attention/09-blackwell-attention, on a GPU of compute capability
// 10.0. Nobody has run it there yet; elsewhere it says so and times nothing.
#include "blackwell_attention.h"

#include <wb/bench/bench.h>
#include <wb/bench/narrow_attention.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cstdio>
#include <vector>

using namespace wb::bench;

namespace {

/// As many tokens, 16,384, and as wide, 2048, whatever the length and the head
/// dimension: the grid on which attention kernels are usually compared.
std::vector<wb::AttentionShape> usual_grid() {
    std::vector<wb::AttentionShape> shapes;
    for (const int64_t dim : {128, 64})
        for (const bool causal : {false, true})
            for (const int64_t n : {1024, 2048, 4096, 8192, 16384})
                shapes.push_back(
                    plain_attention(16384 / n, 2048 / dim, n, n, dim, causal));
    return shapes;
}

std::vector<wb::AttentionShape> shapes(const Bench& bench) {
#ifdef SIMT_CPU
    // ./learn xray watches every access: one tile of rows takes it a second.
    if (simt::check::active()) return {plain_attention(1, 1, 128, 128, 64)};
#endif
    return bench.sizes<wb::AttentionShape>({plain_attention(1, 2, 70, 70, 64)},
                                           {plain_attention(1, 16, 8192, 8192, 128)},
                                           usual_grid());
}

bool has_tensor_memory() {
#ifdef SIMT_CPU
    return true;
#else
    cudaDeviceProp prop;
    return cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.major == 10 &&
           prop.minor == 0;
#endif
}

}  // namespace

WB_BENCH(blackwell_attention, bench) {
    if (!has_tensor_memory()) {
        std::printf("blackwell_attention needs a GPU of compute capability 10.0\n");
        return;
    }
    using T = __nv_bfloat16;
    using Function = void(const wb::AttentionShape&,
                          const T*,
                          const T*,
                          const T*,
                          T*,
                          float*,
                          cudaStream_t);
    for (const auto& shape : shapes(bench))
        time_narrow_attention<T, Function>(bench,
                                           "blackwell_attention",
                                           blackwell_attention,
                                           shape,
                                           Ceiling::bf16,
                                           0x1p-8,
                                           [](const std::string&) { return false; });
}
