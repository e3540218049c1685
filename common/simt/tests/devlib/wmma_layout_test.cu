// Which element of the tile each x[i] of each lane is, for every fragment of wmma. CUDA
// does not document it: the hashes are those of an H100.
#include <mma.h>

#include "check.h"

using namespace nvcuda::wmma;

namespace {

template <class F, class T>
struct Loader {
    static __device__ void load(F& f, const T* tile, int ldm) {
        load_matrix_sync(f, tile, ldm);
    }
};
template <int M, int N, int K, class T>
struct Loader<fragment<accumulator, M, N, K, T>, T> {
    using Fragment = fragment<accumulator, M, N, K, T>;
    static __device__ void load(Fragment& f, const T* tile, int ldm) {
        load_matrix_sync(f, tile, ldm, mem_row_major);
    }
};

/// Loads the tile of indices in two parts, because bfloat16 holds no index past 256.
template <class Fragment, class T>
__global__ void elements(const T* low, const T* high, int ldm, int* out) {
    Fragment f, g;
    Loader<Fragment, T>::load(f, low, ldm);
    Loader<Fragment, T>::load(g, high, ldm);
    for (int i = 0; i < Fragment::num_elements; ++i) {
        out[threadIdx.x * Fragment::num_elements + i] =
            int(float(f.x[i])) + 64 * int(float(g.x[i]));
    }
}

/// Checks the hash (FNV-1a over elements, lane by lane) of the fragment's layout.
template <class Fragment, class T>
void expect_layout(const char* name, int rows, int cols, unsigned long long expected) {
    std::vector<T> low(rows * cols), high(rows * cols);
    for (int i = 0; i < rows * cols; ++i) {
        low[i] = T(float(i % 64));
        high[i] = T(float(i / 64));
    }
    const check::Array<T> device_low(low), device_high(high);
    const check::Array<int> out(32 * Fragment::num_elements);
    elements<Fragment, T>
        <<<1, 32>>>(device_low.data(), device_high.data(), cols, out.data());
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (const int element : out.host())
        hash = (hash ^ element) * 0x100000001b3ull;
    check::expect(hash == expected, name);
}

}  // namespace

int main() {
    expect_layout<fragment<matrix_a, 16, 16, 16, __half, row_major>, __half>(
        "matrix_a 16x16x16 __half", 16, 16, 0xb0b5a878641b6225);
    expect_layout<fragment<matrix_b, 16, 16, 16, __half, row_major>, __half>(
        "matrix_b 16x16x16 __half", 16, 16, 0xd83c2c6acc3d2e25);
    expect_layout<fragment<matrix_a, 32, 8, 16, __half, row_major>, __half>(
        "matrix_a 32x8x16 __half", 32, 16, 0x56630beb6aa87c25);
    expect_layout<fragment<matrix_b, 32, 8, 16, __half, row_major>, __half>(
        "matrix_b 32x8x16 __half", 16, 8, 0x000097e7dc298fa5);
    expect_layout<fragment<matrix_a, 8, 32, 16, __half, row_major>, __half>(
        "matrix_a 8x32x16 __half", 8, 16, 0xb0b3133d67c57425);
    expect_layout<fragment<matrix_b, 8, 32, 16, __half, row_major>, __half>(
        "matrix_b 8x32x16 __half", 16, 32, 0x6322201aab9a5f25);
    expect_layout<fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>,
                  __nv_bfloat16>(
        "matrix_a 16x16x16 __nv_bfloat16", 16, 16, 0xdf33cf89942b07a5);
    expect_layout<fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major>,
                  __nv_bfloat16>(
        "matrix_b 16x16x16 __nv_bfloat16", 16, 16, 0xe2d54e57a3e2bf25);
    expect_layout<fragment<matrix_a, 32, 8, 16, __nv_bfloat16, row_major>,
                  __nv_bfloat16>(
        "matrix_a 32x8x16 __nv_bfloat16", 32, 16, 0x56630beb6aa87c25);
    expect_layout<fragment<matrix_b, 32, 8, 16, __nv_bfloat16, row_major>,
                  __nv_bfloat16>(
        "matrix_b 32x8x16 __nv_bfloat16", 16, 8, 0xafa7e755b7a5a7a5);
    expect_layout<fragment<matrix_a, 8, 32, 16, __nv_bfloat16, row_major>,
                  __nv_bfloat16>(
        "matrix_a 8x32x16 __nv_bfloat16", 8, 16, 0x6ab8d9e601638725);
    expect_layout<fragment<matrix_b, 8, 32, 16, __nv_bfloat16, row_major>,
                  __nv_bfloat16>(
        "matrix_b 8x32x16 __nv_bfloat16", 16, 32, 0x6322201aab9a5f25);
    expect_layout<fragment<matrix_a, 16, 16, 16, signed char, row_major>, signed char>(
        "matrix_a 16x16x16 signed char", 16, 16, 0x75422c5c17bbf625);
    expect_layout<fragment<matrix_b, 16, 16, 16, signed char, row_major>, signed char>(
        "matrix_b 16x16x16 signed char", 16, 16, 0x5017247a201734a5);
    expect_layout<fragment<matrix_a, 32, 8, 16, signed char, row_major>, signed char>(
        "matrix_a 32x8x16 signed char", 32, 16, 0x44d36a16038f2925);
    expect_layout<fragment<matrix_b, 32, 8, 16, signed char, row_major>, signed char>(
        "matrix_b 32x8x16 signed char", 16, 8, 0xd70b2e57d45fed65);
    expect_layout<fragment<matrix_a, 8, 32, 16, signed char, row_major>, signed char>(
        "matrix_a 8x32x16 signed char", 8, 16, 0x356c6cc8137514a5);
    expect_layout<fragment<matrix_b, 8, 32, 16, signed char, row_major>, signed char>(
        "matrix_b 8x32x16 signed char", 16, 32, 0x61ee9ed30d520025);
    expect_layout<fragment<matrix_a, 16, 16, 8, precision::tf32, row_major>, float>(
        "matrix_a 16x16x8 precision::tf32", 16, 8, 0x12b3073146e3eb25);
    expect_layout<fragment<matrix_b, 16, 16, 8, precision::tf32, row_major>, float>(
        "matrix_b 16x16x8 precision::tf32", 8, 16, 0xe22d66e8fc7b2d65);
    expect_layout<fragment<matrix_a, 8, 8, 4, double, row_major>, double>(
        "matrix_a 8x8x4 double", 8, 4, 0xe6cb594c1a148ac5);
    expect_layout<fragment<matrix_b, 8, 8, 4, double, row_major>, double>(
        "matrix_b 8x8x4 double", 4, 8, 0x2bb469bc0cab9675);
    expect_layout<fragment<accumulator, 16, 16, 16, float>, float>(
        "accumulator 16x16x16 float", 16, 16, 0xdf33cf89942b07a5);
    expect_layout<fragment<accumulator, 16, 16, 16, __half>, __half>(
        "accumulator 16x16x16 __half", 16, 16, 0xdf33cf89942b07a5);
    expect_layout<fragment<accumulator, 16, 16, 16, int>, int>(
        "accumulator 16x16x16 int", 16, 16, 0xdf33cf89942b07a5);
    expect_layout<fragment<accumulator, 32, 8, 16, float>, float>(
        "accumulator 32x8x16 float", 32, 8, 0x41836f3281dd89a5);
    expect_layout<fragment<accumulator, 8, 32, 16, float>, float>(
        "accumulator 8x32x16 float", 8, 32, 0x53fa3002c0d742a5);
    expect_layout<fragment<accumulator, 16, 16, 8, float>, float>(
        "accumulator 16x16x8 float", 16, 16, 0xdf33cf89942b07a5);
    expect_layout<fragment<accumulator, 8, 8, 4, double>, double>(
        "accumulator 8x8x4 double", 8, 8, 0x8368214f77995ee5);
    return check::report();
}
