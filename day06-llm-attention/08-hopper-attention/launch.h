// launch.h: given with this exercise: from the arguments of the contract to the
// parameters of a kernel, and its launch.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>

#include "hopper_attention.h"
#include "problem.h"
#include "producer.h"
#include "tiles.h"

/// Where the rows of one tensor lie; strides in elements.
struct Rows {
    const void* base;
    int64_t rows, heads, sequences;
    int64_t row_stride, head_stride, sequence_stride;
};

/// One call of the contract, before anybody has decided on tiles.
struct Call {
    Rows q, k, v;
    Rows o{};         ///< of a dense call only
    Problem problem;  ///< all but row_tiles, tiles, section, copy_rows and counter
    int64_t head_dim;
    cudaStream_t stream;
};

/// Refuses GPUs that lack the instructions.
inline void require_hopper(const wb::Arguments& arguments) {
#if !defined(SIMT_CPU)
    int device = 0, major = 0, minor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    arguments.require(
        major == 9,
        "compute capability * 10",
        10 * major + minor,
        "must be 90 (H100, H200, GH200): wgmma and setmaxnreg exist on no "
        "other GPU; 07-tensor-core-attention runs here");
#elif !defined(WB_HOPPER_SIM)
    arguments.require(false,
                      "the simulator",
                      0,
                      "does not know wgmma and the TMA unit; chapter 07 runs here");
#else
    (void)arguments;
#endif
}

/// The factor from q . k to a power of two. A scale of 0 becomes a very small one, for
/// 0 times the -infinity of a masked key is no number.
inline float log2_scale(float scale) {
    constexpr double kLog2e = 1.4426950408889634;
    return std::max(static_cast<float>(double{scale} * kLog2e), 1e-35f);
}

/// The map of a tensor whose copies bring `box_rows` rows of one panel.
template <class T>
wb::ptx::TensorMap map_of(const char* name,
                          const Rows& rows,
                          int64_t head_dim,
                          int box_rows) {
    constexpr int64_t kBytes = sizeof(T);
    return wb::ptx::make_tensor_map(
        name,
        {rows.base,
         static_cast<int>(kBytes),
         {head_dim, std::max<int64_t>(rows.rows, 1), rows.heads, rows.sequences},
         {rows.row_stride * kBytes,
          rows.head_stride * kBytes,
          rows.sequence_stride * kBytes},
         {wb::ptx::kSwizzleBytes / static_cast<int>(kBytes), box_rows, 1, 1}});
}

/// Heads whose keys and values fit into a third of the L2 cache of an H100 together.
inline int heads_of_section(const Call& call) {
    constexpr double kBytes = 16 * 1024 * 1024;
    int64_t keys = call.k.rows;
    if (call.problem.key_starts != nullptr) keys /= call.problem.sequences;
    if (call.problem.cache.page_size > 0) keys = call.problem.cache.capacity();
    const double of_one = 4.0 * static_cast<double>(std::max<int64_t>(keys, 1)) *
                          static_cast<double>(call.head_dim);
    const double kv_heads = std::max(1.0, std::floor(kBytes / of_one));
    return static_cast<int>(std::min(kv_heads * call.problem.group, 1e6));
}

// #region launch
/// Launches a kernel with the tiles of `Tiling`.
///
/// @param attention_kernel  takes (TensorMaps, Problem)
/// @param threads  of a block
/// @param shared   bytes of dynamic shared memory
/// @param blocks   at most; 0: one for each tile
template <class Tiling, class Kernel>
void launch_tiles(Kernel attention_kernel,
                  int threads,
                  size_t shared,
                  unsigned blocks,
                  const Call& call,
                  unsigned* counter = nullptr) {
    using T = typename Tiling::T;
    Problem problem = call.problem;
    const int64_t heads = int64_t{problem.sequences} * problem.query_heads;
    problem.row_tiles = wb::ceil_div(problem.queries, Tiling::kRows);
    const unsigned tiles = wb::grid_size(heads * problem.row_tiles, 1);
    problem.tiles = static_cast<int>(tiles);
    problem.section =
        static_cast<int>(std::min<int64_t>(heads, heads_of_section(call)));
    problem.copy_rows = Tiling::kKeys;
    if (problem.cache.page_size > 0)
        problem.copy_rows =
            static_cast<int>(std::min<int64_t>(problem.cache.page_size, Tiling::kKeys));
    problem.counter = counter;
    TensorMaps maps;
    maps.q = map_of<T>("q", call.q, call.head_dim, Tiling::kRows);
    maps.k = map_of<T>("k", call.k, call.head_dim, problem.copy_rows);
    maps.v = map_of<T>("v", call.v, call.head_dim, problem.copy_rows);
    if constexpr (Tiling::kTmaStore) {
        if (call.o.base != nullptr)
            problem.o_map = map_of<T>("o", call.o, call.head_dim, kGroupRows);
    }
    CUDA_CHECK(cudaFuncSetAttribute(attention_kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)));
    const unsigned grid = blocks == 0 ? tiles : std::min(blocks, tiles);
    attention_kernel<<<grid, threads, shared, call.stream>>>(maps, problem);
    CUDA_CHECK_LAUNCH();
}
// #endregion launch

/// lse of rows that see no key: -infinity. One thread a row.
static __global__ void no_keys_kernel(float* lse,  // [rows]
                                      int64_t rows) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row < rows) lse[row] = -INFINITY;
}

/// The result without keys: of no bytes there is no tensor map.
inline void write_no_keys(
    void* o, int64_t o_bytes, float* lse, int64_t rows, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(o, 0, static_cast<size_t>(o_bytes), stream));
    if (lse == nullptr) return;
    constexpr int kThreads = 256;
    no_keys_kernel<<<wb::grid_size(rows, kThreads), kThreads, 0, stream>>>(lse, rows);
    CUDA_CHECK_LAUNCH();
}
