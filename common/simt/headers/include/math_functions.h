/// math_functions.h: the math API, which cuda_runtime.h brings anyway.
#pragma once
#include "simt/math.h"
