// The right scans that the .diff files edit: one pass, four elements a thread.
#include "scan.h"

#include <cuda_fp16.h>
#include <wb/check.h>
#include <wb/scratch.h>

#include <cuda/atomic>

#include "runs.h"

constexpr int kThreads = 256;
constexpr int kItems = 4;
constexpr int kTile = kThreads * kItems;

using Word = unsigned long long;
using Atomic = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr Word kTotal = 1;
constexpr Word kPrefix = 2;

__device__ inline uint32_t bits_of(uint32_t sum) {
    return sum;
}
__device__ inline uint32_t bits_of(float sum) {
    return __float_as_uint(sum);
}
__device__ inline void set(uint32_t& sum, Word word) {
    sum = static_cast<uint32_t>(word);
}
__device__ inline void set(float& sum, Word word) {
    sum = __uint_as_float(static_cast<uint32_t>(word));
}

template <class T>
__device__ inline void publish(Word* word, Word kind, T sum) {
    Atomic(*word).store(kind << 32 | bits_of(sum), cuda::memory_order_relaxed);
}

template <class R>
__device__ inline void block_scan(R mine, R* s_runs) {
    const int tid = threadIdx.x;
    s_runs[tid] = mine;
    __syncthreads();
    for (int distance = 1; distance < kThreads; distance *= 2) {
        if (tid >= distance) mine = join(s_runs[tid - distance], mine);
        __syncthreads();
        s_runs[tid] = mine;
        __syncthreads();
    }
}

template <class T>
__device__ inline T look_back(Word* words, int64_t tile) {
    T before{};
    for (int64_t other = tile - 1; other >= 0; --other) {
        Word word = 0;
        while (word == 0)
            word = Atomic(words[other]).load(cuda::memory_order_relaxed);
        T sum;
        set(sum, word);
        before = sum + before;
        if (word >> 32 == kPrefix) break;
    }
    return before;
}

template <class R>
__global__ void scan_kernel(const typename R::Number* x,
                            const uint8_t* heads,
                            typename R::Number* y,
                            int64_t n,
                            ScanKind kind,
                            Word* next,
                            Word* words) {
    using T = typename R::Number;
    __shared__ R s_runs[kThreads];
    __shared__ int64_t s_tile;
    __shared__ T s_before;
    const int tid = threadIdx.x;
    if (tid == 0) s_tile = atomicAdd(next, Word{1});
    __syncthreads();
    const int64_t tile = s_tile;
    const int64_t first = tile * kTile + tid * kItems;
    const Input<R> in{x, heads, nullptr};
    R items[kItems];
    R own{};
    for (int k = 0; k < kItems; ++k) {
        const int64_t i = first + k;
        items[k] = i < n ? in.load(i) : R{};
        own = join(own, items[k]);
    }
    block_scan(own, s_runs);
    if (tid == 0) {
        const R total = s_runs[kThreads - 1];
        const bool complete = tile == 0 || has_head(total);
        publish(words + tile, complete ? kPrefix : kTotal, total.sum);
        s_before = look_back<T>(words, tile);
        if (!complete) publish(words + tile, kPrefix, s_before + total.sum);
    }
    __syncthreads();
    R sum = make_run(static_cast<const R*>(nullptr), s_before, 0);
    if (tid > 0) sum = join(sum, s_runs[tid - 1]);
    for (int k = 0; k < kItems; ++k) {
        const int64_t i = first + k;
        if (i >= n) return;
        const R before = sum;
        sum = join(before, items[k]);
        if (kind == ScanKind::inclusive)
            y[i] = sum.sum;
        else
            y[i] = in.begins(i) ? T{} : before.sum;
    }
}

struct Version {
    template <class R>
    static void run(const Job<R>& job) {
        const unsigned tiles = wb::grid_size(job.n, kTile);
        const wb::Scratch<Word> words(int64_t{tiles} + 1, job.stream);
        Word* d_words = words.data();
        CUDA_CHECK(cudaMemsetAsync(
            d_words, 0, (size_t{tiles} + 1) * sizeof(Word), job.stream));
        scan_kernel<R><<<tiles, kThreads, 0, job.stream>>>(
            job.x, job.heads, job.y, job.n, job.kind, d_words, d_words + 1);
        CUDA_CHECK_LAUNCH();
    }
};

void scan_int32(
    const int32_t* x, int32_t* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    scan_int32_by<Version>(x, y, n, kind, stream);
}

void scan_float(
    const float* x, float* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    scan_float_by<Version>(x, y, n, kind, stream);
}

void segmented_scan_int32(const int32_t* x,
                          const uint8_t* heads,
                          int32_t* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    segmented_scan_int32_by<Version>(x, heads, y, n, kind, stream);
}

void segmented_scan_float(const float* x,
                          const uint8_t* heads,
                          float* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    segmented_scan_float_by<Version>(x, heads, y, n, kind, stream);
}
