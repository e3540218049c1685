/// cub/warp/warp_reduce.cuh: see simt/cub/.
#pragma once
#include "simt/cub/warp.h"
