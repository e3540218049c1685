// coalescing_fast.cu: the three functions with many bytes under way. The copy moves 16
// bytes at a time, from any address to any other; the two others are given.
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "coalescing.h"
#include "given.h"

using wb::kWarpSize;

// #region plan
/// How a copy of any alignment is divided: `head` bytes, num_vectors times 16 bytes,
/// and what is left. In the destination, the vectors begin at a sector. In the source,
/// they begin `shift` bytes behind an aligned address: vector i is the last 16 - shift
/// bytes of the aligned word i and the first shift bytes of word i + 1. With a shift of
/// 6:
///
///                      word 0           word 1           word 2
///     source       |......aaaaaaaaaa|bbbbbbbbbbbbbbbb|cccccccccccccccc|
///     destination        |aaaaaaaaaabbbbbb|bbbbbbbbbbcccccc|
///                         vector 0         vector 1
///
/// All of these words lie inside of the source.
struct Plan {
    int64_t head;         // < 47; or all bytes, < 63, if there are no vectors
    int64_t num_vectors;  // >= 0
    int shift;            // [0, 16)
};

static Plan plan_copy(const void* source, const void* destination, int64_t num_bytes) {
    constexpr int64_t kBytes = sizeof(uint4);
    constexpr int64_t kSector = 32;
    const auto from =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(source) % kBytes);
    const auto to =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(destination) % kSector);
    int64_t head = (kSector - to) % kSector;
    const int64_t shift = (from + head) % kBytes;
    if (shift > head) head += kSector;  // word 0 would begin before the source does
    const int64_t num_words = (num_bytes - head + shift) / kBytes;
    const int64_t num_vectors = num_words - (shift > 0 ? 1 : 0);
    if (num_vectors <= 0) return {num_bytes, 0, 0};
    return {head, num_vectors, static_cast<int>(shift)};
}
// #endregion plan

// #region shifted
/// 16 of 32 bytes: those that begin `shift` bytes behind the start of `low`.
///
/// @param low, high  neighbours in memory
/// @param shift      [0, 16)
__device__ inline uint4 bytes_from(uint4 low, uint4 high, int shift) {
    uint32_t r[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    // A subscript that is known only at run time would put r into memory.
    if (shift & 8) {
#pragma unroll
        for (int i = 0; i < 6; ++i)
            r[i] = r[i + 2];
    }
    if (shift & 4) {
#pragma unroll
        for (int i = 0; i < 5; ++i)
            r[i] = r[i + 1];
    }
    const unsigned bits = 8 * (shift & 3);
    return make_uint4(__funnelshift_r(r[0], r[1], bits),
                      __funnelshift_r(r[1], r[2], bits),
                      __funnelshift_r(r[2], r[3], bits),
                      __funnelshift_r(r[3], r[4], bits));
}

/// The word behind this lane's `mine`: the next lane's, and for the last lane the one
/// that lane 0 has in its next round. All lanes of the warp must call it.
__device__ inline uint4 word_behind(uint4 mine, uint4 next_round) {
    const int lane = threadIdx.x % kWarpSize;
    const int from = (lane + 1) % kWarpSize;
    const uint4 given = lane == 0 ? next_round : mine;
    return make_uint4(__shfl_sync(wb::kAllLanes, given.x, from),
                      __shfl_sync(wb::kAllLanes, given.y, from),
                      __shfl_sync(wb::kAllLanes, given.z, from),
                      __shfl_sync(wb::kAllLanes, given.w, from));
}
// #endregion shifted

// #region vectors-v5
/// This lane's kLoads vectors of the warp's: all loads, then all stores.
///
/// @param words    the source from its first aligned word on
/// @param vectors  [num_vectors] the destination behind the head
/// @param first    the lane's first vector; the others are kWarpSize apart
/// @param shift    [0, 16), of plan_copy
/// @tparam kShifted  whether shift > 0: then there are num_vectors + 1 words
template <bool kShifted>
__device__ void copy_vectors(
    const uint4* words, uint4* vectors, int64_t num_vectors, int64_t first, int shift) {
    // TODO(learner): load the lane's kLoads words into registers before anything is
    // stored. If kShifted, lane 0 loads one more, which the warp's last vector needs.
    // Then make each vector (with word_behind and bytes_from if kShifted) and store it.
    // A lane past the end must neither load nor store, but it must call word_behind,
    // too (about 18 lines)
    // #solution
    const int64_t num_words = num_vectors + (kShifted ? 1 : 0);
    uint4 values[kLoads + 1] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kWarpSize;
        if (i < num_words) values[k] = words[i];
    }
    if (kShifted && threadIdx.x % kWarpSize == 0) {
        const int64_t i = first + kLoads * kWarpSize;
        if (i < num_words) values[kLoads] = words[i];
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kWarpSize;
        uint4 value = values[k];
        if (kShifted) {
            value = bytes_from(value, word_behind(value, values[k + 1]), shift);
        }
        if (i < num_vectors) vectors[i] = value;
    }
    // #end
}
// #endregion vectors-v5

// #region copy-v5
/// copy_bytes_v5: a warp copies kLoads * 32 neighbouring vectors of 16 bytes, with all
/// loads before the first store. Where source and destination differ modulo 16, the
/// vectors are put together of aligned words in registers.
///
/// Launch   grid ceil_div(num_vectors, kLoads * kThreads), at least 1, block kThreads
/// @tparam kShifted  whether plan.shift > 0
template <bool kShifted>
__global__ void copy_bytes_v5_kernel(const unsigned char* source,  // [num_bytes]
                                     unsigned char* destination,   // [num_bytes]
                                     int64_t num_bytes,
                                     Plan plan) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t warp = i / kWarpSize;
    const int64_t tail = plan.head + plan.num_vectors * int64_t{sizeof(uint4)};
    copy_vectors<kShifted>(
        reinterpret_cast<const uint4*>(source + (plan.head - plan.shift)),
        reinterpret_cast<uint4*>(destination + plan.head),
        plan.num_vectors,
        warp * (kLoads * kWarpSize) + threadIdx.x % kWarpSize,
        plan.shift);
    // Head and tail, byte by byte: 62 and 30 bytes at most, for threads of block 0.
    if (i < plan.head) destination[i] = source[i];
    if (tail + i < num_bytes) destination[tail + i] = source[tail + i];
}
// #endregion copy-v5

// #region launch-v5
static void copy_bytes_v5(const void* source,
                          void* destination,
                          int64_t num_bytes,
                          cudaStream_t stream) {
    const Plan plan = plan_copy(source, destination, num_bytes);
    const auto kernel =
        plan.shift > 0 ? copy_bytes_v5_kernel<true> : copy_bytes_v5_kernel<false>;
    const unsigned blocks =
        plan.num_vectors > 0 ? wb::grid_size(plan.num_vectors, kLoads * kThreads) : 1;
    kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const unsigned char*>(source),
                                            static_cast<unsigned char*>(destination),
                                            num_bytes,
                                            plan);
    CUDA_CHECK_LAUNCH();
}
// #endregion launch-v5

// #region strided-v2
/// copy_strided_v2: a thread has kLoads elements, and all of its loads come before its
/// first store, so that it waits for memory once.
///
/// Launch   grid ceil_div(n, kLoads * kThreads), block kThreads
__global__ void copy_strided_v2_kernel(const float* x,  // [(n - 1) * stride + 1]
                                       float* y,        // [n]
                                       int64_t n,
                                       int64_t stride) {
    const int64_t first = int64_t{blockIdx.x} * (kLoads * kThreads) + threadIdx.x;
    float values[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kThreads;
        if (i < n) values[k] = x[i * stride];
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kThreads;
        if (i < n) y[i] = values[k];
    }
}
// #endregion strided-v2

static void copy_strided_v2(
    const float* x, float* y, int64_t n, int64_t stride, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kLoads * kThreads);
    copy_strided_v2_kernel<<<blocks, kThreads, 0, stream>>>(x, y, n, stride);
    CUDA_CHECK_LAUNCH();
}

// #region records-v3
/// aos_to_soa_v3: a block takes kLoads * kThreads records into shared memory. A thread
/// has kLoads * kFields loads, all before the barrier.
///
/// Launch   grid ceil_div(n, kLoads * kThreads), block kThreads
/// @tparam kFields  floats of a record, 1 to 4
template <int kFields>
__global__ void aos_to_soa_v3_kernel(const float* aos,  // [n, kFields]
                                     float* soa,        // [kFields, n]
                                     int64_t n) {
    constexpr int kRecords = kLoads * kThreads;
    __shared__ float s_words[kRecords * kFields];
    const int tid = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * kRecords;
    const int64_t num_words = (n - first) * kFields;  // up to the end of the array
    const float* words = aos + first * kFields;
#pragma unroll
    for (int word = tid; word < kRecords * kFields; word += kThreads) {
        if (word < num_words) s_words[word] = words[word];
    }
    __syncthreads();
#pragma unroll
    for (int record = tid; record < kRecords; record += kThreads) {
        if (first + record >= n) break;
#pragma unroll
        for (int f = 0; f < kFields; ++f) {
            soa[f * n + first + record] = s_words[record * kFields + f];
        }
    }
}
// #endregion records-v3

static void aos_to_soa_v3(
    const float* aos, float* soa, int64_t n, int num_fields, cudaStream_t stream) {
    using Kernel = void (*)(const float*, float*, int64_t);
    static const Kernel kKernels[] = {aos_to_soa_v3_kernel<1>,
                                      aos_to_soa_v3_kernel<2>,
                                      aos_to_soa_v3_kernel<3>,
                                      aos_to_soa_v3_kernel<4>};
    const unsigned blocks = wb::grid_size(n, kLoads * kThreads);
    kKernels[num_fields - 1]<<<blocks, kThreads, 0, stream>>>(aos, soa, n);
    CUDA_CHECK_LAUNCH();
}

// #solution
#ifndef WB_VERSION_ONLY  // coalescing.cu has all versions, and the contract
// #end
// #region contract
void copy_strided(
    const float* x, float* y, int64_t n, int64_t stride, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line too: its kernel is given
    check_copy_strided(x, y, n, stride);
    if (n == 0) return;
    copy_strided_v2(x, y, n, stride, stream);
}

void aos_to_soa(
    const float* aos, float* soa, int64_t n, int num_fields, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line too: its kernel is given
    check_aos_to_soa(aos, soa, n, num_fields);
    if (n == 0) return;
    aos_to_soa_v3(aos, soa, n, num_fields, stream);
}

void copy_bytes(const void* source,
                void* destination,
                int64_t num_bytes,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_copy_bytes(source, destination, num_bytes);
    if (num_bytes == 0) return;
    copy_bytes_v5(source, destination, num_bytes, stream);
}
// #endregion contract
// #solution
#endif
// #end
