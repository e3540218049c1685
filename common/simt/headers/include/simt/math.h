/// simt/math.h: the CUDA math API and the intrinsics that need no half or bfloat16
/// types.
#pragma once
#include "simt/cache_hints.h"
#include "simt/math/convert.h"
#include "simt/math/dpx.h"
#include "simt/math/elementary.h"
#include "simt/math/fast.h"
#include "simt/math/integer.h"
#include "simt/math/libm.h"
#include "simt/math/minmax.h"
#include "simt/math/packed.h"
#include "simt/math/rounding.h"
#include "simt/math/special.h"
