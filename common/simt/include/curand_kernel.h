/// curand_kernel.h: see simt/curand/.
#pragma once
#include "simt/curand/distributions.h"
