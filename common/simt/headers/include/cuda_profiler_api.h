#pragma once
// cudaProfilerStart and cudaProfilerStop, which do nothing here.
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__
#endif
#include "cuda_runtime_api.h"
