/// vector_functions.h: the make_* functions under the name of CUDA's header.
#pragma once
#define __VECTOR_FUNCTIONS_H__  // other headers ask for it
#include "simt/vector_functions.h"
