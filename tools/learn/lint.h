// lint.h: what clang's CUDA front end reads before a learner's file (see lint.sh).
//
// The simulator's headers give CUDA's words no meaning, because there every function
// runs on the CPU. After them the words get back the meaning that clang knows.
#pragma once

#include <cuda_runtime.h>

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __managed__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
