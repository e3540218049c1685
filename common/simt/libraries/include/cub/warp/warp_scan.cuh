/// cub/warp/warp_scan.cuh: see simt/cub/.
#pragma once
#include "simt/cub/warp.h"
