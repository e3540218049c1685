// The contract of an exercise whose learner cheats, cheats.cu: y = 2 x for n elements.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

void launch_twice(const float* x, float* y, int64_t n, cudaStream_t stream);
