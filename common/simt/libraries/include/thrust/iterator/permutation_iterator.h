/// thrust/iterator/permutation_iterator.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
