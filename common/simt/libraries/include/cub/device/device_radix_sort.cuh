/// cub/device/device_radix_sort.cuh: see simt/cub/.
#pragma once
#include "simt/cub/device.h"
