/// curand_kernel.h: see simt/curand/.
#pragma once
#define CURAND_KERNEL_H_  // other headers ask for it
#include "simt/curand/distributions.h"
#include "simt/curand/sobol.h"
