/// thrust/iterator/reverse_iterator.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
