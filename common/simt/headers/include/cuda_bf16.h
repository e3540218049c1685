/// cuda_bf16.h: bfloat16 under the name of CUDA's header.
#pragma once
#define __CUDA_BF16_H__  // other headers ask for it
#define __CUDA_BF16_TYPES_EXIST__
#include "simt/bfloat16.h"
