/// cuda_fp8.h: see simt/fp8.h.
#pragma once
#include "simt/fp8.h"
