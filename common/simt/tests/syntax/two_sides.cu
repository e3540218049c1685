// Code that differs between host and device, as the programming guide shows it.
#include "check.h"

__host__ __device__ int side() {
#if __CUDA_ARCH__ >= 700
    return 2;
#elif defined(__CUDA_ARCH__)
    return 1;
#else
    return 0;
#endif
}

template <typename T>
__host__ __device__ T inverse_root(T x) {
#ifdef __CUDA_ARCH__
    return rsqrt(x);
#else
    return T(1) / std::sqrt(x);
#endif
}

struct Counter {
    int value;
    __host__ __device__ explicit Counter(int v) : value{v} {
#ifndef __CUDA_ARCH__
        value += 100;
#endif
    }
    __host__ __device__ int thread() const {
#ifdef __CUDA_ARCH__
        return threadIdx.x;
#else
        return -1;
#endif
    }
};

__host__ __device__ constexpr int constant() {
#ifdef __CUDA_ARCH__
    return 5;
#else
    return 6;
#endif
}

#ifndef __CUDA_ARCH__
static int host_helper(int x) { return x * 2; }
#endif

// Only old architectures need it; the host's view, in which 0 < 600, must not count.
#if __CUDA_ARCH__ < 600
__device__ int only_for_old(int x) { return x; }
#define OLD 1
#endif

__global__ void k(int* o, float* f) {
    o[threadIdx.x] = side() * 1000 + Counter(10).value * 10 + Counter(0).thread();
    f[threadIdx.x] = inverse_root(4.0f);
    o[4 + threadIdx.x] = constant();
}

int main() {
    DeviceArray<int> d(8);
    DeviceArray<float> f(4);
    k<<<1, 4>>>(d, f);
    EXPECT(d.at(3), 2103);
    EXPECT(f.at(3), 0.5f);
    EXPECT(d.at(4), 5);
    EXPECT(side(), 0);
    EXPECT(Counter(10).value, 110);
    EXPECT(Counter(0).thread(), -1);
    EXPECT(inverse_root(4.0), 0.5);
    static_assert(constant() > 4, "usable at compile time");
#ifdef __CUDA_ARCH__
    EXPECT(1, 0);
#else
    EXPECT(host_helper(2), 4);
#endif
    return failures != 0;
}
