/// variants.h: launches kernels in several variants, with shared memory that they do
/// not use. This is how to try a kernel at a lower occupancy without changing it.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include "occupancy_and_ilp.h"

using CopyKernel = void (*)(const float* x, float* y, int64_t n);
using IterateKernel = void (*)(const float* x, float* y, int64_t n, Map map);

/// One instance of a kernel for 1, 2, 4 and 8 pieces of work a thread.
template <class Kernel>
using Instances = const Kernel (&)[4];

/// The instance for so many pieces. Throws wb::InvalidArgument.
template <class Kernel>
Kernel instance_of(const char* function, Instances<Kernel> instances, int each) {
    wb::Arguments(function).require(
        each == 1 || each == 2 || each == 4 || each == 8, "each", each, "1, 2, 4 or 8");
    return instances[each == 8 ? 3 : each / 2];
}

// #region ballast
/// kernel<<<blocks, threads, ballast, stream>>>(arguments…).
template <class Kernel, class... Arguments>
void launch_with_ballast(Kernel kernel,
                         unsigned blocks,
                         int threads,
                         int64_t ballast,
                         cudaStream_t stream,
                         Arguments... arguments) {
    announce_shared(kernel, ballast);
    kernel<<<blocks, threads, static_cast<size_t>(ballast), stream>>>(arguments...);
    CUDA_CHECK_LAUNCH();
}
// #endregion ballast

/// Validates, and launches a copy: a block copies 4 * variant.each floats a thread.
inline void launch_copy(Instances<CopyKernel> instances,
                        const float* x,
                        float* y,
                        int64_t n,
                        Variant variant,
                        cudaStream_t stream) {
    const CopyKernel kernel = instance_of("copy_floats", instances, variant.each);
    const int64_t float4s = wb::ceil_div(n, int64_t{4});
    wb::Arguments("copy_floats")
        .size("n", n)
        .size("variant.ballast", variant.ballast)
        .device("x", reinterpret_cast<const float4*>(x), float4s)
        .device("y", reinterpret_cast<const float4*>(y), float4s);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, 4 * variant.each * kCopyThreads);
    launch_with_ballast(kernel, blocks, kCopyThreads, variant.ballast, stream, x, y, n);
}

/// Validates, and launches an iteration: a block has variant.each elements a thread.
inline void launch_iterate(Instances<IterateKernel> instances,
                           const float* x,
                           float* y,
                           int64_t n,
                           const Map& map,
                           Variant variant,
                           cudaStream_t stream) {
    const IterateKernel kernel = instance_of("iterate", instances, variant.each);
    wb::Arguments("iterate")
        .size("n", n)
        .finite("map.a", map.a)
        .finite("map.b", map.b)
        .size("map.steps", map.steps)
        .size("variant.ballast", variant.ballast)
        .device("x", x, n)
        .device("y", y, n);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, variant.each * kIterateThreads);
    launch_with_ballast(
        kernel, blocks, kIterateThreads, variant.ballast, stream, x, y, n, map);
}
