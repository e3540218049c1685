// The right functions that the .diff files edit.
#include "coalescing.h"

#include <wb/check.h>

#include "given.h"

__global__ void strided_kernel(const float* x, float* y, int64_t n, int64_t stride) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * stride];
}

void copy_strided(
    const float* x, float* y, int64_t n, int64_t stride, cudaStream_t stream) {
    check_copy_strided(x, y, n, stride);
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    strided_kernel<<<blocks, 256, 0, stream>>>(x, y, n, stride);
    CUDA_CHECK_LAUNCH();
}

__global__ void records_kernel(const float* aos,
                               float* soa,
                               int64_t n,
                               int num_fields) {
    __shared__ float s_words[4 * 256];
    const int tid = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * 256;
    const int64_t records = n - first < 256 ? n - first : 256;
    for (int word = tid; word < records * num_fields; word += 256)
        s_words[word] = aos[first * num_fields + word];
    __syncthreads();
    if (tid < records) {
        for (int f = 0; f < num_fields; ++f)
            soa[f * n + first + tid] = s_words[tid * num_fields + f];
    }
}

void aos_to_soa(
    const float* aos, float* soa, int64_t n, int num_fields, cudaStream_t stream) {
    check_aos_to_soa(aos, soa, n, num_fields);
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    records_kernel<<<blocks, 256, 0, stream>>>(aos, soa, n, num_fields);
    CUDA_CHECK_LAUNCH();
}

template <class Word>
__global__ void bytes_kernel(const unsigned char* source,
                             unsigned char* destination,
                             int64_t num_bytes,
                             int64_t head) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t num_words = (num_bytes - head) / int64_t{sizeof(Word)};
    const int64_t tail = head + num_words * int64_t{sizeof(Word)};
    if (i < num_words) {
        reinterpret_cast<Word*>(destination + head)[i] =
            reinterpret_cast<const Word*>(source + head)[i];
    }
    if (i < head) destination[i] = source[i];
    if (tail + i < num_bytes) destination[tail + i] = source[tail + i];
}

void copy_bytes(const void* source,
                void* destination,
                int64_t num_bytes,
                cudaStream_t stream) {
    check_copy_bytes(source, destination, num_bytes);
    if (num_bytes == 0) return;
    const uint64_t from = reinterpret_cast<uintptr_t>(source);
    const uint64_t to = reinterpret_cast<uintptr_t>(destination);
    const bool alike = (to - from) % 16 == 0;
    const int64_t past = alike ? static_cast<int64_t>(to % 16) : 0;
    const int64_t before = past > 0 ? 16 - past : 0;
    const int64_t head = before < num_bytes ? before : num_bytes;
    const int64_t items = alike ? num_bytes / 16 + 1 : num_bytes;
    const unsigned blocks = static_cast<unsigned>((items + 255) / 256);
    const auto kernel = alike ? bytes_kernel<uint4> : bytes_kernel<unsigned char>;
    kernel<<<blocks, 256, 0, stream>>>(static_cast<const unsigned char*>(source),
                                       static_cast<unsigned char*>(destination),
                                       num_bytes,
                                       head);
    CUDA_CHECK_LAUNCH();
}
