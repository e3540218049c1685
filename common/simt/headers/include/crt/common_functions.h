/// crt/common_functions.h: an internal header of the toolkit that some programs include.
#pragma once
#include "cuda_runtime.h"
