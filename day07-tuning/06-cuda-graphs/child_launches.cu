// child_launches.cu: dynamic parallelism, an example to run. Kernels launch kernels:
// once because only the GPU knows how much there is to do, and once, as a comparison
// with graphs, for a chain of two hundred tiny kernels.
//
//     build/<preset>/day07_child_launches
#include <cuda_runtime.h>
#include <wb/check.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

constexpr int kThreads = 128;
constexpr int kRows = 64;
constexpr int kChain = 200;

// #region kernels
/// row[i] = number of the row, for i in [0, length). Launch: one thread an element.
__global__ void fill_row_kernel(int* row, int length, int number) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) row[i] = number;
}

/// A thread for each row looks how long its row is, and launches as many blocks as that
/// needs: a number that the host would have to wait for and copy.
__global__ void fill_rows_kernel(int* values,         // [offsets[rows]]
                                 const int* offsets,  // [rows + 1]
                                 int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int length = offsets[row + 1] - offsets[row];
    if (length == 0) return;
    const int blocks = (length + kThreads - 1) / kThreads;
    fill_row_kernel<<<blocks, kThreads>>>(values + offsets[row], length, row);
}

/// x = 3 x + k: tells whether a chain of launches kept its order.
__global__ void link_kernel(unsigned* x, unsigned k) {
    *x = 3 * *x + k;
}

/// The same chain, launched by one thread: its launches run in their order.
__global__ void chain_kernel(unsigned* x, unsigned count) {
    for (unsigned k = 0; k < count; ++k)
        link_kernel<<<1, 1>>>(x, k);
}
// #endregion kernels

/// Rows of length 0, 7, 14, …: true if each element has the number of its row.
bool fills_rows() {
    std::vector<int> offsets = {0};
    for (int row = 0; row < kRows; ++row)
        offsets.push_back(offsets.back() + 7 * row);
    int* d_offsets = nullptr;
    int* d_values = nullptr;
    const size_t count = static_cast<size_t>(offsets.back());
    CUDA_CHECK(cudaMalloc(&d_offsets, offsets.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_values, count * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_offsets,
                          offsets.data(),
                          offsets.size() * sizeof(int),
                          cudaMemcpyHostToDevice));
    fill_rows_kernel<<<1, kRows>>>(d_values, d_offsets, kRows);
    CUDA_CHECK_LAUNCH();
    std::vector<int> values(count, -1);
    CUDA_CHECK(cudaMemcpy(
        values.data(), d_values, count * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_offsets));
    CUDA_CHECK(cudaFree(d_values));
    for (int row = 0; row < kRows; ++row)
        for (int i = offsets[row]; i < offsets[row + 1]; ++i)
            if (values[static_cast<size_t>(i)] != row) return false;
    return true;
}

/// Microseconds from the call to the end of its work; the best of some.
template <class Call>
double microseconds(Call call) {
    double best = 1e30;
    for (int repeat = 0; repeat < 10; ++repeat) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        call();
        CUDA_CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        if (took.count() < best) best = took.count();
    }
    return best;
}

/// The chain from the host and from a kernel: true if both end with the same number.
bool runs_chain() {
    unsigned expected = 0;
    for (unsigned k = 0; k < kChain; ++k)
        expected = 3 * expected + k;
    unsigned* d_x = nullptr;
    CUDA_CHECK(cudaMalloc(&d_x, sizeof(unsigned)));
    const auto ends_right = [&](auto launch) {
        CUDA_CHECK(cudaMemset(d_x, 0, sizeof(unsigned)));
        launch();
        unsigned x = 0;
        CUDA_CHECK(cudaMemcpy(&x, d_x, sizeof x, cudaMemcpyDeviceToHost));
        return x == expected;
    };
    const auto by_host = [&] {
        for (unsigned k = 0; k < kChain; ++k)
            link_kernel<<<1, 1>>>(d_x, k);
        CUDA_CHECK_LAUNCH();
    };
    const auto by_kernel = [&] {
        chain_kernel<<<1, 1>>>(d_x, kChain);
        CUDA_CHECK_LAUNCH();
    };
    const bool right = ends_right(by_host) && ends_right(by_kernel);
    const double host_us = microseconds(by_host) / kChain;
    const double kernel_us = microseconds(by_kernel) / kChain;
#ifdef SIMT_CPU
    (void)host_us, (void)kernel_us;
    std::printf("chain of %d kernels: right; not timed in the simulator\n", kChain);
#else
    std::printf(
        "chain of %d kernels: launched by the host %.2f us each, by a kernel "
        "%.2f us each\n",
        kChain,
        host_us,
        kernel_us);
#endif
    CUDA_CHECK(cudaFree(d_x));
    return right;
}

}  // namespace

int main() try {
    const bool rows = fills_rows();
    std::printf("%d rows, each filled by a kernel of its size: %s\n",
                kRows,
                rows ? "right" : "WRONG");
    return runs_chain() && rows ? 0 : 1;
} catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
}
