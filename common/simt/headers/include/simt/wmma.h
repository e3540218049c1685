/// simt/wmma.h: nvcuda::wmma, matrix products by a warp.
#pragma once
#include "simt/wmma/fragment.h"
#include "simt/wmma/memory.h"
#include "simt/wmma/mma.h"
