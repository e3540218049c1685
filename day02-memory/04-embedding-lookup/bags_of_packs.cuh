/// bags_of_packs.cuh: the launches of bag_v4_kernel(). Included by
/// embedding_lookup_fast.cu, below that kernel. There is nothing to write here.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>

#include "lookup.cuh"
#include "shares.cuh"

template <class T, int V>
static void launch_bag_v4(const T* table,
                          T* out,
                          const Lookup& lookup,
                          const Bags& bags,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(bags.num_bags, kWarps);
    bag_v4_kernel<T, V>
        <<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const Pack<T, V>*>(table),
                                          reinterpret_cast<Pack<T, V>*>(out),
                                          lookup,
                                          bags,
                                          static_cast<int>(lookup.cols / V));
    CUDA_CHECK_LAUNCH();
}

/// 16 bytes a load where rows and addresses allow it, else an element.
template <class T>
static void bag_v4(const T* table,
                   T* out,
                   const Lookup& lookup,
                   const Bags& bags,
                   cudaStream_t stream) {
    constexpr int kWide = 16 / sizeof(T);
    if (word_bytes(table, out, lookup.cols * int64_t{sizeof(T)}) == 16)
        return launch_bag_v4<T, kWide>(table, out, lookup, bags, stream);
    launch_bag_v4<T, 1>(table, out, lookup, bags, stream);
}

constexpr auto& embedding_bag_v4 = bag_v4<float>;
constexpr auto& embedding_bag_fp16_v4 = bag_v4<__half>;
constexpr auto& embedding_bag_bf16_v4 = bag_v4<__nv_bfloat16>;
