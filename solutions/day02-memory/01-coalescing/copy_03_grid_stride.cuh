// copy_03_grid_stride.cuh: copy_bytes_v3, as many blocks as the GPU runs at once, which
// walk over the array.
#pragma once

// #region bytes-v3
/// copy_bytes_v3: no more blocks than the GPU runs at once, which walk over the words.
///
/// Launch   any grid along x, block kThreads, no shared memory
/// @tparam Word  an unsigned type of pieces.width bytes
template <class Word>
__global__ void copy_bytes_v3_kernel(const unsigned char* source,  // [num_bytes]
                                     unsigned char* destination,   // [num_bytes]
                                     int64_t num_bytes,
                                     Pieces pieces) {
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t step = int64_t{gridDim.x} * blockDim.x;
    const int64_t tail = pieces.head + pieces.num_words * int64_t{sizeof(Word)};
    const auto* from = reinterpret_cast<const Word*>(source + pieces.head);
    auto* to = reinterpret_cast<Word*>(destination + pieces.head);
    for (int64_t i = first; i < pieces.num_words; i += step) {
        to[i] = from[i];
    }
    if (first < pieces.head) destination[first] = source[first];
    if (tail + first < num_bytes) destination[tail + first] = source[tail + first];
}
// #endregion bytes-v3

static void copy_bytes_v3(const void* source,
                          void* destination,
                          int64_t num_bytes,
                          cudaStream_t stream) {
    static const CopyKernels kKernels = {copy_bytes_v3_kernel<uint8_t>,
                                         copy_bytes_v3_kernel<uint16_t>,
                                         copy_bytes_v3_kernel<uint32_t>,
                                         copy_bytes_v3_kernel<uint2>,
                                         copy_bytes_v3_kernel<uint4>};
    constexpr int64_t kBlocksOfAnSm = 8;  // 2048 threads: all that there is room for
    const Pieces pieces = divide(source, destination, num_bytes);
    const int64_t needed = wb::ceil_div<int64_t>(pieces.num_words, kThreads);
    const int64_t at_once = kBlocksOfAnSm * wb::multiprocessors();
    launch_copy(kKernels,
                pieces,
                std::clamp<int64_t>(needed, 1, at_once),
                source,
                destination,
                num_bytes,
                stream);
}
WB_RUNG(copy_bytes, copy_bytes_v3, "a grid-stride loop");
