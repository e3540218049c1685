/// thrust/device_vector.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
