/// cub/device/device_select.cuh: see simt/cub/.
#pragma once
#include "simt/cub/device.h"
