/// cub/block/block_scan.cuh: see simt/cub/.
#pragma once
#include "simt/cub/block.h"
