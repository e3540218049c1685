// __constant__, __device__ and __managed__ variables, and CUDA's other words.
#include "check.h"

__constant__ float coefficients[4];
__constant__ int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
static __constant__ int single = 7;
float __constant__ after_type = 1.5f;
__device__ int counter = 5;
__device__ float big[1000];
static __device__ unsigned int ticket;
__device__ volatile int flag = 0;
__managed__ int shared_with_host = 3;
__device__ __managed__ float managed_array[4];
extern __device__ int defined_later;
struct Params {
    float scale;
    int n;
};
__constant__ Params params;
__device__ Params device_params = {2.0f, 3};
__device__ const float kPi = 3.0f;
__device__ constexpr int kSize = 4;
struct __align__(16) Aligned {
    float x, y, z;
};
class Vec3 {
 public:
    __host__ __device__ Vec3() {}
    __host__ __device__ Vec3(float x, float y) : x_(x), y_{y} {}
    __host__ __device__ float length2() const { return x_ * x_ + y_ * y_; }
    __device__ __forceinline__ friend Vec3 operator+(const Vec3& a, const Vec3& b) {
        return Vec3(a.x_ + b.x_, a.y_ + b.y_);
    }

 private:
    float x_, y_;
};
namespace {
__device__ int in_anonymous = 11;
}
namespace lib {
__constant__ int in_namespace = 12;
}

// Function pointers in device memory.
typedef float (*Unary)(float);
__device__ float square(float x) { return x * x; }
__device__ __forceinline__ float negate_it(float x) { return -x; }
__device__ Unary square_pointer = square;
__device__ float (*plain_pointer)(float) = negate_it;
__device__ Unary functions[2] = {square, negate_it};

__device__ __noinline__ int opaque(int x) { return x + 1; }
static __device__ __inline__ int inlined(int x) { return x + 2; }
__forceinline__ __device__ __host__ inline int both(int x) { return x - 1; }
__device__ __forceinline__ int recursive(int n) {
    return n <= 1 ? 1 : n * recursive(n - 1);
}
__host__ __device__ constexpr int at_compile_time(int x) { return x * 3; }

__global__ void __launch_bounds__(128) use(float* o, const __grid_constant__ Params p) {
    __builtin_assume(p.n == 3);
    int i = 0;
    o[i++] = coefficients[2];
    o[i++] = table[1][2];
    o[i++] = single;
    o[i++] = after_type;
    o[i++] = counter;
    big[999] = 9;
    o[i++] = big[999];
    o[i++] = shared_with_host;
    o[i++] = defined_later;
    o[i++] = params.scale;
    o[i++] = device_params.n;
    o[i++] = kPi + kSize;
    o[i++] = sizeof(Aligned);
    o[i++] = (Vec3(1, 2) + Vec3(2, 2)).length2();
    o[i++] = in_anonymous + lib::in_namespace;
    o[i++] = square_pointer(3) + plain_pointer(1) + functions[1](2);
    o[i++] = opaque(1) + inlined(1) + both(1) + recursive(4) + at_compile_time(2);
    o[i++] = p.n;
    shared_with_host = 4;
    managed_array[1] = 6;
    flag = 1;
#pragma unroll 4
    for (int k = 0; k < 4; ++k) counter += k;
#pragma unroll
    for (int k = 0; k < 4; ++k) ++counter;
    _Pragma("unroll") for (int k = 0; k < 2; ++k) ++counter;
    __constant__ static int local_table[3] = {7, 8, 9};
    static __device__ int calls = 0;
    o[i++] = local_table[2] + ++calls;
}
__device__ int defined_later = 8;

__global__ void last_block(int* o) {
    unsigned int mine = atomicInc(&ticket, gridDim.x);
    if (mine == gridDim.x - 1) {
        o[0] = 100 + mine;
        ticket = 0;
    }
}

int main() {
    DeviceArray<float> f(32);
    DeviceArray<int> d(4);
    float h[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(coefficients, h, sizeof(h));
    Params p = {2.5f, 3};
    cudaMemcpyToSymbol(params, &p, sizeof(p));
    shared_with_host = 30;
    use<<<1, 1>>>(f, p);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    const float want[] = {3, 6, 7,  1.5, 5,  9, 30, 8, 2.5,
                          3, 7, 16, 25,  23, 6, 35, 3, 10};
    for (int i = 0; i < 18; ++i) EXPECT(f.at(i), want[i]);
    EXPECT(shared_with_host, 4);
    EXPECT(managed_array[1], 6);
    int value = 0;
    cudaMemcpyFromSymbol(&value, counter, sizeof(value));
    EXPECT(value, 5 + 6 + 4 + 2);
    void* address = nullptr;
    EXPECT(cudaGetSymbolAddress(&address, big), cudaSuccess);
    size_t size = 0;
    EXPECT(cudaGetSymbolSize(&size, big), cudaSuccess);
    EXPECT(size, 4000);
    Unary from_device;
    cudaMemcpyFromSymbol(&from_device, square_pointer, sizeof(Unary));
    EXPECT(from_device != nullptr, true);
    last_block<<<5, 32>>>(d);
    EXPECT(d.at(0) >= 104, true);
    return failures != 0;
}
