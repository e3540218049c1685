/// thrust/for_each.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
