/// thrust/iterator/zip_iterator.h: see simt/thrust/thrust.h.
#pragma once
#include "simt/thrust/thrust.h"
