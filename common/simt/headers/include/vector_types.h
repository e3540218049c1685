/// vector_types.h: the built-in vector types under the name of CUDA's header.
#pragma once
#define __VECTOR_TYPES_H__  // other headers ask for it
#include "simt/vector_types.h"
