/// cuda_fp8.h: see simt/fp8.h.
#pragma once
#define __CUDA_FP8_H__  // other headers ask for it
#define __CUDA_FP8_TYPES_EXIST__
#include "simt/fp8.h"
