/// cooperative_groups.h: groups of threads; see simt/coop/.
#pragma once
#define _COOPERATIVE_GROUPS_H_  // other headers ask for it
#include "simt/coop/block_tiles.h"
#include "simt/coop/groups.h"
#include "simt/coop/tiles.h"
