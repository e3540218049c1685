#pragma once
// The driver API's header, for programs that include it without calling it: constants and
// handle types. Its functions (cuInit, cuLaunchKernel, …) are not part of the simulator.
#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = CUstream_st*;
