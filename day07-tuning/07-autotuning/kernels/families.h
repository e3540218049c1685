/// families.h: two families of kernels, each a template with a table of the
/// configurations that were instantiated (transpose.cu, gemv.cu).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "autotuning.h"

/// One instantiation.
struct Configuration {
    std::string name;
    std::vector<int> parameters;
    Footprint (*footprint)(int64_t rows, int64_t cols);

    /// @param matrix  [rows, cols] row-major, device, aligned to 16 bytes, as all below
    /// @param x       [cols]; a transpose does not look at it
    /// @param out     the result
    ///
    /// Throws wb::InvalidArgument for arguments or a shape that it does not take, and
    /// wb::CudaError if the launch is refused
    void (*launch)(const float* matrix,
                   const float* x,
                   float* out,
                   int64_t rows,
                   int64_t cols,
                   cudaStream_t stream);
};

struct Family {
    std::string name;
    std::vector<std::string> parameter_names;
    std::vector<Configuration> table;
    /// How many floats the result has.
    int64_t (*results)(int64_t rows, int64_t cols);
};

/// out = the transposed matrix, [cols, rows] row-major.
const Family& transpose_family();

/// out = matrix x, [rows].
const Family& gemv_family();

/// N floats that are loaded and stored at once.
template <int N>
struct alignas(N * sizeof(float)) Vector {
    float value[N];
};

/// How many blocks of this kernel one multiprocessor has room for; 0 if a block is
/// larger than the GPU allows.
int blocks_per_sm(const void* kernel, int threads);
