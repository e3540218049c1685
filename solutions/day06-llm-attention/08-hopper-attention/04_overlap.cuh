// 04_overlap.cuh: v4, as the other versions use it: it is the second stage's.
#pragma once

#define WB_VERSION_ONLY
#include "hopper_attention_fast.cu"
#undef WB_VERSION_ONLY
