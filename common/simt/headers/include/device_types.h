/// device_types.h: types that cuda_runtime.h brings anyway.
#pragma once
#include "cuda_runtime.h"
