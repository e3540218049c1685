/// cuda_fp16.h: half precision under the name of CUDA's header.
#pragma once
#define __CUDA_FP16_H__  // other headers ask for it
#define __CUDA_FP16_TYPES_EXIST__
#include "simt/half.h"
