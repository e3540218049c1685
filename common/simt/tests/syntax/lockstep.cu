// Code from before Volta that relies on lanes running in lockstep gives what it gave.
#include "check.h"

// Reads the elements of later lanes.
__device__ void reduce_warp(volatile int* s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

__global__ void reduce(const int* in, int* out) {
    __shared__ int s[64];
    const int t = static_cast<int>(threadIdx.x);
    s[t] = in[t];
    __syncthreads();
    if (t < 32) reduce_warp(s, t);
    if (t == 0) *out = s[0];
}

__global__ void reduce_in_loop(const int* in, int* out) {
    volatile __shared__ int s[64];
    const unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
        if (stride > 32) __syncthreads();
    }
    if (t == 0) *out = s[0];
}

// Reads the elements of earlier lanes, which must not have been overwritten.
__global__ void scan(const int* in, int* out) {
    volatile __shared__ int s[64];
    const int t = static_cast<int>(threadIdx.x), i = t + 32;
    s[t] = 0;
    int sum = s[i] = in[t];
    s[i] = sum = sum + s[i - 1];
    s[i] = sum = sum + s[i - 2];
    s[i] = sum = sum + s[i - 4];
    s[i] = sum = sum + s[i - 8];
    s[i] = sum = sum + s[i - 16];
    out[t] = s[i];
}

__global__ void scan_with_branches(const int* in, int* out) {
    __shared__ int memory[32];
    volatile int* s = memory;
    const int t = static_cast<int>(threadIdx.x);
    s[t] = in[t];
    if (t >= 1) s[t] = s[t - 1] + s[t];
    if (t >= 2) s[t] = s[t - 2] + s[t];
    if (t >= 4) s[t] = s[t - 4] + s[t];
    if (t >= 8) s[t] = s[t - 8] + s[t];
    if (t >= 16) s[t] = s[t - 16] + s[t];
    out[t] = s[t];
}

int main() {
    DeviceArray<int> in(64), out(64);
    std::vector<int> values(64);
    int sum = 0, sum_of_half = 0;
    for (int i = 0; i < 64; ++i) {
        values[i] = i * i % 23 + 1;
        sum += values[i];
        if (i < 32) sum_of_half += values[i];
    }
    cudaMemcpy(in, values.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
    reduce<<<1, 64>>>(in, out);
    EXPECT(out.at(0), sum);
    reduce_in_loop<<<1, 64>>>(in, out);
    EXPECT(out.at(0), sum);
    scan<<<1, 32>>>(in, out);
    EXPECT(out.at(31), sum_of_half);
    EXPECT(out.at(0), values[0]);
    EXPECT(out.at(1), values[0] + values[1]);
    scan_with_branches<<<1, 32>>>(in, out);
    EXPECT(out.at(31), sum_of_half);
    EXPECT(out.at(1), values[0] + values[1]);
    return failures != 0;
}
