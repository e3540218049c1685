#pragma once
// threadIdx, blockIdx, blockDim, gridDim and warpSize.
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#endif
#include "simt/core.h"
