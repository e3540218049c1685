// Kernels whose traces are known: see recorder_test.py. Its lines are found by the
// words in the comments behind them.
#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdio>

/// 64 threads: each warp writes a row, a barrier, reads a column of a 32 x 32 tile.
__global__ void conflict(const float* x, float* y) {
    __shared__ float tile[32][32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    for (int row = warp; row < 32; row += 2)
        tile[row][lane] = x[row * 32 + lane];  // fill
    __syncthreads();                           // barrier
    y[threadIdx.x] = tile[lane][warp];         // column
}

/// The tree of a sum without barriers: a race between the warps.
__global__ void race(float* y) {
    __shared__ float sums[64];
    sums[threadIdx.x] = 1.0f;
    __syncthreads();
    for (unsigned s = 32; s > 0; s /= 2)
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];  // race
    if (threadIdx.x == 0) atomicAdd(y, sums[0]);                          // atomic
}

/// A loop with barriers, 100 times; a part of the lanes works.
__global__ void tiles(float* y) {
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int i = 0; i < 100; ++i) {
        tile[threadIdx.x] = 1.0f;  // store
        __syncthreads();
        if (threadIdx.x % 4 == 0) sum += tile[63 - threadIdx.x];  // part
        __syncthreads();
    }
    y[threadIdx.x] = __shfl_xor_sync(~0u, sum, 1);  // shuffle
}

/// A copy that is waited for.
__global__ void copy(const float* x, float* y) {
    __shared__ float tile[64];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], sizeof(float));  // copy
    __pipeline_commit();
    __pipeline_wait_prior(0);  // landed
    __syncthreads();
    y[t] = tile[63 - t];
}

/// Each block reads what its neighbour in the cluster has written, and writes there.
__cluster_dims__(2, 1, 1) __global__ void neighbours(float* y) {
    __shared__ float own[64];
    const auto cluster = cooperative_groups::this_cluster();
    float* other = cluster.map_shared_rank(own, cluster.block_rank() ^ 1);
    own[threadIdx.x] = 1.0f;  // own
    cluster.sync();
    const float read = other[63 - threadIdx.x];  // read
    cluster.sync();
    other[threadIdx.x] = read;  // written
    cluster.sync();
    y[threadIdx.x] = own[threadIdx.x];
}

/// Waits for what never comes.
__global__ void endless(int* flag) {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        while (atomicAdd(flag, 0) == 0) {  // spin
        }
}

int main(int argc, char**) {
    float *x, *y;
    cudaMalloc(&x, 1024 * sizeof(float));
    cudaMalloc(&y, 1024 * sizeof(float));
    cudaMemset(x, 0, 1024 * sizeof(float));
    cudaMemset(y, 0, 1024 * sizeof(float));
    conflict<<<3, 64>>>(x, y);
    race<<<1, 64>>>(y);
    tiles<<<1, 64>>>(y);
    copy<<<1, 64>>>(x, y);
    neighbours<<<2, 64>>>(y);
    if (argc > 1) endless<<<1, 64>>>(reinterpret_cast<int*>(y) + 512);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
