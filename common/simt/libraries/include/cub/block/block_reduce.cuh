/// cub/block/block_reduce.cuh: see simt/cub/.
#pragma once
#include "simt/cub/block.h"
