// fp4_native: does a product of Blackwell's own FP4 take its fragments and scales from
// where this chapter's tensors have them? The simulator's answer; no GPU was asked.
#include <wb/check.h>
#include <wb/reference/fp4.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "mma_nvfp4.h"

namespace {

using wb::reference::Fp4Kind;
using wb::reference::Fp4Matrix;

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kWarps = 1;

// #region kernel
/// y = x W^T for 16 rows of x and 8 of W, both in NVFP4: a register of a fragment is
/// eight neighbours of a row, four bytes of `values`, and its scales are four bytes of
/// `scales`. Nothing has to be decoded, and nothing repacked.
///
/// Launch   one warp
__global__ void __launch_bounds__(kWarps* wb::kWarpSize)
    native_kernel(const uint32_t* x,         // [16, K / 8] words
                  const uint32_t* x_scales,  // [16, K / 64]
                  const uint32_t* w,         // [8, K / 8]
                  const uint32_t* w_scales,  // [8, K / 64]
                  float* y,                  // [16, 8], without the global scales
                  int K) {
    const int g = static_cast<int>(threadIdx.x) / 4;
    const int q = static_cast<int>(threadIdx.x) % 4;
    float c[4] = {};
    for (int k = 0; k < K / 64; ++k) {
        const uint32_t* const upper = x + g * (K / 8) + 8 * k;
        const uint32_t* const lower = upper + 8 * (K / 8);
        const uint32_t* const row = w + g * (K / 8) + 8 * k;
        const uint32_t a[4] = {upper[q], lower[q], upper[q + 4], lower[q + 4]};
        const uint32_t b[2] = {row[q], row[q + 4]};
        const int scaled_row = q % 2 == 0 ? g : g + 8;
        mma_m16n8k64_nvfp4(
            c, a, b, x_scales[scaled_row * (K / 64) + k], w_scales[g * (K / 64) + k]);
    }
    y[g * kColumns + 2 * q] = c[0];
    y[g * kColumns + 2 * q + 1] = c[1];
    y[(g + 8) * kColumns + 2 * q] = c[2];
    y[(g + 8) * kColumns + 2 * q + 1] = c[3];
}
// #endregion kernel

/// Random codes, and scales that are small powers of two and their halves more: sums
/// are exact.
Fp4Matrix random_matrix(int rows, int K, unsigned seed) {
    std::mt19937 random(seed);
    Fp4Matrix m = wb::reference::empty_fp4(rows, K, Fp4Kind::nvfp4);
    for (uint8_t& byte : m.values)
        byte = static_cast<uint8_t>(random() >> 24);
    for (uint8_t& scale : m.byte_scales)
        scale = static_cast<uint8_t>(8 * (6 + random() % 3) + 4 * (random() % 2));
    return m;
}

/// A copy in device memory, as words.
uint32_t* uploaded(const std::vector<uint8_t>& bytes) {
    uint32_t* words = nullptr;
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&words), bytes.size()));
    CUDA_CHECK(cudaMemcpy(words, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    return words;
}

/// How many elements of y are not what they must be.
int wrong_elements(int K, unsigned seed) {
    const Fp4Matrix x = random_matrix(kRows, K, seed);
    const Fp4Matrix w = random_matrix(kColumns, K, seed + 1);
    uint32_t* const arrays[] = {uploaded(x.values),
                                uploaded(x.byte_scales),
                                uploaded(w.values),
                                uploaded(w.byte_scales),
                                uploaded(std::vector<uint8_t>(4 * kRows * kColumns))};
    auto* const d_y = reinterpret_cast<float*>(arrays[4]);
    native_kernel<<<1, kWarps * wb::kWarpSize>>>(
        arrays[0], arrays[1], arrays[2], arrays[3], d_y, K);
    CUDA_CHECK_LAUNCH();
    std::vector<float> y(kRows * kColumns);
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, 4 * y.size(), cudaMemcpyDeviceToHost));
    for (uint32_t* const array : arrays)
        CUDA_CHECK(cudaFree(array));
    int wrong = 0;
    for (int m = 0; m < kRows; ++m)
        for (int n = 0; n < kColumns; ++n) {
            double sum = 0.0;
            for (int k = 0; k < K; ++k)
                sum += x.weight(m, k) * w.weight(n, k);
            wrong += double{y[static_cast<size_t>(m * kColumns + n)]} != sum;
        }
    return wrong;
}

}  // namespace

int main() {
#ifndef SIMT_CPU
    int major = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major != 12) {
        std::puts("skipped: mma.sync of E2M1 is for sm_120a");
        return 77;
    }
#endif
    int wrong = 0;
    for (const int K : {64, 192})
        for (unsigned seed = 1; seed <= 3; ++seed)
            wrong += wrong_elements(K, seed);
    std::printf("%d elements are wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
