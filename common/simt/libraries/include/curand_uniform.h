/// curand_uniform.h: part of curand_kernel.h.
#pragma once
#include "simt/curand/distributions.h"
