// wgmma of e4m3 numbers: which bits of a sum tensor cores keep. On a Hopper this holds
// the GPU against the formula below, in the simulator the simulator.
#include <cuda_fp8.h>
#include <wb/ptx/wgmma.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "hopper.h"

namespace ptx = wb::ptx;

namespace {

using Byte = __nv_fp8_e4m3;
constexpr int kRows = 64;   // of a, and of b
constexpr int kDepth = 32;  // products of a sum: one instruction

/// out = c + a b^T, row-major: a and b [64][32], c and out [64][64].
__global__ void multiply(const Byte* a, const Byte* b, const float* c, float* out) {
    // Without swizzling: units of 16 bytes, 8 rows of them together.
    __shared__ __align__(1024) Byte tile[kRows * kDepth];
    for (int i = threadIdx.x; i < kRows * kDepth; i += blockDim.x) {
        const int row = i / kDepth;
        const int k = i % kDepth;
        tile[row / 8 * 256 + k / 16 * 128 + row % 8 * 16 + k % 16] = b[i];
    }
    const uint64_t address = ptx::shared_address(tile) & 0x3ffff;
    const uint64_t descriptor =
        address >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32;
    ptx::async_proxy_fence();
    __syncthreads();
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    const auto place = [&](int i) {
        return (row + i / 2 % 2 * 8) * kRows + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
    };
    float d[kRows / 2];
    for (int i = 0; i < kRows / 2; ++i)
        d[i] = c[place(i)];
    uint32_t fragments[4];
    for (int i = 0; i < 4; ++i)
        memcpy(&fragments[i],
               a + (row + i % 2 * 8) * kDepth + threadIdx.x % 4 * 4 + i / 2 * 16,
               4);
    ptx::wgmma_fence();
    ptx::wgmma<Byte>(d, fragments, descriptor, true);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::wgmma_keep(d);
    for (int i = 0; i < kRows / 2; ++i)
        out[place(i)] = d[i];
}

/// c + sum of a[k] b[k], each of these cut off to a multiple of 2^(e - 13), where 2^e
/// is the largest first bit; of a product, those of its factors multiplied.
float sum_of(const float* a, const float* b, float c) {
    const auto power = [](float x, int least) {
        return std::max(std::ilogb(x), least);
    };
    constexpr int kLeast = -6;  // of e4m3 numbers, where the subnormal ones begin
    int largest = c == 0.0f ? -1000 : power(c, -126);
    for (int k = 0; k < kDepth; ++k)
        if (a[k] != 0.0f && b[k] != 0.0f)
            largest = std::max(largest, power(a[k], kLeast) + power(b[k], kLeast));
    if (largest == -1000) return 0.0f;
    const auto units = [&](double x) {
        return std::trunc(std::ldexp(x, 13 - largest));
    };
    double sum = units(c);
    for (int k = 0; k < kDepth; ++k)
        sum += units(double{a[k]} * double{b[k]});
    if (sum == 0.0) return 0.0f;
    // The sum, too, keeps 13 bits behind its first one.
    const int last = std::ilogb(sum) - 13;
    sum = std::ldexp(std::trunc(std::ldexp(sum, -last)), last);
    return static_cast<float>(std::ldexp(sum, largest - 13));
}

enum class Bytes { any, one_to_two, positive, zeros };

std::vector<Byte> some_bytes(Bytes which, std::mt19937& random) {
    std::vector<Byte> bytes(kRows * kDepth);
    for (Byte& byte : bytes) {
        auto bits = static_cast<unsigned char>(random());
        if ((bits & 0x7f) == 0x7f) bits = 0x7e;  // no NaN
        if (which == Bytes::one_to_two) bits = 0x38 | (bits & 0x87);
        if (which == Bytes::positive) bits &= 0x7f;
        if (which == Bytes::zeros) bits = random() % 40 == 0 ? 0x01 : 0x80;
        std::memcpy(&byte, &bits, 1);
    }
    return bytes;
}

/// Sums so far, from 2^lowest to 2^highest, of either sign; none, if these are equal.
void test(const char* name, Bytes which, int lowest, int highest) {
    std::mt19937 random(static_cast<unsigned>(17 * lowest + highest + 100));
    const auto a = some_bytes(which, random);
    const auto b = some_bytes(which, random);
    std::vector<float> c(kRows * kRows);
    for (float& x : c) {
        const int power =
            lowest + static_cast<int>(random() % 1000) * (highest - lowest) / 1000;
        const float fraction = 1.0f + static_cast<float>(random() >> 9) * 0x1p-23f;
        x = std::ldexp(random() % 2 == 0 ? fraction : -fraction, power);
        if (lowest == highest) x = 0.0f;
    }
    const check::Array<Byte> device_a(a);
    const check::Array<Byte> device_b(b);
    const check::Array<float> device_c(c);
    const check::Array<float> out(kRows * kRows);
    multiply<<<1, 128>>>(device_a.data(), device_b.data(), device_c.data(), out.data());
    const std::vector<float> of_a(a.begin(), a.end());
    const std::vector<float> of_b(b.begin(), b.end());
    const auto expected = [&](int i) {
        return sum_of(&of_a[i / kRows * kDepth], &of_b[i % kRows * kDepth], c[i]);
    };
    check::expect(check::all_equal(out.host(), expected), name);
}

}  // namespace

int main() {
    hopper::need_hopper();
    test("bytes of every size", Bytes::any, 0, 0);
    test("from 1 to 2", Bytes::one_to_two, 0, 0);
    test("positive ones", Bytes::positive, 0, 0);
    test("added to sums of every size", Bytes::any, -30, 30);
    test("to sums like theirs", Bytes::one_to_two, 0, 8);
    test("to larger ones", Bytes::positive, 14, 34);
    test("to very large ones", Bytes::any, 90, 127);
    test("to smaller ones", Bytes::one_to_two, -30, -8);
    test("to very small ones, hardly any byte but zeros", Bytes::zeros, -120, -10);
    return check::report();
}
