/// cub/device/device_scan.cuh: see simt/cub/.
#pragma once
#include "simt/cub/device.h"
