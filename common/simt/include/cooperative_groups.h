/// cooperative_groups.h: groups of threads; see simt/coop/.
#pragma once
#include "simt/coop/groups.h"
#include "simt/coop/tiles.h"
