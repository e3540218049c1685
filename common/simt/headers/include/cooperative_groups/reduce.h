/// cooperative_groups/reduce.h: see simt/coop/reduce.h.
#pragma once
#include "cooperative_groups.h"
#include "simt/coop/reduce.h"
