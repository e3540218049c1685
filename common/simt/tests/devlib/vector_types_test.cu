// The built-in vector types: sizes, alignments, and that they have no operators of
// their own.
#include "check.h"

template <class V, size_t kSize, size_t kAlignment>
constexpr bool laid_out() {
    return sizeof(V) == kSize && alignof(V) == kAlignment;
}
static_assert(laid_out<char1, 1, 1>() && laid_out<char2, 2, 2>());
static_assert(laid_out<char3, 3, 1>() && laid_out<char4, 4, 4>());
static_assert(laid_out<uchar3, 3, 1>() && laid_out<uchar4, 4, 4>());
static_assert(laid_out<short2, 4, 4>() && laid_out<short3, 6, 2>());
static_assert(laid_out<ushort4, 8, 8>() && laid_out<short1, 2, 2>());
static_assert(laid_out<int2, 8, 8>() && laid_out<int3, 12, 4>());
static_assert(laid_out<int4, 16, 16>() && laid_out<uint4, 16, 16>());
static_assert(laid_out<uint2, 8, 8>() && laid_out<uint3, 12, 4>());
static_assert(laid_out<float1, 4, 4>() && laid_out<float2, 8, 8>());
static_assert(laid_out<float3, 12, 4>() && laid_out<float4, 16, 16>());
static_assert(laid_out<long2, 16, 16>() && laid_out<long3, 24, 8>());
static_assert(laid_out<longlong2, 16, 16>() && laid_out<ulonglong3, 24, 8>());
static_assert(laid_out<double2, 16, 16>() && laid_out<double3, 24, 8>());
static_assert(laid_out<double4_16a, 32, 16>() && laid_out<double4_32a, 32, 32>());
static_assert(laid_out<longlong4_32a, 32, 32>() && laid_out<ulong4_16a, 32, 16>());
static_assert(laid_out<dim3, 12, 4>());

// A program's own operators must not meet others; nor its lerp, though C++20 has one,
// too (for nvcc only where the program is C++17).
__host__ __device__ float3 operator+(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__host__ __device__ float4 operator*(float4 a, float s) {
    return make_float4(a.x * s, a.y * s, a.z * s, a.w * s);
}
#if defined(SIMT_CPU) || __cplusplus <= 201703L
__host__ __device__ float lerp(float a, float b, float t) {
    return a + t * (b - a);
}
#else
#define lerp(a, b, t) ((a) + (t) * ((b) - (a)))
#endif

using namespace std;

__global__ void use_vectors(float* out, const float4* in) {
    const float4 twice = __ldg(in) * 2.0f;
    const float3 sum = make_float3(1, 2, 3) + float3{4, 5, 6};
    const int2 pair = {7, 8};
    const dim3 grid(3, 4);
    out[0] = twice.w;
    out[1] = sum.z;
    out[2] = lerp(1.0f, 3.0f, 0.5f);
    out[3] = pair.y + grid.z;
    out[4] = max(1.5f, 2.5f) + min(-1, 2) + abs(-3) + isnan(0.0f);
}

int main() {
    const check::Array<float4> in(vector<float4>{{1, 2, 3, 4}});
    const check::Array<float> out(5);
    use_vectors<<<1, 1>>>(out.data(), in.data());
    const float expected[] = {8, 9, 2, 9, 4.5};
    check::expect(check::all_equal(out.host(), [&](int i) { return expected[i]; }),
                  "vector types, a program's operators and lerp, using namespace std");
    return check::report();
}
