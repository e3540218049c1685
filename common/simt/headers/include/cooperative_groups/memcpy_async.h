/// cooperative_groups/memcpy_async.h: see simt/coop/memcpy_async.h.
#pragma once
#include "cooperative_groups.h"
#include "simt/coop/memcpy_async.h"
