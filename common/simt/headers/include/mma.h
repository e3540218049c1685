/// mma.h: see simt/wmma.h.
#pragma once
#define __CUDA_MMA_H__  // other headers ask for it
#include "simt/wmma.h"
