// __shared__ variables of every form.
#include <cuda_runtime.h>

#include "check.h"

struct Pair {
    int a;
    float b;
};
template <class T>
__host__ __device__ constexpr T square(T x) {
    return x * x;
}
template <typename T>
struct Reduce {
    struct TempStorage {
        T values[4];
    };
};
typedef float Row[8];
using Matrix = float[4][8];
#define TILE(T, name, n) __shared__ T name[n][n + 1]

__global__ void forms(int* o, Pair p) {
    __shared__ int a[4][8], b;
    __shared__ __align__(16) float4 v4[2];
    static __shared__ unsigned char bytes[3];
    __shared__ Pair pairs[2];
    __shared__ volatile int flag;
    alignas(8) __shared__ short sh[4];
    constexpr int N = 8;
    const int kRows = 2;
    __shared__ float vals[square(N)][N + 1];
    __shared__ union {
        float f[16];
        int i[16];
    } u;
    __shared__ struct {
        int x;
        float y;
    } s;
    __shared__ const int* ptr;
    __shared__ int *q, *r;
    float __shared__ after[32];
    unsigned int __shared__ after_two[kRows], and_more;
    __shared__ Row row;
    __shared__ Matrix matrix;
    __shared__ int (*rows)[8];
    TILE(double, tile, 4);
    extern __shared__ __align__(16) unsigned char raw[];
    int* dyn = reinterpret_cast<int*>(raw);
    if (threadIdx.x == 0) {
        b = 1;
        flag = 2;
        v4[1] = make_float4(1, 2, 3, 4);
        bytes[2] = 3;
        pairs[1] = p;
        sh[3] = 4;
        ptr = o;
        vals[63][8] = 5;
        u.f[15] = 6;
        s.x = 7;
        s.y = 8;
        q = r = o;
        after[31] = 9;
        after_two[1] = and_more = 10;
        row[7] = 11;
        matrix[3][7] = 12;
        rows = a;
        a[3][7] = 7;
        tile[3][4] = 13;
        dyn[5] = 8;
    }
    __syncthreads();
    int i = 0;
    if (threadIdx.x == 1) {
        for (int v : {b, int(flag), int(v4[1].w), int(bytes[2]), pairs[1].a, int(sh[3]),
                      int(vals[63][8]), int(u.f[15]), s.x, int(s.y), int(after[31]),
                      int(after_two[1]), int(and_more), int(row[7]), int(matrix[3][7]),
                      rows[3][7], int(tile[3][4]), dyn[5], int(ptr == o), int(q == r)}) {
            o[i++] = v;
        }
    }
}

template <typename T, int N>
__global__ void in_template(T* o) {
    __shared__ T buf[N];
    __shared__ typename Reduce<T>::TempStorage storage;
    extern __shared__ float2 pairs[];
    if (threadIdx.x < N) buf[threadIdx.x] = T(threadIdx.x);
    if (threadIdx.x == 0) {
        pairs[3] = make_float2(1, 2);
        storage.values[3] = T(5);
    }
    __syncthreads();
    o[threadIdx.x] = buf[(threadIdx.x + 1) % N] + T(pairs[3].y) + storage.values[3];
}

// The samples' way to dynamic shared memory of any type.
template <class T>
struct SharedMemory {
    __device__ inline operator T*() {
        extern __shared__ int memory[];
        return (T*)memory;
    }
    __device__ inline operator const T*() const {
        extern __shared__ int memory[];
        return (T*)memory;
    }
};
template <class T>
__global__ void samples_way(T* o) {
    T* s = SharedMemory<T>();
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__device__ int box_of(int v) {
    __shared__ int box;
    if (threadIdx.x == 0) box = v;
    __syncthreads();
    int r = box;
    __syncthreads();
    return r;
}
__global__ void in_device_function(int* o) { o[threadIdx.x] = box_of(10) + box_of(20); }

__global__ void in_blocks(int* o) {
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        __shared__ int s;
        if (threadIdx.x == 0) s = i;
        __syncthreads();
        sum += s;
        __syncthreads();
    }
    if (blockDim.x > 1) {
        __shared__ int s[2];
        s[threadIdx.x % 2] = 5;
        __syncthreads();
        sum += s[0];
    }
    o[threadIdx.x] = sum;
}

__global__ void in_switch(int* o, int which) {
    switch (which) {
        case 0:
            __shared__ int s[32];
            s[threadIdx.x] = threadIdx.x;
            __syncthreads();
            o[threadIdx.x] = s[31 - threadIdx.x];
            break;
        case 1: o[threadIdx.x] = 7; break;
    }
}

// At namespace scope, where several kernels share the declaration.
extern __shared__ float everywhere[];
extern __shared__ char anything[];
__shared__ int counters[4];
__global__ void uses_namespace_scope(float* o) {
    everywhere[threadIdx.x] = threadIdx.x;
    counters[threadIdx.x % 4] = 100;
    __syncthreads();
    float* same = (float*)anything;
    o[threadIdx.x] = everywhere[31 - threadIdx.x] + *(everywhere + 1) + counters[2] +
                     same[2] + reinterpret_cast<float*>(anything)[3];
}
__global__ void shadows(float* o, int everywhere) { o[0] = everywhere; }

__device__ float first(const float* p) { return p[0]; }
template <typename T, int N>
__device__ T last(T (&array)[N]) {
    return array[N - 1];
}
__global__ void passed_on(float* o) {
    __shared__ float s[16];
    s[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    float (&reference)[16] = s;
    float(*pointer)[16] = &s;
    o[threadIdx.x] = first(s) + last(s) + reference[2] + (*pointer)[3] +
                     sizeof(s) / sizeof(s[0]);
}

// Device lambdas see shared memory itself, not a copy, whatever they capture.
__global__ void in_lambdas(int* o) {
    __shared__ int s[32];
    extern __shared__ int dyn[];
    int mine = threadIdx.x;
    auto put = [=](int v) { s[mine] = dyn[mine] = v; };
    auto get = [](int i) { return s[i] + dyn[i]; };
    auto both = [mine](int i) {
        __shared__ int inner[32];
        inner[mine] = s[mine];
        __syncthreads();
        auto nested = [=] { return inner[i] + s[i]; };
        return nested();
    };
    put(mine * 2);
    __syncthreads();
    o[mine] = get(31 - mine) + both(31 - mine);
}

template <int kMode>
__global__ void two_arrays(float* o) {
    extern __shared__ double both[];
    double* a = both;
    double* b = &both[blockDim.x];
    a[threadIdx.x] = threadIdx.x;
    b[threadIdx.x] = 2 * threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = a[0] + b[blockDim.x - 1];
}
__global__ void two_dimensions(float* o) {
    extern __shared__ float tile[][8];
    tile[threadIdx.y][threadIdx.x] = 10 * threadIdx.y + threadIdx.x;
    __syncthreads();
    if (threadIdx.x + threadIdx.y == 0) o[0] = tile[3][5];
}

int main() {
    DeviceArray<int> d(256);
    DeviceArray<float> f(256);
    forms<<<1, 8, 64>>>(d, Pair{5, 1.0f});
    const int want[] = {1, 2, 4, 3, 5, 4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 7, 13, 8, 1, 1};
    for (int i = 0; i < 20; ++i) EXPECT(d.at(i), want[i]);
    in_template<float, 16><<<1, 32, 64>>>(f);
    EXPECT(f.at(0), 8);
    in_template<int, 8><<<1, 8, 64>>>(d);
    EXPECT(d.at(6), 14);
    samples_way<float><<<1, 64, 64 * sizeof(float)>>>(f);
    EXPECT(f.at(0), 63);
    samples_way<int><<<1, 64, 64 * sizeof(int)>>>(d);
    EXPECT(d.at(63), 0);
    in_device_function<<<1, 64>>>(d);
    EXPECT(d.at(5), 30);
    in_blocks<<<1, 64>>>(d);
    EXPECT(d.at(5), 8);
    in_switch<<<1, 32>>>(d, 0);
    EXPECT(d.at(1), 30);
    in_switch<<<1, 32>>>(d, 1);
    EXPECT(d.at(1), 7);
    uses_namespace_scope<<<1, 32, 128>>>(f);
    EXPECT(f.at(0), 31 + 1 + 100 + 2 + 3);
    shadows<<<1, 1>>>(f, 3);
    EXPECT(f.at(0), 3);
    passed_on<<<1, 16>>>(f);
    EXPECT(f.at(3), 1 + 16 + 3 + 4 + 16);
    in_lambdas<<<1, 32, 128>>>(d);
    EXPECT(d.at(1), 4 * 60);
    two_arrays<1><<<1, 8, 16 * sizeof(double)>>>(f);
    EXPECT(f.at(0), 14);
    two_dimensions<<<1, dim3(8, 4), 32 * sizeof(float)>>>(f);
    EXPECT(f.at(0), 35);
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
    return failures != 0;
}
