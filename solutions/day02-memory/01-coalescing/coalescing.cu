// coalescing.cu: three copies that differ in which bytes a warp asks for at once.
// #solution
//
// copy_bytes_v3 and v4 have a file each. The fastest versions, copy_strided_v2,
// aos_to_soa_v3 and copy_bytes_v5, are in coalescing_fast.cu: the second stage.
//
// <Ladder of="copy_strided" at="n = 67108864, stride 1">
//        GB/s  idea                       what limits it
//   v1  2,350  one thread an element      bytes in flight: each thread has 4 under way
//   v2  2,940  four loads before a store  the sectors that the stride makes it move
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="aos_to_soa" at="n = 67108864, 3 fields">
//        GB/s  idea                    what limits it
//   v1  2,980  one thread a record     loads: 3 requests for each sector
//   v2  2,420  through shared memory   bytes in flight: few loads before the barrier
//   v3  2,970  a tile of 1024 records  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="copy_bytes" at="1 GiB">
//        GB/s  idea                       what limits it
//   v1    804  one thread a byte          requests: each moves a single sector
//   v2  3,010  head, widest words, tail   one load in flight for each thread
//   v3  2,850  a grid-stride loop         as v2, and fewer threads
//   v4  2,980  four loads before a store  the speed of memory, or narrow words
//   v5  2,990  words put together         the speed of memory, at any alignment
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
// #end
#include "coalescing.h"

#include <wb/check.h>
// #solution
#include <wb/device.h>
// #end
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <algorithm>

#include "given.h"

// #region strided-v1
/// copy_strided_v1: one thread, one element.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void copy_strided_v1_kernel(const float* x,  // [(n - 1) * stride + 1]
                                       float* y,        // [n]
                                       int64_t n,
                                       int64_t stride) {
    // TODO(learner): find this thread's element of y, in 64 bits, and copy it if there
    // is one (2 lines)
    // #solution
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * stride];
    // #end
}
// #endregion strided-v1

static void copy_strided_v1(
    const float* x, float* y, int64_t n, int64_t stride, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    copy_strided_v1_kernel<<<blocks, kThreads, 0, stream>>>(x, y, n, stride);
    CUDA_CHECK_LAUNCH();
}

// #solution
WB_RUNG(copy_strided, copy_strided_v1, "one thread an element");

// #region records-v1
/// aos_to_soa_v1: one thread, one record.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void aos_to_soa_v1_kernel(const float* aos,  // [n, num_fields]
                                     float* soa,        // [num_fields, n]
                                     int64_t n,
                                     int num_fields) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int f = 0; f < num_fields; ++f) {
        soa[f * n + i] = aos[i * num_fields + f];
    }
}
// #endregion records-v1

static void aos_to_soa_v1(
    const float* aos, float* soa, int64_t n, int num_fields, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    aos_to_soa_v1_kernel<<<blocks, kThreads, 0, stream>>>(aos, soa, n, num_fields);
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(aos_to_soa, aos_to_soa_v1, "one thread a record");

// #end
// #region records-v2
/// aos_to_soa_v2: the words of kThreads records go to shared memory in the order in
/// which they lie in `aos`, and from there into each field's part of `soa`.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
__global__ void aos_to_soa_v2_kernel(const float* aos,  // [n, num_fields]
                                     float* soa,        // [num_fields, n]
                                     int64_t n,
                                     int num_fields) {
    // TODO(learner): an array s_words in shared memory, 4 floats for each thread. Copy
    // the words of the block's kThreads records into it, such that neighbouring threads
    // load neighbouring words; the last block may have fewer records. Wait for the
    // block. Then let each thread write the num_fields words of its own record to soa,
    // if there is such a record (about 14 lines)
    // #solution
    constexpr int kMaxFields = 4;
    __shared__ float s_words[kThreads * kMaxFields];
    const int tid = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * kThreads;  // the block's first record
    const int64_t records = n - first < kThreads ? n - first : kThreads;
    for (int word = tid; word < records * num_fields; word += kThreads) {
        s_words[word] = aos[first * num_fields + word];
    }
    __syncthreads();
    if (tid < records) {
        for (int f = 0; f < num_fields; ++f) {
            soa[f * n + first + tid] = s_words[tid * num_fields + f];
        }
    }
    // #end
}
// #endregion records-v2

static void aos_to_soa_v2(
    const float* aos, float* soa, int64_t n, int num_fields, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    aos_to_soa_v2_kernel<<<blocks, kThreads, 0, stream>>>(aos, soa, n, num_fields);
    CUDA_CHECK_LAUNCH();
}

// #solution
WB_RUNG(aos_to_soa, aos_to_soa_v2, "through shared memory");

// #region bytes-v1
/// copy_bytes_v1: one thread, one byte.
///
/// Launch   grid ceil_div(num_bytes, kThreads), block kThreads, no shared memory
__global__ void copy_bytes_v1_kernel(const unsigned char* source,  // [num_bytes]
                                     unsigned char* destination,   // [num_bytes]
                                     int64_t num_bytes) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < num_bytes) destination[i] = source[i];
}
// #endregion bytes-v1

static void copy_bytes_v1(const void* source,
                          void* destination,
                          int64_t num_bytes,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(num_bytes, kThreads);
    copy_bytes_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        static_cast<const unsigned char*>(source),
        static_cast<unsigned char*>(destination),
        num_bytes);
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(copy_bytes, copy_bytes_v1, "one thread a byte");

// #end
// #region widest
/// The largest of 16, 8, 4, 2 and 1 bytes that divides the distance of the two arrays:
/// words of this size, and no wider ones, can be aligned in both at once.
static int widest_word(const void* source, const void* destination) {
    const uint64_t distance =
        reinterpret_cast<uintptr_t>(destination) - reinterpret_cast<uintptr_t>(source);
    // TODO(learner): as said above (about 3 lines)
    // #solution
    int width = 16;
    while (distance % width != 0)
        width /= 2;
    return width;
    // #end
    // #starter return distance == 0 ? 16 : 1;  // and no word but a byte: replace it
}
// #endregion widest

// #region pieces
/// A copy in three pieces: bytes before the first aligned word, words, bytes behind.
struct Pieces {
    int width;          // of a word, in bytes
    int64_t head;       // bytes, < width
    int64_t num_words;  // >= 0; what is left behind them is < width, too
};

static Pieces divide(const void* source, const void* destination, int64_t num_bytes) {
    const int width = widest_word(source, destination);
    const auto past =  // an aligned address of the destination
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(destination) % width);
    const int64_t head = std::min((width - past) % width, num_bytes);
    return {width, head, (num_bytes - head) / width};
}
// #endregion pieces

// #region bytes-v2
/// copy_bytes_v2: one thread, one word; the first threads take the bytes of head and
/// tail as well.
///
/// Launch   grid ceil_div(num_words, kThreads), at least 1, block kThreads
/// @tparam Word  an unsigned type of pieces.width bytes
template <class Word>
__global__ void copy_bytes_v2_kernel(const unsigned char* source,  // [num_bytes]
                                     unsigned char* destination,   // [num_bytes]
                                     int64_t num_bytes,
                                     Pieces pieces) {
    // TODO(learner): let i be this thread's number in the grid. Copy word i of those
    // behind the head, if there is one; byte i of the head, if there is one; byte i of
    // what is left behind the words, if there is one (about 8 lines)
    // #solution
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t tail = pieces.head + pieces.num_words * int64_t{sizeof(Word)};
    if (i < pieces.num_words) {
        reinterpret_cast<Word*>(destination + pieces.head)[i] =
            reinterpret_cast<const Word*>(source + pieces.head)[i];
    }
    if (i < pieces.head) destination[i] = source[i];
    if (tail + i < num_bytes) destination[tail + i] = source[tail + i];
    // #end
}
// #endregion bytes-v2

/// The instances of a kernel for words of 1, 2, 4, 8 and 16 bytes, in this order.
using CopyKernel = void (*)(const unsigned char*, unsigned char*, int64_t, Pieces);
using CopyKernels = CopyKernel[5];

static void launch_copy(const CopyKernels& kernels,
                        const Pieces& pieces,
                        int64_t blocks,
                        const void* source,
                        void* destination,
                        int64_t num_bytes,
                        cudaStream_t stream) {
    int index = 0;
    for (int width = 1; width < pieces.width; width *= 2)
        ++index;
    kernels[index]<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
        static_cast<const unsigned char*>(source),
        static_cast<unsigned char*>(destination),
        num_bytes,
        pieces);
    CUDA_CHECK_LAUNCH();
}

static void copy_bytes_v2(const void* source,
                          void* destination,
                          int64_t num_bytes,
                          cudaStream_t stream) {
    static const CopyKernels kKernels = {copy_bytes_v2_kernel<uint8_t>,
                                         copy_bytes_v2_kernel<uint16_t>,
                                         copy_bytes_v2_kernel<uint32_t>,
                                         copy_bytes_v2_kernel<uint2>,
                                         copy_bytes_v2_kernel<uint4>};
    const Pieces pieces = divide(source, destination, num_bytes);
    const int64_t items = std::max<int64_t>(pieces.num_words, 1);
    launch_copy(kKernels,
                pieces,
                wb::grid_size(items, kThreads),
                source,
                destination,
                num_bytes,
                stream);
}

// #solution
WB_RUNG(copy_bytes, copy_bytes_v2, "head, widest words, tail");

#include "copy_03_grid_stride.cuh"
#include "copy_04_loads_first.cuh"

#define WB_VERSION_ONLY
#include "coalescing_fast.cu"
WB_RUNG(copy_strided, copy_strided_v2, "four loads before a store");
WB_RUNG(aos_to_soa, aos_to_soa_v3, "a tile of 1024 records");
WB_RUNG(copy_bytes, copy_bytes_v5, "words put together");
// #end

// #region contract
void copy_strided(
    const float* x, float* y, int64_t n, int64_t stride, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when its kernel is written
    check_copy_strided(x, y, n, stride);
    if (n == 0) return;
    // #solution
    copy_strided_v2(x, y, n, stride, stream);
    // #end
    // #starter copy_strided_v1(x, y, n, stride, stream);
}

void aos_to_soa(
    const float* aos, float* soa, int64_t n, int num_fields, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when its kernel is written
    check_aos_to_soa(aos, soa, n, num_fields);
    if (n == 0) return;
    // #solution
    aos_to_soa_v3(aos, soa, n, num_fields, stream);
    // #end
    // #starter aos_to_soa_v2(aos, soa, n, num_fields, stream);
}

void copy_bytes(const void* source,
                void* destination,
                int64_t num_bytes,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when both of its TODOs are written
    check_copy_bytes(source, destination, num_bytes);
    if (num_bytes == 0) return;
    // #solution
    copy_bytes_v5(source, destination, num_bytes, stream);
    // #end
    // #starter copy_bytes_v2(source, destination, num_bytes, stream);
}
// #endregion contract
