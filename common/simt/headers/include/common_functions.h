/// common_functions.h: functions that cuda_runtime.h brings anyway.
#pragma once
#include "cuda_runtime.h"
