/// sm_30_intrinsics.h: intrinsics that cuda_runtime.h brings anyway.
#pragma once
#include "cuda_runtime.h"
