/// device_double_functions.h: intrinsics that cuda_runtime.h brings anyway.
#pragma once
#include "cuda_runtime.h"
