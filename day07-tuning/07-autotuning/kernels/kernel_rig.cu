// kernel_rig.cu: checks and times configurations on a GPU.
#include "kernel_rig.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/launch.h>

#include <algorithm>

namespace {

constexpr int kThreads = 256;
/// From a load to its value, if no cache has it: about this much on every GPU of the
/// workbook.
constexpr double kLatencyUs = 0.6;

/// Counts elements that are not where a transpose has to put them.
///
/// Launch   block kThreads, grid any
__global__ void compare_transpose_kernel(const float* matrix,  // [rows, cols]
                                         const float* out,     // [cols, rows]
                                         int64_t rows,
                                         int64_t cols,
                                         unsigned* wrong) {  // [1]
    const int64_t threads = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows * cols;
         i += threads) {
        // Written so that a NaN, which is what is never written, is wrong.
        if (!(out[i % cols * rows + i / cols] == matrix[i])) atomicAdd(wrong, 1u);
    }
}

/// Counts elements of out that are too far from matrix x: a warp adds up a row in
/// double.
///
/// Launch   block kThreads, grid ceil_div(rows, kThreads / 32)
__global__ void compare_gemv_kernel(const float* matrix,  // [rows, cols]
                                    const float* x,       // [cols]
                                    const float* out,     // [rows]
                                    int64_t rows,
                                    int64_t cols,
                                    double relative_bound,
                                    unsigned* wrong) {  // [1]
    const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
    if (row >= rows) return;
    double sum = 0.0;
    double magnitude = 0.0;
    for (int64_t col = threadIdx.x % 32; col < cols; col += 32) {
        const double product = static_cast<double>(matrix[row * cols + col]) * x[col];
        sum += product;
        magnitude += fabs(product);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        magnitude += __shfl_xor_sync(0xffffffffu, magnitude, offset);
    }
    const double error = fabs(static_cast<double>(out[row]) - sum);
    if (threadIdx.x % 32 == 0 && !(error <= relative_bound * magnitude))
        atomicAdd(wrong, 1u);
}

/// 13000 -> "13.0".
std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int attribute(cudaDeviceAttr which) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

}  // namespace

Gpu describe_gpu() {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    int driver = 0;
    int toolkit = 0;
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&toolkit));
    Gpu gpu;
    gpu.name = properties.name;
    gpu.capability =
        std::to_string(properties.major) + "." + std::to_string(properties.minor);
    gpu.driver = version_text(driver);
    gpu.toolkit = version_text(toolkit);
    gpu.sms = properties.multiProcessorCount;
    gpu.max_threads = properties.maxThreadsPerBlock;
    gpu.max_shared_bytes = static_cast<int>(properties.sharedMemPerBlock);
    // Two transfers a clock; kHz and bits make bytes a microsecond.
    const double memory_khz = attribute(cudaDevAttrMemoryClockRate);
    const double bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
    gpu.bytes_per_us = std::max(2.0 * memory_khz * 1e-3 * bus_bits / 8.0, 1e4);
    gpu.passes_per_us = gpu.sms * (attribute(cudaDevAttrClockRate) * 1e-3);
    gpu.latency_us = kLatencyUs;
    return gpu;
}

/// A stream, events, and memory to flush the cache with.
struct KernelRig::Clock {
    cudaStream_t stream = nullptr;
    std::vector<cudaEvent_t> events = std::vector<cudaEvent_t>(2 * kSamplesATrial);
    unsigned* wrong = nullptr;
    char* flush = nullptr;
    size_t flush_bytes = 0;

    Clock() {
        CUDA_CHECK(cudaStreamCreate(&stream));
        for (cudaEvent_t& event : events)
            CUDA_CHECK(cudaEventCreate(&event));
        CUDA_CHECK(cudaMalloc(&wrong, sizeof *wrong));
        // More than twice the cache, so that nothing of it is left.
        flush_bytes = 2 * static_cast<size_t>(attribute(cudaDevAttrL2CacheSize)) +
                      (size_t{16} << 20);
#ifdef SIMT_CPU
        flush_bytes = 1;  // there is no cache
#endif
        CUDA_CHECK(cudaMalloc(&flush, flush_bytes));
    }
    ~Clock() {
        (void)cudaFree(flush);
        (void)cudaFree(wrong);
        for (cudaEvent_t event : events)
            (void)cudaEventDestroy(event);
        (void)cudaStreamDestroy(stream);
    }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
};

KernelRig::KernelRig(const Family& family,
                     int64_t rows,
                     int64_t cols,
                     const float* matrix,
                     const float* x,
                     float* out)
    : family_(family),
      gpu_(describe_gpu()),
      problem_{family.name, rows, cols},
      matrix_(matrix),
      x_(x),
      out_(out),
      clock_(std::make_unique<Clock>()) {}

KernelRig::~KernelRig() = default;

void KernelRig::launch(int config, cudaStream_t stream) const {
    at(config).launch(matrix_, x_, out_, problem_.rows, problem_.cols, stream);
}

bool KernelRig::result_is_right() const {
    const int64_t rows = problem_.rows;
    const int64_t cols = problem_.cols;
    cudaStream_t stream = clock_->stream;
    CUDA_CHECK(cudaMemsetAsync(clock_->wrong, 0, sizeof(unsigned), stream));
    if (family_.name == "transpose" && rows * cols > 0) {
        const int64_t blocks =
            std::min(wb::ceil_div(rows * cols, int64_t{kThreads}), int64_t{1} << 16);
        compare_transpose_kernel<<<wb::grid_size(blocks, 1), kThreads, 0, stream>>>(
            matrix_, out_, rows, cols, clock_->wrong);
    } else if (family_.name == "gemv" && rows > 0) {
        const double ku = static_cast<double>(cols) * 0x1p-24;
        const unsigned blocks = wb::grid_size(rows, kThreads / 32);
        compare_gemv_kernel<<<blocks, kThreads, 0, stream>>>(
            matrix_, x_, out_, rows, cols, ku / (1.0 - ku), clock_->wrong);
    }
    CUDA_CHECK_LAUNCH();
    unsigned wrong = 0;
    CUDA_CHECK(cudaMemcpyAsync(
        &wrong, clock_->wrong, sizeof wrong, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return wrong == 0;
}

bool KernelRig::check(int config) {
    const auto bytes =
        static_cast<size_t>(family_.results(problem_.rows, problem_.cols)) *
        sizeof(float);
    if (bytes > 0) CUDA_CHECK(cudaMemsetAsync(out_, 0xFF, bytes, clock_->stream));
    try {
        launch(config, clock_->stream);
    } catch (const wb::InvalidArgument&) {
        return false;
    } catch (const wb::CudaError&) {  // refused; an error of a kernel that ran stays
        return false;
    }
    return result_is_right();
}

std::vector<double> KernelRig::trial(int config) {
    cudaStream_t stream = clock_->stream;
    for (size_t i = 0; i < kSamplesATrial; ++i) {
        CUDA_CHECK(cudaMemsetAsync(
            clock_->flush, static_cast<int>(i), clock_->flush_bytes, stream));
        CUDA_CHECK(cudaEventRecord(clock_->events[2 * i], stream));
        launch(config, stream);
        CUDA_CHECK(cudaEventRecord(clock_->events[2 * i + 1], stream));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    std::vector<double> us;
    for (size_t i = 0; i < kSamplesATrial; ++i) {
        float milliseconds = 0.0f;
        CUDA_CHECK(cudaEventElapsedTime(
            &milliseconds, clock_->events[2 * i], clock_->events[2 * i + 1]));
        us.push_back(1e3 * static_cast<double>(milliseconds));
    }
    return us;
}
