// wgmma: every layout of the operands in shared memory, a in registers, all formats.
// Small integers, so that every order of summation gives the same numbers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <wb/ptx/wgmma.h>

#include "hopper.h"

namespace ptx = wb::ptx;

namespace {

constexpr int kRows = 64;

/// How an operand lies in shared memory: with swizzling by kWidth bytes (0: none),
/// `depth` elements of K by `rows`.
struct Layout {
    int width;
    int rows;
    int depth;
    int element_bytes;
    bool transposed;  // K outermost

    __host__ __device__ int leading() const {
        if (!transposed) return 128;  // between core matrices along K, unswizzled
        return width == 0 ? 128 : depth / 8 * stride();  // between panels
    }
    __host__ __device__ int stride() const {
        if (width != 0) return 8 * width;
        return depth * element_bytes / 16 * 128;
    }
    /// Where element k of a row lies, in bytes.
    __host__ __device__ int offset(int row, int k) const {
        const int byte = k * element_bytes;
        if (!transposed && width == 0)
            return row / 8 * stride() + byte / 16 * leading() + row % 8 * 16 +
                   byte % 16;
        if (!transposed) return hopper::swizzled(row * width + byte, width);
        if (width == 0)
            return row / 8 * stride() + k / 8 * leading() + k % 8 * 16 + row % 8 * 2;
        const int panel = width / 2;  // rows in a panel
        return row / panel * leading() +
               hopper::swizzled(k * width + row % panel * 2, width);
    }
    /// From one product to the next one along K: 32 bytes of K, 16 rows if transposed.
    __host__ __device__ int step() const {
        if (transposed) return width == 0 ? 2 * leading() : 2 * stride();
        return width == 0 ? 2 * leading() : 32;
    }
    __host__ __device__ int bytes() const { return rows * depth * element_bytes; }
};

/// A matrix descriptor, field by field (PTX ISA, "Matrix Descriptor Format").
__device__ uint64_t descriptor(const Layout& layout, const void* at) {
    const uint64_t mode = layout.width == 128  ? 1
                          : layout.width == 64 ? 2
                          : layout.width == 32 ? 3
                                               : 0;
    const uint64_t address = ptx::shared_address(at) & 0x3ffff;
    return address >> 4 | static_cast<uint64_t>(layout.leading() >> 4) << 16 |
           static_cast<uint64_t>(layout.stride() >> 4) << 32 | mode << 62;
}

template <class T>
__device__ void place(const Layout& layout, const T* from, char* to) {
    for (int i = threadIdx.x; i < layout.rows * layout.depth; i += blockDim.x) {
        const int offset = layout.offset(i / layout.depth, i % layout.depth);
        *reinterpret_cast<T*>(to + offset) = from[i];
    }
}

/// Writes the thread's share of a [64][n] accumulator.
template <int kCount>
__device__ void write_out(const float (&d)[kCount], float* out) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < kCount; ++i) {
        out[(row + i / 2 % 2 * 8) * 2 * kCount + i / 4 * 8 + threadIdx.x % 4 * 2 +
            i % 2] = d[i];
    }
}

/// out = 1 + a b^T for a [64][depth], b [n][depth], row-major.
template <class T, int kN, int kWidth, bool kTransposed, bool kRegisters>
__global__ void multiply(const T* a, const T* b, int depth, float* out) {
    extern __shared__ char raw[];
    constexpr int kStep = 32 / sizeof(T);
    const Layout layout_a{kWidth, kRows, depth, sizeof(T), false};
    const Layout layout_b{kWidth, kN, depth, sizeof(T), kTransposed};
    char* const tile_a = hopper::aligned_1024(raw);
    char* const tile_b = tile_a + (layout_a.bytes() + 1023) / 1024 * 1024;
    place(layout_a, a, tile_a);
    place(layout_b, b, tile_b);
    ptx::async_proxy_fence();
    __syncthreads();
    float d[kN / 2];
    for (float& x : d)
        x = 1;
    uint32_t fragments[4][4];  // of a
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int k = 0; k < depth / kStep; ++k) {
        for (int i = 0; i < 4; ++i) {
            const T* from = a + (row + i % 2 * 8) * depth + k * kStep;
            memcpy(&fragments[k][i],
                   from + (threadIdx.x % 4 * 4 + i / 2 * 16) / sizeof(T),
                   4);
        }
    }
    ptx::wgmma_fence();
    for (int k = 0; k < depth / kStep; ++k) {
        const uint64_t from_b = descriptor(layout_b, tile_b + k * layout_b.step());
        if constexpr (kRegisters) {
            ptx::wgmma<T, kTransposed>(d, fragments[k], from_b, true);
        } else {
            ptx::wgmma<T, kTransposed>(
                d, descriptor(layout_a, tile_a + k * layout_a.step()), from_b, true);
        }
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::wgmma_keep(d);
    write_out(d, out);
}

template <class T, int kN, int kWidth, bool kTransposed, bool kRegisters>
void test(const char* name) {
    constexpr int kStep = 32 / sizeof(T);
    const int depth = kWidth == 0 ? 2 * kStep : kWidth / int(sizeof(T));
    std::vector<T> a(kRows * depth);
    std::vector<T> b(kN * depth);
    for (int i = 0; i < kRows * depth; ++i)
        a[i] = T(float(i * 7 % 11 - 5));
    for (int i = 0; i < kN * depth; ++i)
        b[i] = T(float(i * 5 % 13 % 7 - 3));
    const check::Array<T> device_a(a);
    const check::Array<T> device_b(b);
    const check::Array<float> out(kRows * kN);
    const int bytes = 2048 + (kRows + kN) * depth * int(sizeof(T));
    const auto kernel = multiply<T, kN, kWidth, kTransposed, kRegisters>;
    hopper::allow_shared(kernel, bytes);
    kernel<<<1, 128, bytes>>>(device_a.data(), device_b.data(), depth, out.data());
    const auto expected = [&](int i) {
        float sum = 1;
        for (int k = 0; k < depth; ++k)
            sum += float(a[i / kN * depth + k]) * float(b[i % kN * depth + k]);
        return sum;
    };
    check::expect(check::all_equal(out.host(), expected), name);
}

/// Two groups on two accumulators: the older one is waited for first; then the second
/// product adds to the first one's result. scale-d = 0 forgets what was there.
__global__ void groups(const __half* a, const __half* b, float* out) {
    extern __shared__ char raw[];
    const Layout layout{128, kRows, 64, 2, false};
    char* const tile_a = hopper::aligned_1024(raw);
    char* const tile_b = tile_a + layout.bytes();
    place(layout, a, tile_a);
    place(layout, b, tile_b);
    ptx::async_proxy_fence();
    __syncthreads();
    float first[32], second[32];
    for (int i = 0; i < 32; ++i)
        first[i] = second[i] = 1000;
    ptx::wgmma_fence();
    for (int k = 0; k < 4; ++k)
        ptx::wgmma<__half>(first,
                           descriptor(layout, tile_a + 32 * k),
                           descriptor(layout, tile_b + 32 * k),
                           k != 0);
    ptx::wgmma_commit();
    ptx::wgmma<__half>(
        second, descriptor(layout, tile_a), descriptor(layout, tile_b), true);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();
    ptx::wgmma_keep(first);
    write_out(first, out);
    ptx::wgmma_wait<0>();
    ptx::wgmma_keep(second);
    write_out(second, out + kRows * 64);
}

/// out = 1 + a b^T for bytes: a [64][128], b [kN][128], row-major.
template <int kN>
__global__ void multiply_bytes(const int8_t* a, const int8_t* b, int* out) {
    extern __shared__ char raw[];
    constexpr int kDepth = 128;
    const Layout layout_a{128, kRows, kDepth, 1, false};
    const Layout layout_b{128, kN, kDepth, 1, false};
    char* const tile_a = hopper::aligned_1024(raw);
    char* const tile_b = tile_a + layout_a.bytes();
    place(layout_a, a, tile_a);
    place(layout_b, b, tile_b);
    ptx::async_proxy_fence();
    __syncthreads();
    int d[kN / 2];
    for (int& x : d)
        x = 1;
    ptx::wgmma_fence();
    for (int k = 0; k < kDepth / 32; ++k) {
        ptx::wgmma<int8_t>(d,
                           descriptor(layout_a, tile_a + k * layout_a.step()),
                           descriptor(layout_b, tile_b + k * layout_b.step()),
                           true);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::wgmma_keep(d);
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < kN / 2; ++i) {
        out[(row + i / 2 % 2 * 8) * kN + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] =
            d[i];
    }
}

template <int kN>
void test_bytes(const char* name) {
    constexpr int kDepth = 128;
    std::vector<int8_t> a(kRows * kDepth), b(kN * kDepth);
    for (int i = 0; i < kRows * kDepth; ++i)
        a[i] = static_cast<int8_t>(i * 37 % 256 - 128);
    for (int i = 0; i < kN * kDepth; ++i)
        b[i] = static_cast<int8_t>(i * 91 % 255 - 127);
    const check::Array<int8_t> device_a(a), device_b(b);
    const check::Array<int> out(kRows * kN);
    constexpr int kBytes = 1024 + (kRows + kN) * kDepth;
    hopper::allow_shared(multiply_bytes<kN>, kBytes);
    multiply_bytes<kN>
        <<<1, 128, kBytes>>>(device_a.data(), device_b.data(), out.data());
    const auto expected = [&](int i) {
        int sum = 1;
        for (int k = 0; k < kDepth; ++k)
            sum += a[i / kN * kDepth + k] * b[i % kN * kDepth + k];
        return sum;
    };
    check::expect(check::all_equal(out.host(), expected), name);
}

void test_groups() {
    std::vector<__half> a(kRows * 64), b(kRows * 64);
    for (int i = 0; i < kRows * 64; ++i) {
        a[i] = __half(float(i * 3 % 7 - 3));
        b[i] = __half(float(i * 5 % 9 - 4));
    }
    const check::Array<__half> device_a(a), device_b(b);
    const check::Array<float> out(2 * kRows * 64);
    constexpr int kBytes = 1024 + 2 * kRows * 128;
    hopper::allow_shared(groups, kBytes);
    groups<<<1, 128, kBytes>>>(device_a.data(), device_b.data(), out.data());
    const auto expected = [&](int i) {
        const bool is_second = i >= kRows * 64;
        const int at = i % (kRows * 64);
        float sum = is_second ? 1000 : 0;
        for (int k = 0; k < (is_second ? 16 : 64); ++k)
            sum += float(a[at / 64 * 64 + k]) * float(b[at % 64 * 64 + k]);
        return sum;
    };
    check::expect(check::all_equal(out.host(), expected), "groups of products");
}

}  // namespace

int main() {
    hopper::need_hopper();
    using Bf16 = __nv_bfloat16;
    using Half = __half;
    test<Bf16, 128, 128, false, false>("bf16 n128, 128-byte swizzle");
    test<Half, 128, 128, false, false>("fp16 n128, 128-byte swizzle");
    test<Bf16, 64, 64, false, false>("64-byte swizzle");
    test<Bf16, 64, 32, false, false>("32-byte swizzle");
    test<Bf16, 64, 0, false, false>("no swizzle");
    test<Bf16, 128, 128, true, false>("b transposed, 128-byte swizzle");
    test<Bf16, 256, 128, true, false>("b transposed, 128-byte swizzle, n256");
    test<Half, 64, 64, true, false>("b transposed, 64-byte swizzle");
    test<Half, 64, 32, true, false>("b transposed, 32-byte swizzle");
    test<Half, 64, 0, true, false>("b transposed, no swizzle");
    test<Bf16, 176, 128, false, false>("n176");
    test<Bf16, 128, 128, true, true>("a in registers, b transposed");
    test<Half, 80, 128, false, true>("a in registers, n80");
    test<__nv_fp8_e4m3, 64, 128, false, false>("e4m3");
    test<__nv_fp8_e4m3, 128, 128, false, true>("e4m3, a in registers");
    test_bytes<64>("s8, n64");
    test_bytes<256>("s8, n256");
    test_groups();
    return check::report();
}
