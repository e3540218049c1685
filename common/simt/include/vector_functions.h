/// vector_functions.h: the make_* functions under the name of CUDA's header.
#pragma once
#include "simt/vector_functions.h"
