/// curand_normal.h: part of curand_kernel.h.
#pragma once
#include "simt/curand/distributions.h"
