/// cuda_bf16.h: bfloat16 under the name of CUDA's header.
#pragma once
#include "simt/bfloat16.h"
