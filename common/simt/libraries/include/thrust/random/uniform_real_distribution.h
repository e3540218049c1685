/// thrust/random/uniform_real_distribution.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
