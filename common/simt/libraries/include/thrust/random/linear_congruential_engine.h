/// thrust/random/linear_congruential_engine.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
