/// cub/cub.cuh: see simt/cub/.
#pragma once
#include "simt/cub/block.h"
#include "simt/cub/device.h"
#include "simt/cub/warp.h"
