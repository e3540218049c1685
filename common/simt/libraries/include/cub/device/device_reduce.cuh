/// cub/device/device_reduce.cuh: see simt/cub/.
#pragma once
#include "simt/cub/device.h"
