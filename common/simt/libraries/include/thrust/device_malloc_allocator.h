/// thrust/device_malloc_allocator.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
