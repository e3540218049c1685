// nvcuda::wmma: every shape and element type against a product in double.
#include <mma.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "check.h"

using namespace nvcuda;

namespace {

template <class T>
using Stored =
    std::conditional_t<std::is_same<T, wmma::precision::tf32>::value, float, T>;

/// d = a * b + c, then twice that, elementwise.
template <int M, int N, int K, class T, class LA, class LB, class Acc>
__global__ void multiply(const Stored<T>* a, const Stored<T>* b, const Acc* c, Acc* d) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Acc> fc;
    const bool a_rows = std::is_same<LA, wmma::row_major>::value;
    const bool b_rows = std::is_same<LB, wmma::row_major>::value;
    wmma::load_matrix_sync(fa, a, a_rows ? K : M);
    wmma::load_matrix_sync(fb, b, b_rows ? N : K);
    wmma::load_matrix_sync(fc, c, M, wmma::mem_col_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i)
        fc.x[i] = fc.x[i] + fc.x[i];
    wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}

template <int M, int N, int K, class T, class LA, class LB, class Acc>
void test(const char* name, double tolerance) {
    // Small integers and halves: exact in every format, so that only sums can round.
    std::vector<Stored<T>> a(M * K);
    std::vector<Stored<T>> b(K * N);
    std::vector<Acc> c(M * N);
    const bool integers = std::is_integral<Stored<T>>::value;
    const auto number = [&](int i) { return (i % 13 - 6) * (integers ? 1.0f : 0.5f); };
    const bool is_unsigned = std::is_unsigned<Stored<T>>::value;
    for (int i = 0; i < M * K; ++i) {
        a[i] = static_cast<Stored<T>>(is_unsigned ? i % 200 : number(i * 7));
    }
    for (int i = 0; i < K * N; ++i) {
        b[i] = static_cast<Stored<T>>(is_unsigned ? i % 199 : number(i * 5 + 3));
    }
    for (int i = 0; i < M * N; ++i)
        c[i] = static_cast<Acc>(number(i * 3) * 4);
    const check::Array<Stored<T>> device_a(a);
    const check::Array<Stored<T>> device_b(b);
    const check::Array<Acc> device_c(c);
    const check::Array<Acc> device_d(M * N);
    multiply<M, N, K, T, LA, LB, Acc>
        <<<1, 32>>>(device_a.data(), device_b.data(), device_c.data(), device_d.data());
    const auto d = device_d.host();
    const bool a_rows = std::is_same<LA, wmma::row_major>::value;
    const bool b_rows = std::is_same<LB, wmma::row_major>::value;
    double worst = 0;
    for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) {
            double sum = double(float(c[n * M + m]));
            for (int k = 0; k < K; ++k) {
                sum += double(float(a[a_rows ? m * K + k : k * M + m])) *
                       double(float(b[b_rows ? k * N + n : n * K + k]));
            }
            const double error = std::fabs(double(d[m * N + n]) - 2 * sum);
            if (!(error <= worst)) worst = error;
        }
    }
    if (!(worst <= tolerance)) std::printf("  %s: error %g\n", name, worst);
    check::expect(worst <= tolerance, name);
}

template <int M, int N, int K, class T, class Acc>
void test_layouts(const char* name, double tolerance) {
    using wmma::col_major;
    using wmma::row_major;
    test<M, N, K, T, row_major, row_major, Acc>(name, tolerance);
    test<M, N, K, T, row_major, col_major, Acc>(name, tolerance);
    test<M, N, K, T, col_major, row_major, Acc>(name, tolerance);
    test<M, N, K, T, col_major, col_major, Acc>(name, tolerance);
}
template <class T, class Acc>
void test_k16(const char* name, double tolerance) {
    test_layouts<16, 16, 16, T, Acc>(name, tolerance);
    test_layouts<32, 8, 16, T, Acc>(name, tolerance);
    test_layouts<8, 32, 16, T, Acc>(name, tolerance);
}

__global__ void mixed_accumulators(const __half* a, float* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> fc;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fd;
    static_assert(decltype(fa)::num_elements == 16 && decltype(fd)::num_elements == 8);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::fill_fragment(fb, __float2half(1.0f));
    wmma::fill_fragment(fc, __float2half(0.5f));
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(out, fd, 16, wmma::mem_col_major);
}

__global__ void round_tf32(float* values) {
    values[threadIdx.x] = wmma::__float_to_tf32(values[threadIdx.x]);
}

}  // namespace

int main() {
    test_k16<__half, float>("half into float", 0);
    test_k16<__half, __half>("half into half", 0.25);
    test_k16<__nv_bfloat16, float>("bfloat16 into float", 0);
    test_k16<signed char, int>("signed char into int", 0);
    test_k16<unsigned char, int>("unsigned char into int", 0);
    test_layouts<16, 16, 8, wmma::precision::tf32, float>("tf32 into float", 0);
    test_layouts<8, 8, 4, double, double>("double", 0);

    std::vector<__half> ones(256, __float2half(2.0f));
    const check::Array<__half> a(ones);
    const check::Array<float> out(256);
    mixed_accumulators<<<1, 32>>>(a.data(), out.data());
    check::expect(check::all_equal(out.host(), [](int) { return 32.5; }),
                  "half accumulator added into a float one");

    const check::Array<float> values(std::vector<float>{
        1.0f + 0x1p-11f, 1.0f + 0x1p-12f, -1.0f - 0x1p-11f, 1.0f + 3 * 0x1p-11f});
    round_tf32<<<1, 4>>>(values.data());
    const float expected[] = {1.0f + 0x1p-10f, 1.0f, -1.0f - 0x1p-10f, 1.0f + 0x1p-9f};
    check::expect(check::all_equal(values.host(), [&](int i) { return expected[i]; }),
                  "__float_to_tf32 rounds ties away from zero");
    // What an H200 gives: the first has no bits but those that tf32 lacks.
    const std::vector<unsigned> bits = {0x7F801FFFu, 0xFF803000u, 0xFFFFFFFFu};
    std::vector<float> any_nan(3);
    std::memcpy(any_nan.data(), bits.data(), sizeof(unsigned) * 3);
    const check::Array<float> nan(any_nan);
    round_tf32<<<1, 3>>>(nan.data());
    const std::vector<float> rounded = nan.host();
    const unsigned cut_off[] = {0x7F800000u, 0xFF802000u, 0xFFFFE000u};
    check::expect(std::memcmp(rounded.data(), cut_off, sizeof cut_off) == 0,
                  "__float_to_tf32 cuts off the lower bits of a NaN");
    return check::report();
}
