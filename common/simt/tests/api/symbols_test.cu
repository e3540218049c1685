#define TEST_GROUP "symbols"
#include "check.h"

#include <vector>

__device__ int counter = 5;
__constant__ float table[16];
__device__ float matrix[4][8];
__device__ float* pointer_variable;
struct Pair {
    int a;
    double b;
};
__constant__ Pair pair;
static __device__ volatile int flag;

__global__ void read_symbols(float* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = table[threadIdx.x];
    if (threadIdx.x == 16) out[16] = static_cast<float>(counter);
    if (threadIdx.x == 17) out[17] = static_cast<float>(pair.a + pair.b);
    if (threadIdx.x == 18) out[18] = matrix[1][2];
    if (threadIdx.x == 19) out[19] = pointer_variable ? pointer_variable[0] : -1;
    if (threadIdx.x == 20) out[20] = static_cast<float>(flag);
}

TEST(kernels_see_what_the_host_copies) {
    float* out = nullptr;
    float* values = nullptr;
    OK(cudaMalloc(&out, 32 * sizeof(float)));
    OK(cudaMalloc(&values, sizeof(float)));
    const float first = 77;
    OK(cudaMemcpy(values, &first, sizeof first, cudaMemcpyHostToDevice));
    float host[16];
    for (int i = 0; i < 16; ++i)
        host[i] = static_cast<float>(i * i);
    OK(cudaMemcpyToSymbol(table, host, sizeof host));
    const float one = 100;
    OK(cudaMemcpyToSymbol(table, &one, sizeof one, 3 * sizeof(float)));
    const int nine = 9;
    OK(cudaMemcpyToSymbol(counter, &nine, sizeof nine));
    const Pair both = {1, 2.5};
    OK(cudaMemcpyToSymbol(pair, &both, sizeof both));
    OK(cudaMemcpyToSymbol(pointer_variable, &values, sizeof values));
    const float element = 12;
    OK(cudaMemcpyToSymbol(matrix, &element, sizeof element, 10 * sizeof(float)));
    const int set = 3;
    OK(cudaMemcpyToSymbolAsync(flag, &set, sizeof set, 0, cudaMemcpyHostToDevice, 0));
    read_symbols<<<1, 32>>>(out);
    std::vector<float> got(32);
    OK(cudaMemcpy(got.data(), out, 32 * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT(got[2] == 4 && got[15] == 225);
    EXPECT(got[3] == 100);
    EXPECT(got[16] == 9);
    EXPECT(got[17] == 3.5f);
    EXPECT(got[18] == 12);
    EXPECT(got[19] == 77);
    EXPECT(got[20] == 3);
    OK(cudaFree(out));
    OK(cudaFree(values));
}

TEST(copies_from_symbols) {
    const int seven = 7;
    OK(cudaMemcpyToSymbol(counter, &seven, sizeof seven));
    int got = 0;
    OK(cudaMemcpyFromSymbol(&got, counter, sizeof got));
    EXPECT(got == 7);
    OK(cudaMemcpyFromSymbolAsync(
        &got, counter, sizeof got, 0, cudaMemcpyDeviceToHost, 0));
    int* device = nullptr;
    OK(cudaMalloc(&device, sizeof(int)));
    OK(cudaMemcpyFromSymbol(device, counter, sizeof(int), 0, cudaMemcpyDeviceToDevice));
    got = 0;
    OK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == 7);
    OK(cudaFree(device));
}

TEST(sizes_and_addresses) {
    size_t bytes = 0;
    OK(cudaGetSymbolSize(&bytes, table));
    EXPECT(bytes == 64);
    OK(cudaGetSymbolSize(&bytes, matrix));
    EXPECT(bytes == 128);
    void* address = nullptr;
    OK(cudaGetSymbolAddress(&address, table));
    EXPECT(address != nullptr);
    const float value = 3.5f;
    OK(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice));
    float got = 0;
    OK(cudaMemcpyFromSymbol(&got, table, sizeof got));
    EXPECT(got == 3.5f);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, address));
    EXPECT(attributes.type == cudaMemoryTypeDevice);
    int* typed = nullptr;
    OK(cudaGetSymbolAddress(reinterpret_cast<void**>(&typed), counter));
    OK(cudaMemset(typed, 0, sizeof(int)));
    int zero = 1;
    OK(cudaMemcpyFromSymbol(&zero, counter, sizeof zero));
    EXPECT(zero == 0);
}

TEST(overruns_and_directions_are_refused) {
    float host[32] = {};
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, host, sizeof host));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, host, 4, 64));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyFromSymbol(host, counter, 8));
    EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpyToSymbol(table, host, 4, 0, cudaMemcpyDeviceToHost));
    EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpyFromSymbol(host, table, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbol(table, host, 0));
}
