/// thrust/iterator/iterator_traits.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
