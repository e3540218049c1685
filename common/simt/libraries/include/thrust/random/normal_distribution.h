/// thrust/random/normal_distribution.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
