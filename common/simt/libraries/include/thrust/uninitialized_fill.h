/// thrust/uninitialized_fill.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
