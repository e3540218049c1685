// launch.h: given with this exercise: from a shape to the launch of a kernel.
#pragma once

#include <wb/arguments.h>
#include <wb/attention.h>
#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/launch.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tiles.h"

/// Calls launch(std::integral_constant<int, D>), so that D is a constant of the kernel.
template <class Launch>
void with_head_dim(int64_t head_dim, Launch launch) {
    if (head_dim == 64) return launch(std::integral_constant<int, 64>());
    launch(std::integral_constant<int, 128>());
}

/// What the kernels are told of a shape.
/// @param rows  of q that a block owns
template <class T>
Problem<T> problem_of(const wb::AttentionShape& shape,
                      const T* q,
                      const T* k,
                      const T* v,
                      T* o,
                      float* lse,
                      int rows) {
    return {q,
            k,
            v,
            o,
            lse,
            static_cast<int>(shape.queries),
            static_cast<int>(shape.keys),
            static_cast<int>(shape.query_heads / shape.kv_heads),
            wb::grid_size(shape.queries, rows),
            shape.causal,
            shape.scale};
}

/// Launches problem.tiles blocks for each head.
/// @param bytes  of dynamic shared memory; more than 48 KB have to be asked for
/// @param problem  the kernel's only parameter
template <class Kernel, class Problem>
void launch_blocks(Kernel kernel,
                   const Problem& problem,
                   const wb::AttentionShape& shape,
                   int threads,
                   size_t bytes,
                   cudaStream_t stream) {
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * problem.tiles, 1);
    kernel<<<blocks, threads, bytes, stream>>>(problem);
    CUDA_CHECK_LAUNCH();
}

/// Refuses a GPU that does not have the instructions of this chapter.
inline void require_sm_80(const wb::Arguments& arguments) {
    int device = 0;
    int major = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    arguments.require(major >= 8,
                      "the GPU's compute capability",
                      major,
                      "must be 8 or more: mma.sync on 16x8x16 numbers came with sm_80. "
                      "Chapter 06 has the same result without tensor cores");
}

/// A rung of both functions of the contract, so that tests and benchmarks find it.
template <class T>
using Launcher = void(
    const wb::AttentionShape&, const T*, const T*, const T*, T*, float*, cudaStream_t);
inline bool list_rung(const std::string& version,
                      const std::string& idea,
                      Launcher<__half>* fp16,
                      Launcher<__nv_bfloat16>* bf16) {
    using Erased = void (*)();
    const auto list = [&](const std::string& exercise, Erased launcher) {
        const std::string name = "tensor_core_attention_" + version;
        return wb::register_rung(
            exercise.c_str(), name.c_str(), idea.c_str(), launcher);
    };
    return list("tensor_core_attention_fp16", reinterpret_cast<Erased>(fp16)) &&
           list("tensor_core_attention_bf16", reinterpret_cast<Erased>(bf16));
}
