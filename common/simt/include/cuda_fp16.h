/// cuda_fp16.h: half precision under the name of CUDA's header.
#pragma once
#include "simt/half.h"
