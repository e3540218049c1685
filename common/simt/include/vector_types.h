/// vector_types.h: the built-in vector types under the name of CUDA's header.
#pragma once
#include "simt/vector_types.h"
