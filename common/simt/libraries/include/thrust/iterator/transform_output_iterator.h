/// thrust/iterator/transform_output_iterator.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
