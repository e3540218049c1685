/// host_defines.h: the keywords of CUDA.
#pragma once
#include "simt/core.h"
