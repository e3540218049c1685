/// curand_philox4x32_x.h: part of curand_kernel.h.
#pragma once
#include "simt/curand/distributions.h"
