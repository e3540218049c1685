#pragma once
// What nvcc includes implicitly: the execution model, the device library and the
// runtime API. The C headers are here because nvcc's own header brings them too, and
// many programs call printf, exit or sqrt without including anything.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#endif

#include "simt/math/libm.h"  // <math.h>, before any other: see there

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cassert>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>  // std::min, fill, copy: nvcc's <cmath> brings them
#else
#include <algorithm>
#endif

#include "cuda_runtime_api.h"
#include "simt/atomics.h"
#include "simt/cluster_intrinsics.h"
#include "simt/core.h"
#include "simt/intrinsics.h"
#include "simt/math.h"
#include "simt/shared.h"
#include "simt/sync.h"
#include "simt/texture.h"
#include "simt/vector_functions.h"
#include "simt/vector_types.h"
#include "simt/warp.h"
#include "simt/warp_legacy.h"

#ifdef SIMT_CHECK_COUNT
#include "simt/counters.h"  // begins to count
#endif
