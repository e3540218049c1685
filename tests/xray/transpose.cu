// Two transposes, for the tests of the report: one that stores column by column, one
// that exchanges through a padded tile.
#include <cstdio>

constexpr int kTile = 32;
constexpr int kRows = 8;

/// The naive transpose: neighbouring threads store n elements apart.
__global__ void transpose_naive(const float* in, float* out, int n) {
    const int x = blockIdx.x * kTile + threadIdx.x;
    const int y = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        out[x * n + y + j] = in[(y + j) * n + x];
    }
}

/// The tiled transpose, with kPad words after each row of the tile.
template <int kPad>
__global__ void transpose_tiled(const float* in, float* out, int n) {
    __shared__ float s_tile[kTile][kTile + kPad];
    const int x = blockIdx.x * kTile + threadIdx.x;
    const int y = blockIdx.y * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        s_tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    }
    __syncthreads();
    const int tx = blockIdx.y * kTile + threadIdx.x;
    const int ty = blockIdx.x * kTile + threadIdx.y;
    for (int j = 0; j < kTile; j += kRows) {
        out[(ty + j) * n + tx] = s_tile[threadIdx.x][threadIdx.y + j];
    }
}

int main() {
    constexpr int kN = 256;
    float *in, *out;
    cudaMalloc(&in, sizeof(float) * kN * kN);
    cudaMalloc(&out, sizeof(float) * kN * kN);
    cudaMemset(in, 0, sizeof(float) * kN * kN);
    const dim3 grid(kN / kTile, kN / kTile), block(kTile, kRows);
    transpose_naive<<<grid, block>>>(in, out, kN);
    transpose_tiled<0><<<grid, block>>>(in, out, kN);
    transpose_tiled<1><<<grid, block>>>(in, out, kN);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(error));
    cudaFree(in);
    cudaFree(out);
    return error == cudaSuccess ? 0 : 1;
}
