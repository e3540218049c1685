/// curand.h: see simt/curand/host.h.
#pragma once
#include "simt/curand/host.h"
