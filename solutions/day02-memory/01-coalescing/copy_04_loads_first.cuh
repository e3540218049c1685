// copy_04_loads_first.cuh: copy_bytes_v4, several independent loads a thread.
#pragma once

// #region bytes-v4
/// copy_bytes_v4: a block copies kLoads * kThreads words and ends. A thread makes all
/// of its loads before its first store.
///
/// Launch   grid ceil_div(num_words, kLoads * kThreads), at least 1, block kThreads
/// @tparam Word  an unsigned type of pieces.width bytes
template <class Word>
__global__ void copy_bytes_v4_kernel(const unsigned char* source,  // [num_bytes]
                                     unsigned char* destination,   // [num_bytes]
                                     int64_t num_bytes,
                                     Pieces pieces) {
    const int64_t first = int64_t{blockIdx.x} * (kLoads * kThreads) + threadIdx.x;
    const int64_t tail = pieces.head + pieces.num_words * int64_t{sizeof(Word)};
    const auto* from = reinterpret_cast<const Word*>(source + pieces.head);
    auto* to = reinterpret_cast<Word*>(destination + pieces.head);
    Word words[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kThreads;
        if (i < pieces.num_words) words[k] = from[i];
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kThreads;
        if (i < pieces.num_words) to[i] = words[k];
    }
    if (first < pieces.head) destination[first] = source[first];
    if (tail + first < num_bytes) destination[tail + first] = source[tail + first];
}
// #endregion bytes-v4

static void copy_bytes_v4(const void* source,
                          void* destination,
                          int64_t num_bytes,
                          cudaStream_t stream) {
    static const CopyKernels kKernels = {copy_bytes_v4_kernel<uint8_t>,
                                         copy_bytes_v4_kernel<uint16_t>,
                                         copy_bytes_v4_kernel<uint32_t>,
                                         copy_bytes_v4_kernel<uint2>,
                                         copy_bytes_v4_kernel<uint4>};
    const Pieces pieces = divide(source, destination, num_bytes);
    const int64_t items = std::max<int64_t>(pieces.num_words, 1);
    launch_copy(kKernels,
                pieces,
                wb::grid_size(items, kLoads * kThreads),
                source,
                destination,
                num_bytes,
                stream);
}
WB_RUNG(copy_bytes, copy_bytes_v4, "four loads before a store");
