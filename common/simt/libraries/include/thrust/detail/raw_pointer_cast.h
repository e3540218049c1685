/// thrust/detail/raw_pointer_cast.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
