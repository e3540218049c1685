/// cub/device/device_run_length_encode.cuh: see simt/cub/.
#pragma once
#include "simt/cub/device.h"
