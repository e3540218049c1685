/// simt/core.h: CUDA's keywords and built-in variables in plain C++.
///
/// In the simulator's build every function is a host function, so the keywords mean
/// nothing; `__shared__` and `<<<...>>>` are rewritten before the compiler sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#define SIMT_CPU 1

#ifdef SIMT_REWRITE
// simt-c++ is preprocessing a .cu file: the rewriter will read and remove the words.
#else
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#ifndef SIMT_REWRITE  // the rewriter reads these three, and removes them
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#endif
// Of the rest of CUDA's attributes, these change nothing that a program computes here.
#define __nv_pure__
#define __no_return__ __attribute__((noreturn))
#define __inline_hint__
#define __local_maxnreg__(n)
#define __cudart_builtin__
#define __device_builtin__
#define __device_builtin_surface_type__
#define __device_builtin_texture_type__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#define CUDART_CB

/// Code of the simulator that is inlined into kernels: its accesses are not the
/// kernel's and stay out of race detectors.
#define SIMT_UNSEEN __attribute__((no_sanitize("thread")))

namespace simt {
/// The name of a source file, which stands where the object does. No argument converts
/// to it, not even 0: an argument too many is an error, as with CUDA's functions.
class SourceFile {
 public:
    SourceFile() = delete;
    SourceFile(const SourceFile&) = delete;
    SIMT_UNSEEN operator const char*() const {
        return reinterpret_cast<const char*>(this);
    }
};
}  // namespace simt

/// The last parameters of every operation that reports name the caller's line.
#define SIMT_SITE                                                             \
    const simt::SourceFile &file = reinterpret_cast<const simt::SourceFile&>( \
                               *__builtin_FILE()),                            \
                           int line = __builtin_LINE()
/// The same for functions that CUDA does not have.
#define SIMT_OWN_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/// Three unsigned integers: the type of threadIdx and blockIdx.
struct uint3 {
    unsigned int x, y, z;
};

/// The size of a grid or of a block; what is not given is 1.
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

struct CUstream_st;
/// Handle of a stream; nullptr is the default stream.
using cudaStream_t = CUstream_st*;

// Real variables, not macros, so that a debugger can print them and break on them. They
// change whenever another CUDA thread is resumed, never while a thread itself runs.
extern constinit thread_local const uint3 threadIdx;
extern constinit thread_local const uint3 blockIdx;
extern constinit thread_local const dim3 blockDim;
extern constinit thread_local const dim3 gridDim;
inline constexpr int warpSize = 32;

namespace simt::detail {

/// The thread's number in its block, x fastest; its lane is the remainder modulo 32.
extern constinit thread_local const unsigned thread_rank;

/// PTX's condition code: the carry of the thread's last add.cc, sub.cc or mad.cc. It
/// lasts from one asm statement to the next; a thread that is preempted keeps it.
extern constinit thread_local bool ptx_carry;

/// The calling thread's lane, 0 to 31.
inline int lane() {
    return static_cast<int>(thread_rank & 31u);
}

/// True in a kernel, false in host code.
bool in_kernel();

/// Set while host code does what a GPU would, such as an algorithm of Thrust.
extern constinit thread_local bool device_side;

/// True where code for the device is to run: the side of `#ifdef __CUDA_ARCH__`.
bool on_device_side();

}  // namespace simt::detail
