/// thrust/random/uniform_int_distribution.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
