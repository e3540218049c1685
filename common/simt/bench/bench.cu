// bench.cu: what the simulator's own operations cost. The table of the README.
//
//     simt-c++ -O2 bench.cu -o bench && SIMT_WORKERS=1 ./bench
//     simt-c++ --check bench.cu -o checked && ./checked
//
// The second prints what an access costs that is checked.
// Times are processor time of this process, best of several rounds: the machine may be
// doing other work.
#include <cuda_runtime.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#define CHECK(call)                                                             \
    do {                                                                        \
        const cudaError_t error_ = (call);                                      \
        if (error_ != cudaSuccess) {                                            \
            std::printf(                                                        \
                "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
            std::exit(1);                                                       \
        }                                                                       \
    } while (0)

__global__ void barriers(int n, int* out) {
    for (int i = 0; i < n; ++i)
        __syncthreads();
    if (threadIdx.x == 0) *out = n;
}

__global__ void shuffles(int n, float* out) {
    float v = threadIdx.x;
    for (int i = 0; i < n; ++i)
        v = __shfl_xor_sync(~0u, v, 1) * 0.5f + 1.0f;
    out[threadIdx.x] = v;
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void histogram(const unsigned* keys, int n, unsigned* bins) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        atomicAdd(&local[keys[i] % 256], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void empty() {}

// c = a b, all [n, n]: a thread for each element.
__global__ void product(const float* a, const float* b, float* c, int n) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

// The same by 16 x 16 tiles.
__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
    __shared__ float s_a[16][16], s_b[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 16) {
        s_a[y][x] = a[row * n + k0 + x];
        s_b[y][x] = b[(k0 + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += s_a[y][k] * s_b[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// And the loop in C++.
__attribute__((noinline)) void product_loop(const float* a,
                                            const float* b,
                                            float* c,
                                            int n) {
    for (int row = 0; row < n; ++row)
        for (int col = 0; col < n; ++col) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k)
                sum += a[row * n + k] * b[k * n + col];
            c[row * n + col] = sum;
        }
}

// Attention, forward: 128 threads for 32 query rows, four threads to a row.
// [B*H, N, D] each; rows of the shared tiles are padded by one float.
template <int BR, int BC, int D>
__global__ void attention(
    const float* q, const float* k, const float* v, float* o, int n, float scale) {
    extern __shared__ float smem[];
    float* s_q = smem;                // [BR, D + 1]
    float* s_k = s_q + BR * (D + 1);  // [BC, D + 1]
    float* s_v = s_k + BC * (D + 1);  // [BC, D + 1]
    float* s_p = s_v + BC * (D + 1);  // [BR, BC + 1]
    const int tid = threadIdx.x, row = tid / 4, part = tid % 4, q0 = blockIdx.x * BR;
    const size_t head = size_t(blockIdx.y) * n * D;
    for (int i = tid; i < BR * D; i += 128)
        s_q[i / D * (D + 1) + i % D] = q[head + size_t(q0) * D + i] * scale;
    float acc[D / 4] = {}, max = -INFINITY, sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += BC) {
        __syncthreads();
        for (int i = tid; i < BC * D; i += 128) {
            s_k[i / D * (D + 1) + i % D] = k[head + size_t(k0) * D + i];
            s_v[i / D * (D + 1) + i % D] = v[head + size_t(k0) * D + i];
        }
        __syncthreads();
        float s[BC / 4], new_max = max;
        for (int j = 0; j < BC / 4; ++j) {
            float dot = 0.0f;
            for (int d = 0; d < D; ++d)
                dot = fmaf(
                    s_q[row * (D + 1) + d], s_k[(part + 4 * j) * (D + 1) + d], dot);
            s[j] = dot;
            new_max = fmaxf(new_max, dot);
        }
        new_max = fmaxf(new_max, __shfl_xor_sync(~0u, new_max, 1));
        new_max = fmaxf(new_max, __shfl_xor_sync(~0u, new_max, 2));
        const float alpha = __expf(max - new_max);
        float part_sum = 0.0f;
        for (int j = 0; j < BC / 4; ++j) {
            const float p = __expf(s[j] - new_max);
            s_p[row * (BC + 1) + part + 4 * j] = p;
            part_sum += p;
        }
        part_sum += __shfl_xor_sync(~0u, part_sum, 1);
        part_sum += __shfl_xor_sync(~0u, part_sum, 2);
        sum = sum * alpha + part_sum;
        max = new_max;
        __syncwarp();
        for (int d = 0; d < D / 4; ++d) {
            float a = acc[d] * alpha;
            for (int c = 0; c < BC; ++c)
                a = fmaf(s_p[row * (BC + 1) + c], s_v[c * (D + 1) + part + 4 * d], a);
            acc[d] = a;
        }
    }
    for (int d = 0; d < D / 4; ++d)
        o[head + size_t(q0 + row) * D + part + 4 * d] = acc[d] / sum;
}

static double processor_time() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/// Seconds that f takes: the best of `rounds`.
template <class F>
double best(int rounds, F f) {
    double result = 1e30;
    for (int r = 0; r < rounds; ++r) {
        const double start = processor_time();
        f();
        CHECK(cudaDeviceSynchronize());
        result = std::min(result, processor_time() - start);
    }
    return result;
}

template <class T>
T* device(size_t n, T value) {
    T* p = nullptr;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    const std::vector<T> host(n, value);
    CHECK(cudaMemcpy(p, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

/// What an access costs that is checked.
void checked_accesses() {
    const int n = 128;
    const double per = 1e9 / (2.0 * n * n * n);
    float *a = device<float>(n * n, 1), *b = device<float>(n * n, 1);
    float* c = device<float>(n * n, 0);
    const dim3 grid(n / 16, n / 16), block(16, 16);
    std::printf("checked access: %.1f ns in device memory, %.1f ns in tiles\n",
                per * best(7, [&] { product<<<grid, block>>>(a, b, c, n); }),
                per * best(7, [&] { tiled_product<<<grid, block>>>(a, b, c, n); }));
}

void products() {
    const int n = 512;
    float *a = device<float>(n * n, 1), *b = device<float>(n * n, 1);
    float* c = device<float>(n * n, 0);
    const std::vector<float> host_a(n * n, 1), host_b(n * n, 1);
    std::vector<float> host_c(n * n);
    const dim3 grid(n / 16, n / 16), block(16, 16);
    std::printf("product of 512 x 512, a thread each: %.0f ms; loop in C++: %.0f ms\n",
                1e3 * best(3, [&] { product<<<grid, block>>>(a, b, c, n); }),
                1e3 * best(3, [&] {
                    product_loop(host_a.data(), host_b.data(), host_c.data(), n);
                }));
}

constexpr const char* kSmallFile = R"(#include <cuda_runtime.h>
#include <cstdio>
__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    float* x = nullptr;
    cudaMallocManaged(&x, 3 * 256 * sizeof(float));
    for (int i = 0; i < 512; ++i)
        x[i] = i;
    add<<<1, 256>>>(x, x + 256, x + 512, 256);
    cudaDeviceSynchronize();
    std::printf("%f\n", x[767]);
}
)";

/// What simt-c++ takes for a program of 15 lines, with all its processes.
void small_file() {
    char folder[] = "/tmp/bench.XXXXXX";
    if (!mkdtemp(folder)) return;
    const std::string source = std::string(folder) + "/small.cu",
                      program = std::string(folder) + "/small",
                      bench = __FILE__,  // its folder is beside simt-c++
        command = bench.substr(0, bench.rfind('/') + 1) + "../simt-c++ -O2 " + source +
                  " -o " + program;
    std::ofstream(source) << kSmallFile;
    double seconds = 1e30;
    for (int round = 0; round < 7; ++round) {
        rusage before, after;
        getrusage(RUSAGE_CHILDREN, &before);
        const bool compiled = std::system(command.c_str()) == 0;
        getrusage(RUSAGE_CHILDREN, &after);
        if (!compiled) break;
        const auto time = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
        seconds = std::min(seconds,
                           time(after.ru_utime) - time(before.ru_utime) +
                               time(after.ru_stime) - time(before.ru_stime));
    }
    unlink(source.c_str());
    unlink(program.c_str());
    rmdir(folder);
    if (seconds < 1e30) std::printf("simt-c++ -O2 of 15 lines: %.2f s\n", seconds);
}

int main() {
#ifdef SIMT_CHECK
    checked_accesses();
    return 0;
#endif
    int* count = device<int>(1, 0);
    float* out = device<float>(1024, 0);
    for (int threads : {32, 128, 256, 1024}) {
        const int steps = 1000, blocks = 4;
        const double per = 1e9 / (double(threads) * steps * blocks);
        std::printf("%4d threads: barrier %.1f ns, shuffle %.1f ns a thread\n",
                    threads,
                    per * best(7, [&] { barriers<<<blocks, threads>>>(steps, count); }),
                    per * best(7, [&] { shuffles<<<blocks, threads>>>(steps, out); }));
    }
    std::printf("launch of 1 thread: %.2f us\n", 1e2 * best(7, [] {
                                                     for (int i = 0; i < 10000; ++i)
                                                         empty<<<1, 1>>>();
                                                 }));
    std::printf("cudaMalloc + cudaFree of 1 KB: %.2f us\n",
                1e3 * best(7, [] {
                    for (int i = 0; i < 1000; ++i) {
                        void* p = nullptr;
                        CHECK(cudaMalloc(&p, 1024));
                        CHECK(cudaFree(p));
                    }
                }));
    const int n = 1 << 20;
    float *x = device<float>(n, 1), *y = device<float>(n, 0);
    std::printf("saxpy of 2^20 elements, a thread each: %.1f ms\n",
                1e3 * best(7, [&] { saxpy<<<n / 256, 256>>>(n, 2.0f, x, y); }));
    unsigned *keys = device<unsigned>(n, 7), *bins = device<unsigned>(256, 0);
    std::printf("histogram of 2^20 keys: %.1f ms\n",
                1e3 * best(7, [&] { histogram<<<64, 256>>>(keys, n, bins); }));
    const int length = 256, dim = 64, heads = 4;
    const size_t size = size_t(heads) * length * dim;
    float *q = device<float>(size, 0.1f), *k = device<float>(size, 0.2f);
    float *v = device<float>(size, 0.3f), *o = device<float>(size, 0.0f);
    const size_t smem = (3 * 32 * (dim + 1) + 32 * 33) * sizeof(float);
    std::printf("attention fp32, B1 H4 N256 D64: %.1f ms\n",
                1e3 * best(7, [&] {
                    attention<32, 32, dim><<<dim3(length / 32, heads), 128, smem>>>(
                        q, k, v, o, length, 0.125f);
                }));
    products();
    small_file();
}
