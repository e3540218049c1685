/// device_atomic_functions.h: the atomics, which cuda_runtime.h brings anyway.
#pragma once
#include "cuda_runtime.h"
