// The wrappers of PTX instructions: matrices through ldmatrix and mma, and copies.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <wb/ptx/cp_async.h>
#include <wb/ptx/ldmatrix.h>
#include <wb/ptx/mma.h>

#include <cstdint>

#include "check.h"

namespace ptx = wb::ptx;

namespace {

/// Each lane's registers hold pairs of neighbours: element (row, col) is 8 * row + col.
template <int kMatrices, bool kTranspose>
__global__ void load(int* out) {
    __shared__ alignas(16) uint16_t tile[kMatrices * 64];
    for (int i = threadIdx.x; i < kMatrices * 64; i += 32)
        tile[i] = i;
    __syncwarp();
    uint32_t r[kMatrices];
    ptx::ldmatrix<kTranspose>(r, tile + threadIdx.x % (8 * kMatrices) * 8);
    bool right = true;
    for (int m = 0; m < kMatrices; ++m) {
        for (int e = 0; e < 2; ++e) {
            const int major = threadIdx.x / 4;
            const int minor = threadIdx.x % 4 * 2 + e;
            const int index = kTranspose ? 8 * minor + major : 8 * major + minor;
            right = right && (r[m] >> (16 * e) & 0xffff) == 64u * m + index;
        }
    }
    out[threadIdx.x] = right;
}

template <class T>
__device__ uint32_t pair(const T* low, int distance) {
    uint32_t word;
    const T both[2] = {low[0], low[distance]};
    memcpy(&word, both, 4);
    return word;
}
__device__ void mma(float (&c)[4],
                    const uint32_t (&a)[4],
                    const uint32_t (&b)[2],
                    __half) {
    ptx::mma_m16n8k16_f16(c, a, b);
}
__device__ void mma(float (&c)[4],
                    const uint32_t (&a)[4],
                    const uint32_t (&b)[2],
                    __nv_bfloat16) {
    ptx::mma_m16n8k16_bf16(c, a, b);
}
/// c = a * b + 1 for a [16][16], b [16][8], c [16][8], all row-major.
template <class T>
__global__ void multiply(const T* a, const T* b, float* c) {
    const int g = threadIdx.x / 4;
    const int p = threadIdx.x % 4 * 2;
    const uint32_t ra[4] = {pair(a + g * 16 + p, 1),
                            pair(a + (g + 8) * 16 + p, 1),
                            pair(a + g * 16 + p + 8, 1),
                            pair(a + (g + 8) * 16 + p + 8, 1)};
    const uint32_t rb[2] = {pair(b + p * 8 + g, 8), pair(b + (p + 8) * 8 + g, 8)};
    float rc[4] = {1, 1, 1, 1};
    mma(rc, ra, rb, T());
    for (int i = 0; i < 4; ++i)
        c[(g + i / 2 * 8) * 8 + p + i % 2] = rc[i];
}

template <class T>
void test_mma(const char* name) {
    std::vector<T> a(256);
    std::vector<T> b(128);
    for (int i = 0; i < 256; ++i)
        a[i] = T(float(i % 11 - 5));
    for (int i = 0; i < 128; ++i)
        b[i] = T(float(i % 7 - 3));
    const check::Array<T> device_a(a);
    const check::Array<T> device_b(b);
    const check::Array<float> c(128);
    multiply<<<1, 32>>>(device_a.data(), device_b.data(), c.data());
    check::expect(check::all_equal(c.host(),
                                   [&](int i) {
                                       float sum = 1;
                                       for (int k = 0; k < 16; ++k) {
                                           sum += float(a[i / 8 * 16 + k]) *
                                                  float(b[k * 8 + i % 8]);
                                       }
                                       return sum;
                                   }),
                  name);
}

/// c = a * b + 1 for bytes: a [16][32], b as 8 columns of 32, c [16][8].
__global__ void multiply_bytes(const int8_t* a, const int8_t* b, int* c) {
    const int g = threadIdx.x / 4;
    const int p = threadIdx.x % 4 * 4;
    const auto four = [](const int8_t* from) {
        uint32_t word;
        memcpy(&word, from, 4);
        return word;
    };
    const uint32_t ra[4] = {four(a + g * 32 + p),
                            four(a + (g + 8) * 32 + p),
                            four(a + g * 32 + p + 16),
                            four(a + (g + 8) * 32 + p + 16)};
    const uint32_t rb[2] = {four(b + g * 32 + p), four(b + g * 32 + p + 16)};
    int rc[4] = {1, 1, 1, 1};
    ptx::mma_m16n8k32_s8(rc, ra, rb);
    for (int i = 0; i < 4; ++i)
        c[(g + i / 2 * 8) * 8 + threadIdx.x % 4 * 2 + i % 2] = rc[i];
}

void test_mma_of_bytes() {
    std::vector<int8_t> a(16 * 32);
    std::vector<int8_t> b(8 * 32);
    for (int i = 0; i < 16 * 32; ++i)
        a[i] = static_cast<int8_t>(i * 37 % 256 - 128);
    for (int i = 0; i < 8 * 32; ++i)
        b[i] = static_cast<int8_t>(i * 91 % 256 - 128);
    const check::Array<int8_t> device_a(a);
    const check::Array<int8_t> device_b(b);
    const check::Array<int> c(128);
    multiply_bytes<<<1, 32>>>(device_a.data(), device_b.data(), c.data());
    const auto expected = [&](int i) {
        int sum = 1;
        for (int k = 0; k < 32; ++k)
            sum += a[i / 8 * 32 + k] * b[i % 8 * 32 + k];
        return sum;
    };
    check::expect(check::all_equal(c.host(), expected), "mma.m16n8k32 of bytes");
}

__global__ void copies(const int* in, int* out) {
    __shared__ alignas(16) int tile[3][32 * 4];
    const int i = threadIdx.x;
    ptx::cp_async<16>(&tile[0][4 * i], in + 4 * i);
    ptx::cp_async_commit();
    ptx::cp_async<8>(&tile[1][2 * i], in + 2 * i);
    ptx::cp_async<4>(&tile[1][64 + i], in + i);
    ptx::cp_async_commit();
    ptx::cp_async_zfill<16>(&tile[2][4 * i], in + 4 * i, 4 * (i % 5));
    ptx::cp_async_commit();
    ptx::cp_async_wait<2>();
    bool right = tile[0][4 * i + 3] == in[4 * i + 3];
    ptx::cp_async_wait<0>();
    __syncthreads();
    right = right && tile[1][2 * i + 1] == in[2 * i + 1] && tile[1][64 + i] == in[i];
    for (int k = 0; k < 4; ++k) {
        right = right && tile[2][4 * i + k] == (k < i % 5 ? in[4 * i + k] : 0);
    }
    out[i] = right;
}

template <class Kernel>
void expect_all_lanes(Kernel kernel, const char* name) {
    const check::Array<int> out(32);
    kernel<<<1, 32>>>(out.data());
    check::expect(check::all_equal(out.host(), [](int) { return 1; }), name);
}

}  // namespace

int main() {
    expect_all_lanes(load<1, false>, "ldmatrix.x1");
    expect_all_lanes(load<2, false>, "ldmatrix.x2");
    expect_all_lanes(load<4, false>, "ldmatrix.x4");
    expect_all_lanes(load<1, true>, "ldmatrix.x1.trans");
    expect_all_lanes(load<2, true>, "ldmatrix.x2.trans");
    expect_all_lanes(load<4, true>, "ldmatrix.x4.trans");
    test_mma<__half>("mma.m16n8k16 of half");
    test_mma<__nv_bfloat16>("mma.m16n8k16 of bfloat16");
    test_mma_of_bytes();

    std::vector<int> numbers(128);
    for (int i = 0; i < 128; ++i)
        numbers[i] = i + 1;
    const check::Array<int> in(numbers);
    const check::Array<int> out(32);
    copies<<<1, 32>>>(in.data(), out.data());
    check::expect(check::all_equal(out.host(), [](int) { return 1; }), "cp.async");
    return check::report();
}
