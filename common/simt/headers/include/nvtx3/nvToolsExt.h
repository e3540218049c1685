#pragma once
// The name under which NVTX 3 is included.
#include <nvToolsExt.h>
