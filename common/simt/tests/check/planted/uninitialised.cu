// Reads of memory that nobody has written.
#include "planted.h"

using planted::numbered;
using planted::unset;
using planted::zeros;

__global__ void accumulate(const float* x, float* out) {
    out[threadIdx.x] += x[threadIdx.x];  // output_read_before_written
}
PLANTED(uninitialised, output_read_before_written) {
    accumulate<<<1, 32>>>(numbered<float>(32), unset<float>(32));
}

__global__ void count(const int* keys, int* bins) {
    atomicAdd(&bins[keys[threadIdx.x]], 1);  // counters_without_memset
}
PLANTED(uninitialised, counters_without_memset) {
    count<<<1, 32>>>(numbered<int>(32), unset<int>(8));
}

// What the host may write, too, is not cleared either.
__global__ void count_in_managed(const int* keys, int* bins) {
    atomicAdd(&bins[keys[threadIdx.x]], 1);  // managed_counters_without_memset
}
PLANTED(uninitialised, managed_counters_without_memset) {
    int* bins = nullptr;
    cudaMallocManaged(&bins, 8 * sizeof(int));
    count_in_managed<<<1, 32>>>(numbered<int>(32), bins);
}

// The tile's halo is never filled.
__global__ void stencil(const float* x, float* out) {
    __shared__ float tile[34];
    const int t = threadIdx.x;
    tile[t + 1] = x[t];
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2];  // shared_halo_not_filled
}
PLANTED(uninitialised, shared_halo_not_filled) {
    stencil<<<1, 32>>>(numbered<float>(32), zeros<float>(32));
}

__global__ void shared_sum(const float* x, float* out) {
    __shared__ float total;
    atomicAdd(&total, x[threadIdx.x]);  // shared_total_not_cleared
    __syncthreads();
    if (threadIdx.x == 0) out[0] = total;
}
PLANTED(uninitialised, shared_total_not_cleared) {
    shared_sum<<<1, 32>>>(numbered<float>(32), zeros<float>(1));
}

__global__ void use(const float* x, float* out) {
    out[threadIdx.x] = x[threadIdx.x];  // copy_of_unset_memory, copied_too_little
}
PLANTED(uninitialised, copy_of_unset_memory) {
    float* copy = zeros<float>(32);
    cudaMemcpy(copy, unset<float>(32), 32 * sizeof(float), cudaMemcpyDeviceToDevice);
    use<<<1, 32>>>(copy, zeros<float>(32));
}

// The array's last quarter was forgotten in the copy to the device.
PLANTED(uninitialised, copied_too_little) {
    const std::vector<float> host(32, 1.0f);
    float* x = unset<float>(32);
    cudaMemcpy(x, host.data(), 24 * sizeof(float), cudaMemcpyHostToDevice);
    use<<<1, 32>>>(x, zeros<float>(32));
}

__global__ void use_pinned(const float* x, float* out) {
    out[threadIdx.x] = x[threadIdx.x];  // copy_by_way_of_pinned_memory
}
PLANTED(uninitialised, copy_by_way_of_pinned_memory) {
    float *pinned = nullptr, *x = unset<float>(32);
    cudaMallocHost(&pinned, 32 * sizeof(float));
    cudaMemcpy(pinned, unset<float>(32), 32 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(x, pinned, 32 * sizeof(float), cudaMemcpyHostToDevice);
    use_pinned<<<1, 32>>>(x, zeros<float>(32));
}

class Shape {
 public:
    __device__ virtual ~Shape() {}
    __device__ virtual int sides() const = 0;
};
class Square : public Shape {
 public:
    __device__ int sides() const override { return 4; }
};
__global__ void object_in_shared(int* out) {
    __shared__ alignas(8) unsigned char s_bytes[sizeof(Square)];
    __shared__ Shape* s_shape;
    if (threadIdx.x == 0) s_shape = new (s_bytes) Square;
    __syncthreads();
    out[threadIdx.x] = s_shape->sides();
}
PLANTED(none, object_in_shared_memory) {
    object_in_shared<<<1, 64>>>(zeros<int>(64));
}
