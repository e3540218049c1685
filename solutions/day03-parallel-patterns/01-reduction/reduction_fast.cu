// reduction_fast.cu: v10: one kernel, which reads 16 bytes at a time.
#include "reduction.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/scratch.h>

#include <algorithm>
#include <type_traits>

#include "operations.h"

// #region v10-warp
/// The sum of 64 bits of each lane, modulo 2^64. From sm_80 on one instruction adds 32
/// bits of all lanes; so that no sum of 32 parts is longer than that, parts have 27.
__device__ inline int64_t warp_sum(int64_t value) {
#if defined(SIMT_CPU) || __CUDA_ARCH__ >= 800
    constexpr int kBits = 27;
    constexpr unsigned kMask = (1u << kBits) - 1;
    const auto bits = static_cast<uint64_t>(value);
    uint64_t sum = 0;
    for (int from = 0; from < 64; from += kBits) {
        const auto part = static_cast<unsigned>(bits >> from) & kMask;
        sum += uint64_t{__reduce_add_sync(wb::kAllLanes, part)} << from;
    }
    return static_cast<int64_t>(sum);
#else
    for (int distance = wb::kWarpSize / 2; distance > 0; distance /= 2)
        value += shuffle_down(value, distance);
    return value;
#endif
}

/// Combines one value of each lane of the warp, without shared memory. All 32 lanes
/// must call it; the result is lane 0's.
template <class Op>
__device__ typename Op::Value combine_warp(typename Op::Value value) {
    if constexpr (std::is_same_v<typename Op::Value, int64_t>) {
        return warp_sum(value);
    } else {
        for (int distance = wb::kWarpSize / 2; distance > 0; distance /= 2)
            value = Op::combine(value, shuffle_down(value, distance));
        return value;
    }
}
// #endregion v10-warp

/// The same for one value of each thread of the block, all of which must call it; the
/// result is thread 0's. Between two calls there must be a barrier.
template <class Op>
__device__ typename Op::Value combine_block(typename Op::Value value) {
    __shared__ typename Op::Value s_warps[kWarps];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    value = combine_warp<Op>(value);
    if (lane == 0) s_warps[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < kWarps ? s_warps[lane] : Op::identity();
        value = combine_warp<Op>(value);
    }
    return value;
}

// #region last-block
/// Thread 0 leaves the block's value in its place. True for all threads of the block
/// that is the last of the grid to do so: it may read what all others have left.
template <class Value>
__device__ bool is_last_block(Value value,
                              Value* partials,  // [gridDim.x]
                              unsigned* counter) {
    // TODO(learner): a shared bool. Thread 0 writes its value to the block's place,
    // then counts the block, but not before the value is there for all blocks:
    // __threadfence(). atomicInc(counter, gridDim.x - 1) gives the count so far, and
    // goes on from gridDim.x - 1 to 0, as the contract wants it. The block is the
    // last if all others have been counted; one more fence, so that no partial is
    // read before that is known. All threads of the block get the answer (about 9
    // lines)
    // #starter (void)value;
    // #starter (void)partials;
    // #starter (void)counter;
    // #starter return false;
    // #solution
    __shared__ bool s_is_last;
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = value;
        __threadfence();
        s_is_last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return s_is_last;
    // #end
}

/// What the last block does: it combines all blocks' values, in the order of the
/// blocks, whichever of them was last.
template <class Op>
__device__ void finish(const typename Op::Value* partials,  // [gridDim.x]
                       typename Op::Result* result          // [1]
) {
    auto value = Op::identity();
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads)
        value = Op::combine(value, partials[i]);
    value = combine_block<Op>(value);
    if (threadIdx.x == 0) *result = Op::result(value);
}
// #endregion last-block

// #region v10-loads
/// 16 bytes of elements, which are loaded at once.
template <class In>
struct alignas(16) Pack {
    static constexpr int kItems = 16 / sizeof(In);
    In items[kItems];
};

/// The elements from i on. Those past the end are Op::padding(), which changes nothing.
///
/// @param whole  all of them exist, and x + i is a multiple of 16
template <class Op>
__device__ Pack<typename Op::In> load_pack(const typename Op::In* x,  // [n]
                                           int64_t i,
                                           int64_t n,
                                           bool whole) {
    using P = Pack<typename Op::In>;
    if (whole) return *reinterpret_cast<const P*>(x + i);
    P pack;
#pragma unroll
    for (int k = 0; k < P::kItems; ++k)
        pack.items[k] = i + k < n ? x[i + k] : Op::padding();
    return pack;
}
// #endregion v10-loads

/// Packs that a thread has on their way at a time.
constexpr int kBatch = 4;

// #region v10-tile
/// This thread's share of a tile: batches of packs, and in each batch all loads before
/// the first of them is used. Neighbouring threads load neighbouring packs.
///
/// @tparam kLoads  packs of a batch, 1 or kBatch
/// @param first    of the tile's elements
/// @param whole    the tile is whole, and x is a multiple of 16
template <class Op, int kLoads>
__device__ typename Op::Value reduce_tile(const typename Op::In* x,  // [n]
                                          int64_t first,
                                          int batches,
                                          int64_t n,
                                          bool whole) {
    using P = Pack<typename Op::In>;
    typename Op::Value values[P::kItems];
    for (int k = 0; k < P::kItems; ++k)
        values[k] = Op::identity();
    // TODO(learner): for each batch, load its kLoads packs into registers, pack k of
    // the batch kThreads packs behind pack k - 1; only then combine: item j of each
    // pack with values[j]. Op::make() wants to know where the item is (about 13
    // lines)
    // #starter (void)x;
    // #starter (void)first;
    // #starter (void)batches;
    // #starter (void)n;
    // #starter (void)whole;
    // #solution
    for (int batch = 0; batch < batches; ++batch) {
        const int64_t mine =
            first +
            (int64_t{batch} * kLoads * kThreads + threadIdx.x) * int64_t{P::kItems};
        P packs[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; ++k)
            packs[k] = load_pack<Op>(x, mine + k * kThreads * P::kItems, n, whole);
#pragma unroll
        for (int k = 0; k < kLoads; ++k)
#pragma unroll
            for (int j = 0; j < P::kItems; ++j) {
                const int64_t index = mine + k * kThreads * P::kItems + j;
                values[j] = Op::combine(values[j], Op::make(packs[k].items[j], index));
            }
    }
    // #end
#pragma unroll
    for (int width = P::kItems / 2; width > 0; width /= 2)
#pragma unroll
        for (int k = 0; k < width; ++k)
            values[k] = Op::combine(values[k], values[k + width]);
    return values[0];
}
// #endregion v10-tile

// #region v10-kernel
/// v10: a block for each tile, and the last block combines what all have left. Which
/// element meets which one follows from n alone: not from the order of the blocks, not
/// from the GPU, and not from where x begins.
///
/// @tparam kLoads  packs that a thread loads at a time
///
/// Launch   grid ceil_div(n, tile), block kThreads; a tile is kThreads * kLoads *
///          batches packs
/// Traffic  reads n elements; a Value for each block, written and read
template <class Op, int kLoads>
__global__ void __launch_bounds__(kThreads)
    reduce_v10_kernel(const typename Op::In* x,      // [n]
                      typename Op::Result* result,   // [1]
                      typename Op::Value* partials,  // [gridDim.x]
                      unsigned* counter,             // [1], 0
                      int batches,
                      int64_t n) {
    constexpr int kItems = Pack<typename Op::In>::kItems;
    const int64_t tile = int64_t{kThreads} * kItems * kLoads * batches;
    const int64_t first = blockIdx.x * tile;
    const bool whole =
        n - first >= tile && reinterpret_cast<uintptr_t>(x) % sizeof(uint4) == 0;
    const auto value =
        combine_block<Op>(reduce_tile<Op, kLoads>(x, first, batches, n, whole));
    if (is_last_block(value, partials, counter)) finish<Op>(partials, result);
}
// #endregion v10-kernel

// #region v10-launch
template <class Op, int kLoads>
static void launch_tiles(const typename Op::In* x,
                         typename Op::Result* result,
                         int64_t n,
                         unsigned* counter,
                         int batches,
                         cudaStream_t stream) {
    constexpr int kItems = Pack<typename Op::In>::kItems;
    const unsigned blocks = wb::grid_size(n, kThreads * kItems * kLoads * batches);
    const wb::Scratch<typename Op::Value> partials(blocks, stream);
    reduce_v10_kernel<Op, kLoads><<<blocks, kThreads, 0, stream>>>(
        x, result, partials.data(), counter, batches, n);
    CUDA_CHECK_LAUNCH();
}

/// Up to 2^18 packs (4 MB) the tiles are small, so that all multiprocessors have some.
/// Then they grow with the array, so that the last block has little to add: at 1 GB
/// each of its threads has 32 values.
template <class Op>
static void reduce_v10(const typename Op::In* x,
                       typename Op::Result* result,
                       int64_t n,
                       unsigned* counter,
                       cudaStream_t stream) {
    const int64_t packs = wb::ceil_div(n, int64_t{Pack<typename Op::In>::kItems});
    if (packs <= int64_t{1} << 18)
        return launch_tiles<Op, 1>(x, result, n, counter, 1, stream);
    const int64_t batches = std::clamp(packs >> 21, int64_t{1}, int64_t{8});
    launch_tiles<Op, kBatch>(x, result, n, counter, static_cast<int>(batches), stream);
}
// #endregion v10-launch

// #solution
#ifndef WB_VERSION_ONLY  // reduction.cu has all versions, and the contract
// #end
// #region contract
void reduce_sum(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (Contract<Sum>{"reduce_sum"}.has_work(x, result, n, counter, stream))
        reduce_v10<Sum>(x, result, n, counter, stream);
}

void reduce_sum_bf16(
    const bf16* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (Contract<SumBf16>{"reduce_sum_bf16"}.has_work(x, result, n, counter, stream))
        reduce_v10<SumBf16>(x, result, n, counter, stream);
}

void reduce_sum_i32(const int32_t* x,
                    int64_t* result,
                    int64_t n,
                    unsigned* counter,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (Contract<SumI32>{"reduce_sum_i32"}.has_work(x, result, n, counter, stream))
        reduce_v10<SumI32>(x, result, n, counter, stream);
}

void reduce_max(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (Contract<Max>{"reduce_max", 1}.has_work(x, result, n, counter, stream))
        reduce_v10<Max>(x, result, n, counter, stream);
}

void reduce_argmax(const float* x,
                   int64_t* result,
                   int64_t n,
                   unsigned* counter,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (Contract<ArgMax>{"reduce_argmax", 1}.has_work(x, result, n, counter, stream))
        reduce_v10<ArgMax>(x, result, n, counter, stream);
}
// #endregion contract
// #solution
#endif
// #end
