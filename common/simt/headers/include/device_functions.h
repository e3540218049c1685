/// device_functions.h: the intrinsics, which cuda_runtime.h brings anyway.
#pragma once
#include "cuda_runtime.h"
