/// cub/block/block_radix_sort.cuh: see simt/cub/.
#pragma once
#include "simt/cub/block.h"
