/// curand.h: see simt/curand/host.h.
#pragma once
#define CURAND_H_  // other headers ask for it
#include "cuda_runtime.h"
#include "simt/curand/host.h"
