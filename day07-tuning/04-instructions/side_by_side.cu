// side_by_side.cu: pairs of kernels, to be read and not to be run. What does the
// compiler make of them?
//
//     nvcc -arch=native -cubin -o side_by_side.cubin side_by_side.cu
//     cuobjdump -sass -fun divide_by_variable side_by_side.cubin
//
// extern "C" keeps their names as they stand here. Each is for one block of n threads.
#include <cuda_runtime.h>

// #region branches
/// A short branch.
extern "C" __global__ void short_branch(const float* x, float* y) {
    const float value = x[threadIdx.x];
    if (value < 0.0f)
        y[threadIdx.x] = 0.1f * value;
    else
        y[threadIdx.x] = value;
}

/// A long one: nobody knows how often it goes round.
extern "C" __global__ void long_branch(const float* x, float* y, int steps) {
    float value = x[threadIdx.x];
    if (value < 0.0f) {
#pragma unroll 1
        for (int step = 0; step < steps; ++step)
            value = value * value - 0.5f;
    }
    y[threadIdx.x] = value;
}
// #endregion branches

// #region divisions
extern "C" __global__ void divide_by_variable(unsigned* x, unsigned divisor) {
    x[threadIdx.x] /= divisor;
}

extern "C" __global__ void divide_by_seven(unsigned* x) {
    x[threadIdx.x] /= 7;
}

extern "C" __global__ void divide_by_eight(unsigned* x) {
    x[threadIdx.x] /= 8;
}

extern "C" __global__ void divide_int_by_eight(int* x) {
    x[threadIdx.x] /= 8;
}

extern "C" __global__ void divide_by_magic(unsigned* x,
                                           unsigned magic,
                                           unsigned first_shift,
                                           unsigned second_shift) {
    const unsigned n = x[threadIdx.x];
    const unsigned t = __umulhi(magic, n);
    x[threadIdx.x] = (t + ((n - t) >> first_shift)) >> second_shift;
}
// #endregion divisions

// #region exponentials
extern "C" __global__ void exp_accurate(float* x) {
    x[threadIdx.x] = expf(x[threadIdx.x]);
}

extern "C" __global__ void exp_fast(float* x) {
    x[threadIdx.x] = __expf(x[threadIdx.x]);
}
// #endregion exponentials

// #region literals
/// 0.1 is a double: so is the product, and so are two conversions.
extern "C" __global__ void times_double(float* x) {
    x[threadIdx.x] = 0.1 * x[threadIdx.x];
}

extern "C" __global__ void times_float(float* x) {
    x[threadIdx.x] = 0.1f * x[threadIdx.x];
}
// #endregion literals

// #region copies
extern "C" __global__ void copy_float(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void copy_float4(const float4* in, float4* out) {
    out[threadIdx.x] = in[threadIdx.x];
}
// #endregion copies

// #region pointers
extern "C" __global__ void scale_plain(const float* x, const float* scale, float* y) {
    for (unsigned row = 0; row < 2; ++row)
        y[row * 32 + threadIdx.x] = *scale * x[row * 32 + threadIdx.x];
}

extern "C" __global__ void scale_restrict(const float* __restrict__ x,
                                          const float* __restrict__ scale,
                                          float* __restrict__ y) {
    for (unsigned row = 0; row < 2; ++row)
        y[row * 32 + threadIdx.x] = *scale * x[row * 32 + threadIdx.x];
}
// #endregion pointers
