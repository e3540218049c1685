#pragma once
// Stands in for CUDA's header of this name. Helper headers test the guard macro.
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__
#endif
#include "simt/api/device_types.h"
#include "simt/api/graph_types.h"
#include "simt/api/launch_types.h"
#include "simt/api/types.h"
#include "simt/error.h"
