/// cooperative_groups/scan.h: see simt/coop/scan.h.
#pragma once
#include "cooperative_groups.h"
#include "simt/coop/scan.h"
