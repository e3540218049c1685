/// mma.h: see simt/wmma.h.
#pragma once
#include "simt/wmma.h"
