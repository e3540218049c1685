/// cub/block/block_store.cuh: see simt/cub/.
#pragma once
#include "simt/cub/block.h"
