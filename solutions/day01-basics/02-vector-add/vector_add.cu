// vector_add.cu: c = a + b, one thread for each element.
// #solution
//
// <Ladder of="vector_add" at="n = 268435456">
//        GB/s  idea                         what limits it
//   v1  2,770  one thread an element        bytes in flight: each access is of 4
//   v2  3,050  float4, and a tail of n % 4  the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "vector_add.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

/// Threads in a block. A multiple of the warp's 32; 128 to 512 all work well.
constexpr int kThreads = 256;

// #region v1-kernel
/// vector_add_v1: one thread, one element.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void vector_add_v1_kernel(const float* a,  // [n]
                                     const float* b,  // [n]
                                     float* c,        // [n]
                                     int64_t n) {
    // TODO(learner): find the index i of this thread in the whole grid, make sure that
    // it lies inside the arrays, and write c[i] (about 4 lines)
    // #solution
    // blockIdx.x * blockDim.x alone is a 32-bit product: widen it before it overflows.
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {  // the last block has threads left over
        c[i] = a[i] + b[i];
    }
    // #end
}
// #endregion v1-kernel

// #region v1-launch
static void vector_add_v1(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    // TODO(learner): launch the kernel with enough blocks of kThreads threads for n
    // elements, on the caller's stream (about 2 lines)
    // #solution
    const unsigned blocks = wb::grid_size(n, kThreads);
    vector_add_v1_kernel<<<blocks, kThreads, 0, stream>>>(a, b, c, n);
    // #end
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #solution
WB_RUNG(vector_add, vector_add_v1, "one thread an element");

// #region v2-kernel
/// vector_add_v2: one thread, four neighbouring elements, 16 bytes an access.
///
/// A load instruction moves 512 bytes a warp instead of 128, so that fewer
/// instructions keep as many bytes in flight. It needs 16-byte aligned arrays.
///
/// Launch   grid ceil_div(n / 4 + 1, kThreads), block kThreads; the one extra thread
///          adds the n % 4 last elements
__global__ void vector_add_v2_kernel(const float* a,  // [n] 16-byte aligned
                                     const float* b,  // [n] 16-byte aligned
                                     float* c,        // [n] 16-byte aligned
                                     int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t num_vectors = n / 4;
    if (i < num_vectors) {
        const float4 x = reinterpret_cast<const float4*>(a)[i];
        const float4 y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] =
            make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (i == num_vectors) {
        for (int64_t k = 4 * num_vectors; k < n; ++k) {
            c[k] = a[k] + b[k];
        }
    }
}
// #endregion v2-kernel

/// Whether a pointer may be read as float4.
static bool is_aligned_for_float4(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % alignof(float4) == 0;
}

// #region v2-launch
static void vector_add_v2(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    // A slice such as x + 1 is legal input, but no address for a float4.
    if (!is_aligned_for_float4(a) || !is_aligned_for_float4(b) ||
        !is_aligned_for_float4(c)) {
        return vector_add_v1(a, b, c, n, stream);
    }
    const unsigned blocks = wb::grid_size(n / 4 + 1, kThreads);
    vector_add_v2_kernel<<<blocks, kThreads, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch
WB_RUNG(vector_add, vector_add_v2, "float4: four elements a thread");
// #end

// #region contract
void vector_add(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when both TODOs are written
    wb::Arguments("vector_add")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("c", c, n);
    if (n == 0) return;  // a grid of zero blocks is an error: nothing to do, no launch
    // #solution
    vector_add_v2(a, b, c, n, stream);
    // #end
    // #starter vector_add_v1(a, b, c, n, stream);
}
// #endregion contract
