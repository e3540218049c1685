/// thrust/transform_reduce.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
