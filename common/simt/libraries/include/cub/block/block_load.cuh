/// cub/block/block_load.cuh: see simt/cub/.
#pragma once
#include "simt/cub/block.h"
